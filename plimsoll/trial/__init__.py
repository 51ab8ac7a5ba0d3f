"""The canary: deploy Plimsoll, make its smallest run, check it, destroy, compare."""
