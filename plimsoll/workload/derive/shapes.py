"""What a statement of a digest is: its text with its tables, and where values stood in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Role = Literal["equal", "member", "low", "high", "set", "limit", "offset", "constant"]
AGGREGATES = {"COUNT", "SUM", "AVG", "MIN", "MAX", "GROUP_CONCAT", "STRING_AGG"}


@dataclass(frozen=True, slots=True)
class Slot:
    """Where a value stood.

    Attributes:
        role: `equal`: a column is compared with it; `member`: of a list after IN; `low` and `high`:
            ends of a range; `set`: a column gets it; `limit`, `offset`; `constant`: something else
            that any number will do for.
        table: The table that the column belongs to; empty where there is no column.
        column: The column's name, as the table has it.
        alias: Which mention of the table it is.
        many: How many values stood there is not told.
    """

    role: Role
    table: str = ""
    column: str = ""
    alias: str = ""
    many: bool = False


@dataclass(frozen=True, slots=True)
class TableMark:
    """Where a table is named."""

    table: str


Piece = str | Slot | TableMark


@dataclass(frozen=True)
class Shape:
    """One statement.

    Attributes:
        verb: SELECT, INSERT, REPLACE, UPDATE, DELETE or WITH.
        pieces: Its text: as it is, tables, and values.
        tables: Those that it names, the first one first.
        locks: Whether it locks rows that it reads (FOR UPDATE).
        aggregates: Whether it gives fewer rows than it reads: COUNT, GROUP BY ...
        distinct: Whether it may, by DISTINCT.
        many_rows: Whether an INSERT has several rows, of which the text shows one.
    """

    verb: str
    pieces: tuple[Piece, ...]
    tables: tuple[str, ...]
    locks: bool = False
    aggregates: bool = False
    distinct: bool = False
    many_rows: bool = False

    @property
    def writes(self) -> bool:
        """Whether it changes or locks rows."""
        return self.locks or self.verb not in {"SELECT", "WITH"}

    @property
    def slots(self) -> tuple[Slot, ...]:
        """Where values stood, in order."""
        return tuple(piece for piece in self.pieces if isinstance(piece, Slot))

    def has(self, role: Role) -> bool:
        """Whether a value of this role stood in it."""
        return any(slot.role == role for slot in self.slots)

    def written(self, many: int = 1, tables: Mapping[str, str] | None = None) -> str:
        """Write it as a workload has it: `{table}` for tables, `?` for values.

        Args:
            many: How many values a list has whose length is not told.
            tables: What else a table is called.
        """
        names = tables or {}

        def text(piece: Piece) -> str:
            match piece:
                case Slot(many=True):
                    return ", ".join(["?"] * many)
                case Slot():
                    return "?"
                case TableMark(table=table):
                    return "{" + names.get(table, table) + "}"
                case _:
                    return piece

        return "".join(map(text, self.pieces))
