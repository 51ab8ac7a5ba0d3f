"""Plimsoll finds a database's load line."""

__version__ = "0.1.0"
