"""What a dataset is as an artefact, in figures and in words."""

import pytest

from plimsoll import words
from plimsoll.model.datasets import DatasetLayout, LoadOrder, TableLayout

ORDER = LoadOrder(
    clients=4, connections_per_client=8, parts={"usertable": 4}, rows_per_statement=500
)


def table(pages: int | None, page_bytes: int | None = 16_384, index: int = 0) -> TableLayout:
    known = pages is not None and page_bytes is not None
    size = pages * page_bytes if known else None  # type: ignore[operator] # both are known
    return TableLayout(
        name="t", rows=9, data_bytes=size, index_bytes=index, pages=pages, page_bytes=page_bytes
    )


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ([table(5235)], "5,235 pages of 16 KiB, 81.8 MiB"),
        ([table(3176)], "3,176 pages of 16 KiB, 49.6 MiB"),
        ([table(64), table(64)], "128 pages of 16 KiB, 2.0 MiB"),
        ([TableLayout(name="t", rows=9, data_bytes=3 * 2**20)], "3.0 MiB"),  # Cassandra's
        ([table(64), table(None)], words.NOTHING),  # a part of a size is none
        ([], words.NOTHING),
    ],
)
def test_the_same_rows_in_fewer_pages_are_told_apart(tables: list[TableLayout], said: str) -> None:
    assert DatasetLayout(tables=tuple(tables), order=ORDER).size_words == said


def test_indexes_count() -> None:
    layout = DatasetLayout(tables=(table(64, index=2**20),), order=None)
    assert layout.bytes == 2 * 2**20


def test_the_order_says_how_the_rows_went_in_and_whence_they_came() -> None:
    loaded = DatasetLayout(tables=(), order=ORDER)
    assert loaded.order_words == (
        "loaded by row number within each of at most 4 parts of a table, 4 clients at once with"
        " 8 connections each, up to 500 rows a statement; secondary indexes after the rows"
    )
    restored = DatasetLayout(tables=(), order=ORDER, restored_from="plimsoll-dataset-x")
    assert restored.order_words.startswith("restored from plimsoll-dataset-x, loaded by row number")
    own = DatasetLayout(tables=(), order=None, restored_from="arn:aws:rds:x")
    assert own.order_words == "restored from arn:aws:rds:x"
    assert DatasetLayout(tables=(), order=None).order_words == words.NOTHING
