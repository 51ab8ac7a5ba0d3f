"""The `plimsoll` command: one module for each verb, imported when the verb is called."""
