"""The physical layout of a dataset: size of its tables and order of the load; and its snapshots.

The layout matters to a result: the same rows can take a third fewer pages, so that writes cost
less.
"""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from plimsoll import words
from plimsoll.model.base import Model


class TableLayout(Model):
    """Size of one table as its server reports it; None if it does not."""

    name: str
    rows: int  # exact count
    data_bytes: int | None = None  # size of the table itself; with InnoDB, of the clustered index
    index_bytes: int | None = None  # size of its secondary indexes
    pages: int | None = None  # pages of table and indexes, each of `page_bytes`
    page_bytes: int | None = None


class LoadOrder(Model):
    """The order in which the rows were inserted."""

    clients: int  # clients at a time, each loading its own parts
    connections_per_client: int
    parts: dict[str, int]  # {table: number of row ranges}; one call of a client loads one range
    rows_per_statement: int  # at most

    @property
    def sentence(self) -> str:
        """The order in words."""
        most = max(self.parts.values(), default=0)
        return (
            f"by row number within each of at most {words.format_count(most, 'part')} of a table,"
            f" {words.format_count(self.clients, 'client')} at once with"
            f" {words.format_count(self.connections_per_client, 'connection')} each, up to"
            f" {self.rows_per_statement} rows a statement; secondary indexes after the rows"
        )


class DatasetLayout(Model):
    """A dataset as it was stored before the first load: `dataset.json`."""

    tables: tuple[TableLayout, ...]
    order: LoadOrder | None  # None if Plimsoll did not load it in this run
    restored_from: str | None = None  # name of the snapshot; None if it was loaded in place
    unknown: str | None = None  # why the server does not report sizes

    @property
    def bytes(self) -> int | None:
        """Bytes of all tables and indexes; None if one is unknown."""
        return _sum_known(
            None if table.data_bytes is None else table.data_bytes + (table.index_bytes or 0)
            for table in self.tables
        )

    @property
    def pages(self) -> int | None:
        """Pages of all tables and indexes; None if one is unknown."""
        return _sum_known(table.pages for table in self.tables)

    @property
    def size_words(self) -> str:
        """The size in words: `5,235 pages of 16 KiB, 81.8 MiB`."""
        if self.bytes is None:
            return words.NOTHING
        size = f"{self.bytes / 2**20:,.1f} MiB"
        sizes = {table.page_bytes for table in self.tables}
        if self.pages is None or len(sizes) != 1:
            return size
        return f"{self.pages:,} pages of {(sizes.pop() or 0) // 1024} KiB, {size}"

    @property
    def order_words(self) -> str:
        """How the dataset was loaded or restored, in words."""
        if self.order is None:
            source = f"restored from {self.restored_from}" if self.restored_from else ""
            return source or words.NOTHING
        before = f"restored from {self.restored_from}, loaded " if self.restored_from else "loaded "
        return before + self.order.sentence


def _sum_known(parts: Iterable[int | None]) -> int | None:
    known = list(parts)
    return None if not known or None in known else sum(part or 0 for part in known)


# Snapshots: of a dataset that an experiment prepares once, or a user's own.


PREFIX = "plimsoll-dataset-"  # snapshots that Plimsoll makes; the id of the preparing run follows
SnapshotArn = Annotated[
    str,
    Field(pattern=r"^arn:aws[a-z-]*:rds:[a-z0-9-]+:\d{12}:snapshot:[A-Za-z][A-Za-z0-9:-]{0,254}$"),
]


def snapshot_name(run_id: str) -> str:
    """Return the name of the snapshot that a run makes of its dataset."""
    return f"{PREFIX}{run_id}"


def read_preparing_run_id(name: str) -> str:
    """Return the id of the run that made a snapshot, from the snapshot's name."""
    return name.removeprefix(PREFIX)
