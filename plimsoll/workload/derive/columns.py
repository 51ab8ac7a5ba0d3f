"""Tables as a workload writes them: types, and values that stand for those that nobody reads.

No value of a row is taken over. Known are types, how many rows and different values there are, how
long texts are in a sample, and of numbers with an index the lowest and the highest.
"""

import re
from dataclasses import dataclass
from typing import Any

from plimsoll.model.run.statements_seen import TOP_VALUES, ColumnSeen, TableSeen

DRAWN = "$distribution"  # the parameter for what digests do not tell: which rows are asked for
HASH_DIGITS = 20  # of YCSB's hash of a number
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
# how a server writes it, the type that a workload has for it, and whether both hold the same values
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
    """A column, and what stands for its values.

    Attributes:
        type: As a workload declares it.
        same_type: Whether that is the server's own.
        value: What stands for any value of it; None: its row's number tells it.
        template: Of a key, text around the number; empty: the number itself.
        hashed: Whether that number is hashed.
        number: Whether it holds whole numbers, of which ranges can be made.
        rows_each: How many rows there are for each of its values.
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
        """Whether its row's number tells it."""
        return self.value is None

    def of(self, number: Any) -> Any:
        """Give its value in the row of a number."""
        if self.value is not None:
            return self.value
        if not self.template:
            return number
        return {"format": self.template, "of": [{"fnv_hash": number} if self.hashed else number]}

    @property
    def takes_new_rows(self) -> bool:
        """Whether numbers of new rows, which lie far apart, fit it."""
        return bool(self.template) or self.value is not None or self.type.startswith("bigint")


def declared_type(seen: str) -> tuple[str, bool]:
    """Write a server's type as a workload has it; says also whether it is the same one."""
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


def numbering(table: TableSeen) -> tuple[int, int]:
    """Give the number of the first row, and how many rows there are.

    A server's estimate of its rows may be far off. Where the key is a number without large gaps,
    its lowest and highest value tell it.
    """
    column = key_of(table)
    if column is None or column.lowest is None or column.highest is None or column.lowest < 0:
        return 0, max(table.rows, 1)
    span = column.highest - column.lowest + 1
    rows = span if span <= 2 * table.rows else max(table.rows, 1)
    return column.lowest, rows


def filled(table: TableSeen, *, prefixes: bool) -> dict[str, Filled]:
    """Say what stands for each column's values.

    Args:
        table: The table.
        prefixes: Whether statements compare with a part of a key of several columns: then a row's
            number tells its last column alone.
    """
    by_row = set(table.primary_key[-1:] if prefixes else table.primary_key)
    indexed = {name for names in (table.primary_key, *table.indexes.values()) for name in names}
    return {
        column.name: _of_row(column)
        if column.name in by_row
        else _of_others(column, table.rows, compared=column.name in indexed)
        for column in table.columns
    }


def key_of(table: TableSeen) -> ColumnSeen | None:
    """Give the only column of its key; None: it has none, or several."""
    if len(table.primary_key) != 1:
        return None
    return next((c for c in table.columns if c.name == table.primary_key[0]), None)


def _of_row(column: ColumnSeen) -> Filled:
    declared, same = declared_type(column.type)
    if _INTEGER.fullmatch(declared):
        return Filled(declared, same, number=True)
    if not _is_text(declared):
        return _of_others(column, 1, compared=True)
    template, hashed = _key_template(column, declared)
    return Filled(declared, same, template=template, hashed=hashed)


def _of_others(column: ColumnSeen, rows: int, *, compared: bool) -> Filled:
    declared, same = declared_type(column.type)
    rows = max(rows, 1)
    distinct = max(1, min(column.distinct or rows, rows))
    integer = _INTEGER.fullmatch(declared)
    value = (
        _numbers(column, integer, distinct)
        if integer
        else _other(column, declared, distinct, compared=compared)
    )
    return Filled(
        declared, same, value=value, number=integer is not None, rows_each=rows / distinct
    )


def _is_text(declared: str) -> bool:
    return bool(_SIZED.fullmatch(declared)) or declared.endswith(("text", "blob"))


def _key_template(column: ColumnSeen, declared: str) -> tuple[str, bool]:
    """Give the text of keys, as long as they are, and whether numbers in it are hashed."""
    room = int(found[2]) if (found := _SIZED.fullmatch(declared)) else 255
    if room < HASH_DIGITS:
        return "{}", False
    wanted = min(round(column.mean_length or 0), room) - HASH_DIGITS + 1
    prefix = ("key" * (1 + wanted // 3))[: max(0, min(wanted, room - HASH_DIGITS))]
    return prefix + "{}", True


def _numbers(column: ColumnSeen, integer: re.Match[str], distinct: int) -> dict[str, Any]:
    bits = _BITS[integer[1]] - (0 if integer[2] else 1)
    most = min(2**bits - 1, _BIGINT_MAX)
    lowest = 1 if column.lowest is None else column.lowest
    lowest = min(lowest, most)
    highest = min(lowest + distinct - 1, most)
    if column.highest is not None:
        highest = min(highest, max(column.highest, lowest))
    return {"integer": [lowest, highest], **_skew(column)}


def _skew(column: ColumnSeen) -> dict[str, str]:
    """Say how unevenly values occur, as a sample of rows has them; nothing where they are even."""
    share = column.top_share
    if share is None or share < 2 * TOP_VALUES:
        return {}
    return {"distribution": f"hotspot(hot_set={TOP_VALUES}, hot_operations={share:.2f})"}


def _other(column: ColumnSeen, declared: str, distinct: int, *, compared: bool) -> Any:
    """Give what stands for the values of a column that is no whole number."""
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
        return {"format": prefix + "{}", "of": [{"integer": [1, distinct], **_skew(column)}]}
    return {"text": length, "alphabet": "alphanumeric"}
