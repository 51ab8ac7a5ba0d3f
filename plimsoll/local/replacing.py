"""Replaces members of moto by ones that behave like AWS."""

from typing import Any


def replace_members(owner: Any, **members: Any) -> None:
    """Replace members of one of moto's classes or modules.

    Raises:
        AttributeError: It has no such member: moto has changed, and the correction with it.
    """
    for name, member in members.items():
        getattr(owner, name)
        setattr(owner, name, member)
