"""Steps and capacity as data."""
