"""What a server tells of the statements that it was sent, and of the tables that they name."""

from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import Protocol

Count = Annotated[int, Field(ge=0)]


class Digest(Model):
    """One kind of statement: what all of its calls came to. None: the server does not tell."""

    text: str  # a value is `?`, or `$1` ... of PostgreSQL; whatever else may stand in it
    calls: Count
    time_s: Annotated[float, Field(ge=0)]  # in the server, all calls together
    rows_sent: Count | None = None
    rows_examined: Count | None = None
    rows_affected: Count | None = None
    order: float = 0.0  # of statements that were seen first at different times, the earlier is less


class ColumnSeen(Model):
    """One column."""

    name: str
    type: str  # as the server writes it
    nullable: bool = False
    auto_increment: bool = False
    mean_length: float | None = None  # characters or bytes of text, in a sample of rows
    distinct: Count | None = None  # different values, by the statistics of its index
    top_share: Annotated[float, Field(ge=0, le=1)] | None = None  # see `TOP_VALUES`
    lowest: int | None = None  # of numbers whose index begins with it
    highest: int | None = None


TOP_VALUES = 0.2  # `top_share`: the part of a sample's rows that have the commonest fifth of values


class TableSeen(Model):
    """One table."""

    name: str
    rows: Count  # as the server estimates them
    pages: Count | None = None  # with its indexes, as the server estimates them
    columns: tuple[ColumnSeen, ...]
    primary_key: tuple[str, ...] = ()
    indexes: dict[str, tuple[str, ...]] = Field(default_factory=dict)  # the secondary ones


class StatementsSeen(Model):
    """What was seen of one database."""

    protocol: Protocol
    server: str  # as it names itself
    database: str
    interval_s: float | None  # None: since its counting began
    digests: tuple[Digest, ...]
    pool_pages: Count | None = None  # that the server's buffer pool holds
    pages_missed: Count | None = None  # that it had to read meanwhile
    calls_unknown: Count = 0  # of statements for which the server had no room left
    tables: tuple[TableSeen, ...]
    notes: tuple[str, ...] = ()  # what a reader has to know of how it was seen
