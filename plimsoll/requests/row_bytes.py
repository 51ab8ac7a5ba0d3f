"""The size of rows in bytes, before a server stores them. Pure."""

from collections.abc import Iterable

from plimsoll.model.engine.values import FormatValue, LiteralValue, PatternValue, TextValue, Value
from plimsoll.workload.compiled import Table

_NUMBER_BYTES = 20


def estimate_rows_bytes(tables: Iterable[Table]) -> int:
    """Return an upper limit of the bytes of the rows with which tables are prepared."""
    return sum(table.rows * sum(map(_estimate_width, table.row)) for table in tables)


def _estimate_width(value: Value) -> int:
    """Return the most bytes that a value takes."""
    match value:
        case TextValue():
            return value.length
        case PatternValue():
            return len(value.pattern)
        case FormatValue():
            return len(value.template) + sum(map(_estimate_width, value.of))
        case LiteralValue():
            return max(_NUMBER_BYTES, len(str(value.value)))
    return _NUMBER_BYTES
