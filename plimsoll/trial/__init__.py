"""A canary: a whole deployment tried by its smallest run, asserted, destroyed and compared."""
