"""The shape of a digest's statement: its text, its tables, and the places of its values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal[
    "equal", "member", "low", "high", "like", "same", "set", "limit", "offset", "path", "constant"
]
Upsert = Literal["", "duplicate", "conflict", "skip"]
AGGREGATES = {"COUNT", "SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG"}


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of a value in a statement.

    Attributes:
        role: `equal` if a column is compared with it; `member` in a list after IN; `low` and `high`
            as the ends of a range; `like` for a pattern; `same` if lower(column) is compared
            with it; `set` if a column gets it; `limit`, `offset`; `path` within a JSON document;
            `constant` for anything else, where any number will do.
        table: The table of the column; empty if there is no column.
        column: The column's name in the table.
        alias: The alias, which tells apart several mentions of one table.
        many: Whether it stands for a list of unknown length.
    """

    role: Role
    table: str = ""
    column: str = ""
    alias: str = ""
    many: bool = False


@dataclass(frozen=True, slots=True)
class TableMark:
    """The place of a table's name."""

    table: str


Piece = str | Slot | TableMark


@dataclass(frozen=True)
class Shape:
    """A statement.

    Attributes:
        verb: SELECT, INSERT, REPLACE, UPDATE, DELETE or WITH.
        pieces: The text, split at tables and values.
        tables: The tables that it names, in order.
        locks: Whether it locks the rows that it reads (FOR UPDATE).
        aggregates: Whether it returns fewer rows than it reads: COUNT, GROUP BY ...
        distinct: Whether DISTINCT may reduce its rows.
        many_rows: Whether it is an INSERT of several rows, one of which is in the text.
        upsert: What an INSERT does about a row that is there: `duplicate` changes it (MySQL's ON
            DUPLICATE KEY UPDATE, REPLACE), `conflict` too (PostgreSQL), `skip` keeps it; empty if
            it fails.
    """

    verb: str
    pieces: tuple[Piece, ...]
    tables: tuple[str, ...]
    locks: bool = False
    aggregates: bool = False
    distinct: bool = False
    many_rows: bool = False
    upsert: Upsert = ""

    @property
    def writes(self) -> bool:
        """Whether it changes or locks rows."""
        return self.locks or self.verb not in {"SELECT", "WITH"}

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The places of values, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))

    def has(self, role: Role) -> bool:
        """Whether it has a value of this role."""
        return any(slot.role == role for slot in self.slots)

    def write_text(self, many: Sequence[int] = (), tables: Mapping[str, str] | None = None) -> str:
        """Return its text as in a workload: `{table}` for tables, `?` for values.

        Args:
            many: The number of values of each list of unknown length; one value without it.
            tables: Other names for tables.
        """
        names, lengths = tables or {}, iter(many)

        def text(piece: Piece) -> str:
            match piece:
                case Slot(many=True):
                    return ", ".join(["?"] * next(lengths, 1))
                case Slot():
                    return "?"
                case TableMark(table=table):
                    return "{" + names.get(table, table) + "}"
                case _:
                    return piece

        return "".join(map(text, self.pieces))
