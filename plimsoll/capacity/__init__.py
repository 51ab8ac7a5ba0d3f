"""Capacity: what steps pass, which step comes next, and the verdict. Pure functions, no I/O."""

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import plan_next_step

__all__ = ["judge", "plan_next_step"]
