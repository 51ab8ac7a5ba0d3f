"""Write debt: bytes of a database's log whose pages are not written back yet. See docs/method.md.

It lends throughput as burst credits do: while the log fills, writing the pages can wait.
"""

from typing import Annotated

from pydantic import Field

from plimsoll.model.base import Model

Bytes = Annotated[int, Field(ge=0)]
LogSize = Annotated[int, Field(ge=1)]
FILL_CONNECTIONS = 32  # number of connections of the load that fills the log


class WriteDebt(Model):
    """A server's write debt at one moment."""

    owed_bytes: Bytes  # bytes of the log whose pages are not written yet
    limit_bytes: LogSize  # at which the server writes pages before anything else
    written_bytes: Bytes  # position of the log's end: two readings differ by what was written
    # PostgreSQL: whether a checkpoint writes pages, in pace with the log. None if pages are written
    # at any time, so that a decrease of `owed_bytes` shows it.
    paying: bool | None = None
    # Pages that wait to be written, or the most that may; None if unknown
    owed_pages: Annotated[int, Field(ge=0)] | None = None
    # I/Os of the server on its storage since it started; None if unknown
    ios: Annotated[int, Field(ge=0)] | None = None
    # Transactions whose old row versions are not purged yet; None if unknown
    unpurged: Annotated[int, Field(ge=0)] | None = None


class DebtGrowth(Model):
    """How write debt changed within a step's window."""

    limit_bytes: LogSize
    start_bytes: Bytes  # owed when the window began
    end_bytes: Bytes  # owed when it ended
    peak_bytes: Bytes
    written_bytes: Bytes  # to the log, within the window
    # Part of it whose pages nobody wrote meanwhile; negative if old debt was paid
    lent_bytes: int
    interval_s: Annotated[float, Field(gt=0)]  # from the first reading to the last
    waves: Annotated[int, Field(ge=0)]  # whole waves: from one peak, or trough, to the next
    # Pages whose writing each operation left for later, once the log is full; None if unknown
    pages_per_operation: Annotated[float, Field(ge=0)] | None = None
    ios_per_operation: Annotated[float, Field(ge=0)] | None = None  # None if unknown
    # Transactions for each operation by which the purge fell behind; negative if it caught up
    unpurged_per_operation: float | None = None  # None if unknown
    # False for steps whose latency others are compared with: nothing fills the log before them
    judged: bool
