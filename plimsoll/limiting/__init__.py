"""Finds the limiting resource of a run: one module for each kind of limit. No I/O."""

from plimsoll.limiting.naming import find_limiting_resource

__all__ = ["find_limiting_resource"]
