"""The `plimsoll` command: one module a verb, loaded when called."""
