"""A run: its record, its files, and what each state of the workflow does."""
