"""What a dataset is as an artefact: how large its tables lie there, and in which order they came.

The same rows can lie in a third fewer pages, and writes on them are then another measurement.
"""

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from plimsoll import words
from plimsoll.model.base import Model


class TableLayout(Model):
    """How large one table is, as its server counts; None: it does not tell."""

    name: str
    rows: int  # counted
    data_bytes: int | None = None  # of the table itself; with InnoDB, its primary key's tree
    index_bytes: int | None = None  # of its secondary indexes
    pages: int | None = None  # of both, each of `page_bytes`
    page_bytes: int | None = None


class LoadOrder(Model):
    """In which order the rows went in."""

    clients: int  # at once, each with parts of its own
    connections_per_client: int
    parts: dict[str, int]  # by table: ranges of row numbers, one call of a client each
    rows_per_statement: int  # at most

    @property
    def sentence(self) -> str:
        """The same in words."""
        most = max(self.parts.values(), default=0)
        return (
            f"by row number within each of at most {words.plural(most, 'part')} of a table,"
            f" {words.plural(self.clients, 'client')} at once with"
            f" {words.plural(self.connections_per_client, 'connection')} each, up to"
            f" {self.rows_per_statement} rows a statement; secondary indexes after the rows"
        )


class DatasetLayout(Model):
    """A dataset as it lay there before the first load: `dataset.json`."""

    tables: tuple[TableLayout, ...]
    order: LoadOrder | None  # None: Plimsoll did not load it, or not this time
    restored_from: str | None = None  # the snapshot's name; None: it was loaded in place
    unknown: str | None = None  # why the server does not tell its size

    @property
    def bytes(self) -> int | None:
        """Of all tables and their indexes; None where one of them is not known."""
        return _sum(
            None if table.data_bytes is None else table.data_bytes + (table.index_bytes or 0)
            for table in self.tables
        )

    @property
    def pages(self) -> int | None:
        """Of all tables and their indexes; None where one of them is not known."""
        return _sum(table.pages for table in self.tables)

    @property
    def size_words(self) -> str:
        """Its size in words: `5,235 pages of 16 KiB, 81.8 MiB`."""
        if self.bytes is None:
            return words.NOTHING
        size = f"{self.bytes / 2**20:,.1f} MiB"
        sizes = {table.page_bytes for table in self.tables}
        if self.pages is None or len(sizes) != 1:
            return size
        return f"{self.pages:,} pages of {(sizes.pop() or 0) // 1024} KiB, {size}"

    @property
    def order_words(self) -> str:
        """How it came there, in words."""
        if self.order is None:
            source = f"restored from {self.restored_from}" if self.restored_from else ""
            return source or words.NOTHING
        before = f"restored from {self.restored_from}, loaded " if self.restored_from else "loaded "
        return before + self.order.sentence


def _sum(parts: Iterable[int | None]) -> int | None:
    known = list(parts)
    return None if not known or None in known else sum(part or 0 for part in known)


# Snapshots: of datasets that an experiment prepares once, and of a user's own.


PREFIX = "plimsoll-dataset-"  # of the names of Plimsoll's own; the run that prepared it follows
SnapshotArn = Annotated[
    str,
    Field(pattern=r"^arn:aws[a-z-]*:rds:[a-z0-9-]+:\d{12}:snapshot:[A-Za-z][A-Za-z0-9:-]{0,254}$"),
]


def snapshot_name(run_id: str) -> str:
    """Name the snapshot of the dataset that a run prepares."""
    return f"{PREFIX}{run_id}"


def preparing_run(name: str) -> str:
    """Name the run that prepared the dataset of a snapshot of Plimsoll's own."""
    return name.removeprefix(PREFIX)
