"""Statement statistics that a server reports, and the tables that these statements use."""

from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.engine.asked import Protocol

Count = Annotated[int, Field(ge=0)]


class Digest(Model):
    """All calls of one kind of statement; None if the server does not report a figure."""

    text: str  # values are replaced by `?`, or `$1` ... by PostgreSQL; it may contain anything else
    calls: Count
    time_s: Annotated[float, Field(ge=0)]  # server time of all calls
    rows_sent: Count | None = None
    rows_examined: Count | None = None
    rows_affected: Count | None = None
    order: float = 0.0  # sort key: a statement first seen earlier has a smaller one
    within: Count | None = None  # calls within transactions; None if the source does not tell
    # Means over the calls whose values the source has: values of each list after IN, or rows of an
    # INSERT; LIMIT; and width of a range of integers
    listed: tuple[Annotated[float, Field(ge=0)], ...] = ()
    limit: Annotated[float, Field(ge=0)] | None = None
    span: Annotated[float, Field(ge=0)] | None = None
    # Whether each of its values was the same in all calls; empty if the source does not tell
    fixed: tuple[bool, ...] = ()


class TransactionSeen(Model):
    """All transactions that sent the same statements equally often."""

    calls: Count
    # Index of a digest and its repetitions, in the order of the first calls
    statements: tuple[tuple[Count, Annotated[int, Field(ge=1)]], ...]


class KeysSeen(Model):
    """How unevenly the first value that a statement compares with `=` was drawn.

    `same` estimates the chance that two calls have the same value. No value is kept.
    """

    digest: Count  # index of the statement
    calls: Count
    distinct: Count  # an estimate
    same: Annotated[float, Field(ge=0, le=1)]


class ColumnSeen(Model):
    """One column of a table."""

    name: str
    type: str  # in the words of the server
    nullable: bool = False
    auto_increment: bool = False
    has_default: bool = False  # whether an INSERT may leave it out
    # Mean length of text in a sample of rows, in characters or bytes
    mean_length: float | None = None
    distinct: Count | None = None  # number of different values, by the statistics of its index
    top_share: Annotated[float, Field(ge=0, le=1)] | None = None  # see `TOP_VALUES`
    null_share: Annotated[float, Field(ge=0, le=1)] = 0.0  # share of a sample's rows that are null
    lowest: int | None = None  # lowest value of a number that an index begins with
    highest: int | None = None


# `top_share`: share of a sample's rows that have the most frequent 20 % of the values
TOP_VALUES = 0.2


class IndexLeft(Model):
    """An index that a workload cannot have."""

    columns: tuple[str, ...]  # those of its columns that are known
    why: str


class TableSeen(Model):
    """One table."""

    name: str
    rows: Count  # an estimate of the server, unless they were counted
    rows_counted: bool = False
    pages: Count | None = None  # table and indexes, as the server estimates them
    columns: tuple[ColumnSeen, ...]
    primary_key: tuple[str, ...] = ()
    # The secondary indexes; a column may have a length or an order: `slug(191)`, `at desc`
    indexes: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    unique: tuple[str, ...] = ()  # those of them that are unique
    indexes_left: dict[str, IndexLeft] = Field(default_factory=dict)


class StatementsSeen(Model):
    """The statements and tables of one database, as its server reports them."""

    protocol: Protocol
    server: str  # name and version, as the server reports them
    database: str
    schema_name: str = ""  # what may precede a table's name; empty if that is the database's
    interval_s: float | None  # None if it began when the counters were last reset
    digests: tuple[Digest, ...]
    counted_by: str = ""  # where the counts are from; empty for the server's own statistics
    busiest_minute: Count | None = None  # calls in the minute with the most; None if not known
    pool_pages: Count | None = None  # data pages in the buffer pool; None if it is not full
    pages_missed: Count | None = None  # page reads from storage in the interval
    # Calls of statements that the server could not record for lack of space
    calls_unknown: Count = 0
    transactions: tuple[TransactionSeen, ...] = ()
    # What tells which statements were sent together; None if nothing does
    transactions_by: str | None = None
    keys: tuple[KeysSeen, ...] = ()
    # Indexes of two statements that compare the same key within a transaction, the first one first
    same_keys: tuple[tuple[Count, Count], ...] = ()
    tables: tuple[TableSeen, ...]
    notes: tuple[str, ...] = ()  # remarks for the reader

    @property
    def qualifier(self) -> str:
        """What may precede a table's name in a statement."""
        return self.schema_name or self.database
