"""The Python API (`import plimsoll`): a thin layer over what the command line calls."""
