"""Changes of a request as an experiment writes them: fields laid over fields. Pure."""

from collections.abc import Mapping
from typing import Any

Patch = dict[str, Any]


def laid(base: Any, patch: Any) -> Any:
    """Lay a patch over a value: mappings field by field, anything else whole."""
    if not (isinstance(base, Mapping) and isinstance(patch, Mapping)):
        return patch
    return {**base, **{key: laid(base.get(key), value) for key, value in patch.items()}}


def leaves(patch: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Name the fields that a patch sets."""
    if not isinstance(patch, Mapping) or not patch:
        return [path] if path else []
    return [leaf for key, value in patch.items() for leaf in leaves(value, (*path, str(key)))]
