"""What programs call: the names of `import plimsoll`, thin over what the command line calls."""
