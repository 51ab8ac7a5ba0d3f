"""A step: its load, its figures, and the audits that may dispute it."""
