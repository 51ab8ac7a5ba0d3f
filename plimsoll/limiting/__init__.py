"""Finds the limiting resource of a run: one module for each kind of limit. No I/O."""

from plimsoll.limiting.naming import limiting_resource

__all__ = ["limiting_resource"]
