"""What set the limit of a run: one small module for each place in which a limit can lie. Pure."""

from plimsoll.limiting.naming import limiting_resource

__all__ = ["limiting_resource"]
