"""Table columns of a derived workload: types, and values that stand in for the real ones.

No value of a row is copied. Known are the types, the numbers of rows and distinct values, the text
lengths in a sample, and the lowest and highest number in indexed columns.

A column that statements compare or an index has is a function of the row's number, so that a
statement can name several columns of one row. The row's number is scattered (times a number that
has no divisor in common with the number of rows, modulo that) and read as digits: an index on 4
queues and 3 states has the last digit to the base 4 and the next one to the base 3. Each
combination is then equally frequent, and rows with neighboring values lie apart.
"""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
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
    (r"bool|boolean", "boolean", True),
    (r"year.*", "smallint", False),
    (r"bit.*", "bigint", False),
    (r"numeric.*|decimal.*", "decimal(20, 4)", False),
    (r"character varying|citext|(?:enum|set|inet|time).*|interval", "varchar(255)", False),
)
_FIXED: dict[str, dict[str, Any]] = {
    "json": {"literal": "{}"},
    "float": {"integer": [0, 1_000_000]},
    "double": {"integer": [0, 1_000_000]},
}
_SCATTER = (math.sqrt(5) - 1) / 2  # neighboring numbers times this share of the rows lie far apart
_IN_MILLE = 1000
# times as many values as digits are left for, from which a column gets its own
_DIGITS_MOST = 1.1


@dataclass(frozen=True)
class Place:
    """Which digits of a row's number are a column's value.

    Attributes:
        rows: The number of rows.
        first: The product of the bases of the digits before.
        salt: A number that no other column has.
        shift: What is added to the first digit, so that it is another row's.
    """

    rows: int
    first: int
    salt: int
    shift: int = 0

    def digit(self, number: str, base: int, before: int) -> str:
        """Return an expression of a digit.

        Args:
            number: The name of the row's number.
            base: How many values the digit has.
            before: The product of the bases of the column's digits before.
        """
        scattered = f"{number} * {_choose_scatter(self.rows)} % {self.rows}"
        after = self.first * before
        digits = f"{scattered}{f' / {after}' if after > 1 else ''}"
        if self.shift and before == 1:
            return f"({digits} + {self.shift}) % {base}"
        return f"{digits} % {base}"


@dataclass(frozen=True)
class Filled:
    """A column and the values that stand in for its own.

    Attributes:
        type: The type in the workload.
        same_type: Whether the server's type is the same.
        value: The stand-in value as it is drawn by itself; None for one value to each row.
        template: The text around the number in a key; empty for the number alone.
        hashed: Whether that number is hashed.
        bounds: The lowest and highest integer; None for other values, and one value to each row.
        number: Whether it holds integers, which can form ranges.
        distinct: The number of distinct values; 1 for one value to each row.
        rows_each: The number of rows per distinct value.
        place: How its value follows from the row's number; None if it is drawn for each row.
        null_share: The share of the rows in which it is null.
        often: The share of the rows that have its first values, and their number; None if all
            values are alike.
    """

    type: str
    same_type: bool
    value: Any = None
    template: str = ""
    hashed: bool = False
    bounds: tuple[int, int] | None = None
    number: bool = False
    distinct: int = 1
    rows_each: float = 1.0
    place: Place | None = None
    null_share: float = 0.0
    often: tuple[float, int] | None = None

    def share(self, rows: int, *, often: bool) -> float:
        """Return the share of the rows that a value has: one of the first values, or another."""
        if self.by_row:
            return 1 / rows
        if self.often is None:
            return self.rows_each / rows
        share, number = self.often
        return share / number if often else (1 - share) / max(1, self.distinct - number)

    def choose(self, portion: float) -> Any:
        """Return one of the first values in a portion of the calls, and another one otherwise."""

        def one(value: Any) -> Any:
            match value:
                case {"weighted": [[_, often], [_, seldom]]}:
                    if portion in {0, 1}:
                        return often if portion else seldom
                    return {"weighted": [[portion, often], [round(1 - portion, 3), seldom]]}
                case {"format": template, "of": [part]}:
                    return {"format": template, "of": [one(part)]}
                case _:
                    return value

        return one(self.value)

    @property
    def by_row(self) -> bool:
        """Whether each row has a value of its own, which follows from its number."""
        return self.value is None

    def draw(self, number: Any) -> Any:
        """Return a value that some row has: that of the row with a number if each has its own."""
        if self.value is not None:
            return self.value
        if not self.template:
            return number
        return {"format": self.template, "of": [{"fnv_hash": number} if self.hashed else number]}

    def of_row(self, number: str, *, shift: int = 0) -> Any:
        """Return the value in the row whose number has this name, where it is not null.

        Args:
            number: The name of the number.
            shift: How many values beyond it another row's value is to be.
        """
        if self.value is None or self.place is None:
            return self.draw(number)
        value, _ = _follow(self.value, number, replace(self.place, shift=shift), 1)
        return value

    @property
    def is_ordered(self) -> bool:
        """Whether ranges of it can be asked for: it holds whole numbers or times."""
        return self.number or (isinstance(self.value, dict) and len(self.value.get("of", ())) > 1)

    def at(self, number: str) -> Any:
        """Return the time whose position among all has this name."""
        parts: list[Any] = []
        before = 1
        for low, high in reversed(self._ranges()):
            base = high - low + 1
            part = f"{number}{f' / {before}' if before > 1 else ''} % {base} + {low}"
            parts.insert(0, {"expr": part})
            before *= base
        return {"format": self.value["format"], "of": parts}

    def _ranges(self) -> list[tuple[int, int]]:
        return [(low, high) for low, high in (part["integer"] for part in self.value["of"])]

    def absent(self, numbers: tuple[int, int]) -> Any:
        """Return a value that no row has; None if there is none.

        Args:
            numbers: The number of the first row, and the number of rows.
        """
        first, rows = numbers
        if self.by_row:
            return self.draw({"integer": [first + rows, first + 2 * rows - 1]})
        if self.bounds is not None:
            low, high = self.bounds
            return {"integer": [high + 1, 2 * high - low + 1]}
        if isinstance(self.value, dict) and len(self.value.get("of", ())) == 1:
            others = {"integer": [self.distinct + 1, 2 * self.distinct]}
            return {"format": self.value["format"], "of": [others]}
        return None

    def fill(self) -> Any:
        """Return the value of a row that is created."""
        value = self.of_row("row")
        if not self.null_share:
            return value
        if self.null_share == 1:
            return None
        salt = self.place.salt if self.place else 0
        return {"if": _write_chance("row", salt + 1, self.null_share), "then": None, "else": value}

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

    A server's row estimate may be far off. If rows were not counted and the key is a number without
    large gaps, its lowest and highest value give the count.
    """
    column = find_single_key_column(table)
    # A 0 that is inserted into an AUTO_INCREMENT column becomes another number.
    least = 1 if column is not None and column.auto_increment else 0
    if column is None or column.lowest is None or column.highest is None:
        return least, max(table.rows, 1)
    if not 0 <= column.lowest <= _BIGINT_MAX // 2:  # numbers that no row of a workload has
        return least, max(table.rows, 1)
    span = column.highest - column.lowest + 1
    trusts_span = span <= 2 * table.rows and not table.rows_counted
    rows = span if trusts_span else max(table.rows, 1)
    return max(column.lowest, least), rows


def _choose_scatter(rows: int) -> int:
    """Return a factor that makes each number below `rows` another one, modulo `rows`."""
    factor = max(1, round(rows * _SCATTER))
    while math.gcd(factor, rows) > 1:
        factor += 1
    return factor


def _write_chance(number: str, salt: int, share: float) -> str:
    """Return a condition that holds for a share of the rows."""
    return f"hash({number} + {salt}) % {_IN_MILLE} < {round(share * _IN_MILLE)}"


def _follow(value: Any, number: str, place: Place, before: int) -> tuple[Any, int]:
    """Return a drawn value as a function of a row's number: each draw is one of its digits.

    Returns:
        The value, and the product of the bases of the digits so far.
    """
    match value:
        case {"integer": [low, high]}:
            base = high - low + 1
            digit = place.digit(number, base, before)
            if not low:
                return {"expr": digit}, before * base
            return {"sum": {"expr": digit}, "plus": low}, before * base
        case {"format": template, "of": parts}:
            followed: list[Any] = []
            for part in reversed(parts):  # the last one varies fastest: the seconds of a time
                one, before = _follow(part, number, place, before)
                followed.insert(0, one)
            return {"format": template, "of": followed}, before
        case {"weighted": [[share, often], [_, seldom]]}:
            then, _ = _follow(often, number, place, before)
            otherwise, _ = _follow(seldom, number, place, before)
            return {
                "if": _write_chance(number, place.salt, share),
                "then": then,
                "else": otherwise,
            }, 1
        case {"text": int() as length}:
            filling = "v" * max(0, length - HASH_DIGITS)
            if length < HASH_DIGITS:
                return {"format": "{}", "of": [{"expr": f"hash({number}) % {10**length}"}]}, before
            return {"format": "{}" + filling, "of": [{"fnv_hash": number}]}, before
        case _:
            return value, before


def fill_columns(
    table: TableSeen,
    *,
    prefixes: bool,
    compared: Collection[str] = (),
    asked: Mapping[str, float] | None = None,
) -> dict[str, Filled]:
    """Return the stand-in values of each column.

    Args:
        table: The table.
        prefixes: Whether statements compare only a part of a key of several columns. Then only its
            last column has another value in each row.
        compared: The columns without an index whose value has to follow from the row's number too.
        asked: The share of the rows that have the value that statements ask for, by column, where
            that is far more than others have.
    """
    asked = asked or {}
    by_row = _find_numbered(table, prefixes=prefixes)
    by_row |= {find_differing(table, name) for name in list_unique(table)}
    columns = {column.name: column for column in table.columns}
    indexed = [
        parse_indexed(name).column
        for names in (table.primary_key, *table.indexes.values())
        for name in names
    ]
    rows = find_row_numbers(table)[1]
    found = {name: _fill_by_row(columns[name]) for name in by_row}
    before = 1  # the product of the bases of the digits that are taken
    for name in dict.fromkeys([*indexed, *(each for each in columns if each in set(compared))]):
        if name not in columns or name in by_row:
            continue
        values = max(_count_values(columns[name], rows), 2 if name in asked else 1)
        if before * values > _DIGITS_MOST * rows:  # it goes with the first ones
            before = 1
        values = min(values, math.ceil(rows / before))
        place = Place(rows, before, salt=2 * list(columns).index(name))
        found[name] = _fill_by_value(
            columns[name], rows, values, place=place, asked=asked.get(name)
        )
        before *= values
    return {
        name: found.get(name) or _fill_by_value(column, rows, _count_values(column, rows))
        for name, column in columns.items()
    }


def _find_numbered(table: TableSeen, *, prefixes: bool) -> set[str]:
    """Return the columns of the key that have another value in each row.

    A number that is too small for the rows leaves that to the other columns.
    """
    key = table.primary_key
    small = set()
    for column in table.columns:
        integer = _INTEGER.fullmatch(map_type(column.type)[0])
        if integer and sum(find_row_numbers(table)) > _find_highest(integer):
            small.add(column.name)
    chosen = set(key[-1:] if prefixes else key)
    return chosen - small or set([name for name in key if name not in small][-1:]) or chosen


def _find_highest(integer: re.Match[str]) -> int:
    """Return the highest number that a type holds, of those that a workload has."""
    bits = _BITS[integer[1]] - (0 if integer[2] else 1)
    return min((1 << bits) - 1, _BIGINT_MAX)


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


def find_single_key_column(table: TableSeen) -> ColumnSeen | None:
    """Return the single column of a table's key; None if the key has none or several."""
    if len(table.primary_key) != 1:
        return None
    return next((c for c in table.columns if c.name == table.primary_key[0]), None)


def _count_values(column: ColumnSeen, rows: int) -> int:
    """Return the number of different values of a column, at most one for each row."""
    most = rows
    if column.lowest is not None and column.highest is not None:
        most = min(rows, column.highest - column.lowest + 1)
    return max(1, min(column.distinct or rows, most))


def _fill_by_row(column: ColumnSeen) -> Filled:
    declared, same = map_type(column.type)
    if _INTEGER.fullmatch(declared):
        return Filled(declared, same, number=True)
    if not _is_text(declared):
        return _fill_by_value(column, 1, 1)
    template, hashed = _make_key_template(column, declared)
    return Filled(declared, same, template=template, hashed=hashed)


def _fill_by_value(
    column: ColumnSeen,
    rows: int,
    distinct: int,
    *,
    place: Place | None = None,
    asked: float | None = None,
) -> Filled:
    declared, same = map_type(column.type)
    null_share = column.null_share if column.nullable else 0.0
    distinct = max(1, min(distinct, rows))
    bounds, value = None, None
    if integer := _INTEGER.fullmatch(declared):
        bounds = _find_bounds(column, integer, distinct)
        value = _draw_integers(column, *bounds, asked)
    else:
        value = _draw_other_values(column, declared, distinct, place is not None, asked)
    return Filled(
        declared,
        same,
        value=value,
        bounds=bounds,
        number=integer is not None,
        distinct=distinct,
        rows_each=max(1.0, rows * (1 - null_share) / distinct),
        place=place,
        null_share=null_share,
        often=_find_often(value),
    )


def _find_often(value: Any) -> tuple[float, int] | None:
    """Return the share and the number of a value's first integers; None if all are alike."""
    match value:
        case {"weighted": [[share, {"integer": [low, high]}], _]}:
            return share, high - low + 1
        case {"format": _, "of": [part]}:
            return _find_often(part)
        case _:
            return None


def _is_text(declared: str) -> bool:
    return bool(_SIZED.fullmatch(declared)) or declared.endswith(("text", "blob"))


def _make_key_template(column: ColumnSeen, declared: str) -> tuple[str, bool]:
    """Return a template as long as the keys, and whether the number in it is hashed."""
    room = int(found[2]) if (found := _SIZED.fullmatch(declared)) else 255
    if room < HASH_DIGITS:
        return "{}", False
    wanted = min(round(column.mean_length or 0), room) - HASH_DIGITS + 1
    prefix = ("key" * (1 + wanted // 3))[: max(0, min(wanted, room - HASH_DIGITS))]
    return prefix + "{}", True


def _find_bounds(column: ColumnSeen, integer: re.Match[str], distinct: int) -> tuple[int, int]:
    most = _find_highest(integer)
    lowest = 1 if column.lowest is None or column.lowest > most - distinct else column.lowest
    return lowest, min(lowest + distinct - 1, most)


def _draw_integers(
    column: ColumnSeen, low: int, high: int, asked: float | None = None
) -> dict[str, Any]:
    """Return integers, of which the first ones are the more frequent if it is so known.

    Args:
        column: The column.
        low: The lowest integer.
        high: The highest one.
        asked: The share of the lowest one; None for what a sample of rows says of more.
    """
    share, often = column.top_share, int(TOP_VALUES * (high - low + 1))
    if asked is not None and low < high:
        share, often = asked, 1
    elif share is None or share < 2 * TOP_VALUES or not often:
        return {"integer": [low, high]}
    return {
        "weighted": [
            [round(share, 3), {"integer": [low, low + often - 1]}],
            [round(1 - share, 3), {"integer": [low + often, high]}],
        ]
    }


def _draw_parts(distinct: int, *ranges: tuple[int, int]) -> list[dict[str, Any]]:
    """Return the parts of a time, of which the last ones have all their values first."""
    parts: list[dict[str, Any]] = []
    for low, high in reversed(ranges):
        base = max(1, min(high - low + 1, distinct))
        parts.insert(0, {"integer": [low, low + base - 1]})
        distinct = math.ceil(distinct / base)
    return parts


def _draw_other_values(
    column: ColumnSeen, declared: str, distinct: int, compared: bool, asked: float | None
) -> Any:
    """Return the stand-in values of a column that holds no integers."""
    if declared in _FIXED:
        return _FIXED[declared]
    if declared == "boolean":
        return {"integer": [0, 1]}
    if declared == "date":
        return {
            "format": "{}-{}-{}",
            "of": _draw_parts(distinct, (2000, 2099), (1, 12), (1, 28)),
        }
    if declared.startswith(("datetime", "timestamp")):
        moment = _draw_parts(distinct, (1, 12), (1, 28), (0, 23), (0, 59), (0, 59))
        return {"format": "2026-{}-{} {}:{}:{}", "of": moment}
    if found := _DECIMAL.fullmatch(declared.replace(" ", "")):
        most = 10 ** max(0, min(int(found[1]) - int(found[2]), 12)) - 1
        return {"integer": [0, min(most, distinct - 1) if compared else most]}
    room = int(found[2]) if (found := _SIZED.fullmatch(declared)) else 65_535
    length = min(room, round(column.mean_length or 0))
    digits = len(str(distinct))
    if compared and room >= digits:
        # The number stands first, where an index of a prefix has it.
        filling = "v" * max(0, length - digits)
        return {"format": "{}" + filling, "of": [_draw_integers(column, 1, distinct, asked)]}
    return {"text": length, "alphabet": "alphanumeric"}
