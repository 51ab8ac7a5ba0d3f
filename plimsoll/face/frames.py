"""Data frames of whichever library is there."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from plimsoll.errors import MissingToolError
from plimsoll.face.checks import known

Frames = Literal["pandas", "polars"]
LIBRARIES: tuple[Frames, ...] = ("pandas", "polars")


def frame_of(table: Sequence[Mapping[str, Any]], library: Frames | None) -> Any:
    """Make a data frame of rows that have the same columns.

    Args:
        table: The rows.
        library: None: pandas if it is installed, else polars.

    Raises:
        MissingToolError: It is not installed.
    """
    wanted = LIBRARIES if library is None else (known(library, LIBRARIES, "library"),)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        either = " or ".join(wanted)
        raise MissingToolError(f"a data frame needs {either}: pip install {wanted[0]}")
    make = import_module(found).DataFrame
    return make(table, infer_schema_length=None) if found == "polars" else make(table)
