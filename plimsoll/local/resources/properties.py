"""Properties that one machine carries out, or that change nothing there; no others."""

from collections.abc import Iterable, Set

from plimsoll.errors import UsageError


def check_properties(given: Iterable[str], known: Set[str], kind: str) -> None:
    """Refuse a property that would be passed over.

    Raises:
        UsageError: Names the first one.
    """
    if unknown := sorted(set(given) - known):
        raise UsageError(f"Encountered unsupported property {unknown[0]} ({kind}, on one machine)")
