"""Capacity: what steps pass, which step comes next, and the verdict. Pure functions, no I/O."""
