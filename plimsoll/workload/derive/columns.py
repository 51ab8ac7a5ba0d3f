"""Table columns of a derived workload: types, and values that stand in for the real ones.

No value of a row is copied. Known are the types, the numbers of rows and distinct values, the text
lengths in a sample, and the lowest and highest number in indexed columns.
"""

import re
from dataclasses import dataclass
from typing import Any

from plimsoll.model.run.statements_seen import TOP_VALUES, ColumnSeen, TableSeen
from plimsoll.workload.tables import parse_indexed

DRAWN = "$distribution"  # parameter for what digests do not tell: which rows are accessed
HASH_DIGITS = 20  # digits of YCSB's hash of a number
_BIGINT_MAX = 2**63 - 1
_BITS = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "integer": 32, "bigint": 64}
_INTEGER = re.compile(
    r"(tinyint|smallint|mediumint|int|integer|bigint)(?:\(\d+\))?(?: (unsigned))?.*"
)
_SIZED = re.compile(r"(char|varchar|binary|varbinary)\((\d{1,5})\)")
_KEPT = re.compile(
    r"(?:tiny|medium|long)?(?:text|blob)|float|double|date|(?:datetime|timestamp)(?:\([0-6]\))?|json"
)
_DECIMAL = re.compile(r"(?:decimal|numeric)\((\d{1,2}),(\d{1,2})\)")
# the server's type, the workload's type, and whether both hold the same values
_OTHERS = (
    (r"character varying\((\d{1,5})\)", r"varchar(\1)", True),
    (r"character\((\d{1,5})\)", r"char(\1)", True),
    (r"double.*", "double", True),
    (r"real|float.*", "float", True),
    (r"timestamp(?:\(\d\))? with(?:out)? time zone", "timestamp", True),
    (r"jsonb", "json", True),
    (r"bytea", "blob", True),
    (r"uuid", "char(36)", False),
    (r"bool|boolean|year.*", "smallint", False),
    (r"bit.*", "bigint", False),
    (r"numeric.*|decimal.*", "decimal(20, 4)", False),
    (r"character varying|citext|(?:enum|set|inet|time).*|interval", "varchar(255)", False),
)
_DAY = {"format": "2026-01-{}", "of": [{"integer": [1, 28]}]}
_FIXED: dict[str, dict[str, Any]] = {
    "date": _DAY,
    "json": {"literal": "{}"},
    "float": {"integer": [0, 1_000_000]},
    "double": {"integer": [0, 1_000_000]},
}
_MOMENT = {
    "format": "2026-01-{} {}:{}:{}",
    "of": [{"integer": [1, 28]}, *[{"integer": [0, most]} for most in (23, 59, 59)]],
}


@dataclass(frozen=True)
class Filled:
    """A column and the values that stand in for its own.

    Attributes:
        type: The type in the workload.
        same_type: Whether the server's type is the same.
        value: The stand-in value; None if it follows from the row's number.
        template: The text around the number in a key; empty for the number alone.
        hashed: Whether that number is hashed.
        number: Whether it holds integers, which can form ranges.
        rows_each: The number of rows per distinct value.
    """

    type: str
    same_type: bool
    value: Any = None
    template: str = ""
    hashed: bool = False
    number: bool = False
    rows_each: float = 1.0

    @property
    def by_row(self) -> bool:
        """Whether its value follows from the row's number."""
        return self.value is None

    def of(self, number: Any) -> Any:
        """Return its value in the row with a number."""
        if self.value is not None:
            return self.value
        if not self.template:
            return number
        return {"format": self.template, "of": [{"fnv_hash": number} if self.hashed else number]}

    @property
    def takes_new_rows(self) -> bool:
        """Whether it can hold the numbers of new rows, which lie far apart."""
        return bool(self.template) or self.value is not None or self.type.startswith("bigint")


def map_type(seen: str) -> tuple[str, bool]:
    """Return the workload's type for a server's type, and whether they are the same."""
    written = " ".join(seen.lower().split())
    if found := _INTEGER.fullmatch(written):
        return " ".join(filter(None, found.groups())), True
    if _SIZED.fullmatch(written) or _KEPT.fullmatch(written):
        return written, True
    if found := _DECIMAL.fullmatch(written.replace(" ", "")):
        return f"decimal({found[1]}, {found[2]})", True
    for pattern, ours, same in _OTHERS:
        if found := re.fullmatch(pattern, written):
            return found.expand(ours), same
    return "text", False


def find_row_numbers(table: TableSeen) -> tuple[int, int]:
    """Return the number of the first row, and the number of rows.

    A server's row estimate may be far off. If the key is a number without large gaps, its lowest
    and highest value give the count.
    """
    column = single_key_column(table)
    # A 0 that is inserted into an AUTO_INCREMENT column becomes another number.
    least = 1 if column is not None and column.auto_increment else 0
    if column is None or column.lowest is None or column.highest is None or column.lowest < 0:
        return least, max(table.rows, 1)
    span = column.highest - column.lowest + 1
    rows = span if span <= 2 * table.rows else max(table.rows, 1)
    return max(column.lowest, least), rows


def fill_columns(table: TableSeen, *, prefixes: bool) -> dict[str, Filled]:
    """Return the stand-in values of each column.

    Args:
        table: The table.
        prefixes: Whether statements compare only a part of a key of several columns. Then only its
            last column follows from the row's number.
    """
    by_row = set(table.primary_key[-1:] if prefixes else table.primary_key)
    by_row |= {find_differing(table, name) for name in list_unique(table)}
    indexed = {
        parse_indexed(name).column
        for names in (table.primary_key, *table.indexes.values())
        for name in names
    }
    return {
        column.name: _fill_by_row(column)
        if column.name in by_row
        else _fill_by_value(column, table.rows, compared=column.name in indexed)
        for column in table.columns
    }


def list_unique(table: TableSeen) -> list[str]:
    """List the unique indexes whose rows can be told apart by stand-in values."""
    return [name for name in table.unique if find_differing(table, name)]


def find_differing(table: TableSeen, index: str) -> str:
    """Return the column of a unique index that has another value in each row; empty if none can.

    It is the last one that holds whole numbers or long texts, or one of the key.
    """
    for text in reversed(table.indexes[index]):
        indexed = parse_indexed(text)
        column = next((c for c in table.columns if c.name == indexed.column), None)
        if column is None or indexed.length is not None:
            continue
        declared, _ = map_type(column.type)
        sized = _SIZED.fullmatch(declared)
        long = int(sized[2]) >= HASH_DIGITS if sized else _is_text(declared)
        if long or _INTEGER.fullmatch(declared):
            return column.name
    return ""


def single_key_column(table: TableSeen) -> ColumnSeen | None:
    """Return the single column of a table's key; None if the key has none or several."""
    if len(table.primary_key) != 1:
        return None
    return next((c for c in table.columns if c.name == table.primary_key[0]), None)


def _fill_by_row(column: ColumnSeen) -> Filled:
    declared, same = map_type(column.type)
    if _INTEGER.fullmatch(declared):
        return Filled(declared, same, number=True)
    if not _is_text(declared):
        return _fill_by_value(column, 1, compared=True)
    template, hashed = _key_template(column, declared)
    return Filled(declared, same, template=template, hashed=hashed)


def _fill_by_value(column: ColumnSeen, rows: int, *, compared: bool) -> Filled:
    declared, same = map_type(column.type)
    rows = max(rows, 1)
    distinct = max(1, min(column.distinct or rows, rows))
    integer = _INTEGER.fullmatch(declared)
    value = (
        _draw_integers(column, integer, distinct)
        if integer
        else _draw_other_values(column, declared, distinct, compared=compared)
    )
    return Filled(
        declared, same, value=value, number=integer is not None, rows_each=rows / distinct
    )


def _is_text(declared: str) -> bool:
    return bool(_SIZED.fullmatch(declared)) or declared.endswith(("text", "blob"))


def _key_template(column: ColumnSeen, declared: str) -> tuple[str, bool]:
    """Return a template as long as the keys, and whether the number in it is hashed."""
    room = int(found[2]) if (found := _SIZED.fullmatch(declared)) else 255
    if room < HASH_DIGITS:
        return "{}", False
    wanted = min(round(column.mean_length or 0), room) - HASH_DIGITS + 1
    prefix = ("key" * (1 + wanted // 3))[: max(0, min(wanted, room - HASH_DIGITS))]
    return prefix + "{}", True


def _draw_integers(column: ColumnSeen, integer: re.Match[str], distinct: int) -> dict[str, Any]:
    bits = _BITS[integer[1]] - (0 if integer[2] else 1)
    most = min(2**bits - 1, _BIGINT_MAX)
    lowest = 1 if column.lowest is None else column.lowest
    lowest = min(lowest, most)
    highest = min(lowest + distinct - 1, most)
    if column.highest is not None:
        highest = min(highest, max(column.highest, lowest))
    return {"integer": [lowest, highest], **_find_skew(column)}


def _find_skew(column: ColumnSeen) -> dict[str, str]:
    """Return a distribution for uneven values, from a sample of rows; empty if they are even."""
    share = column.top_share
    if share is None or share < 2 * TOP_VALUES:
        return {}
    return {"distribution": f"hotspot(hot_set={TOP_VALUES}, hot_operations={share:.2f})"}


def _draw_other_values(column: ColumnSeen, declared: str, distinct: int, *, compared: bool) -> Any:
    """Return the stand-in values of a column that holds no integers."""
    if declared in _FIXED:
        return _FIXED[declared]
    if declared.startswith(("datetime", "timestamp")):
        return _MOMENT
    if found := _DECIMAL.fullmatch(declared.replace(" ", "")):
        return {"integer": [0, 10 ** max(0, min(int(found[1]) - int(found[2]), 12)) - 1]}
    room = int(found[2]) if (found := _SIZED.fullmatch(declared)) else 65_535
    length = min(room, round(column.mean_length or 0))
    digits = len(str(distinct))
    if compared and room >= digits:
        prefix = "v" * max(0, length - digits)
        return {"format": prefix + "{}", "of": [{"integer": [1, distinct], **_find_skew(column)}]}
    return {"text": length, "alphabet": "alphanumeric"}
