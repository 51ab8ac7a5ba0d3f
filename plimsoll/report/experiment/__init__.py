"""Experiments: what to buy, what each axis gains, and the page."""
