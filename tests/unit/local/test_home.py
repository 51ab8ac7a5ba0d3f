"""A twin's databases lie in memory where they surely fit, and nowhere for longer than the twin."""

import os
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.local import home
from plimsoll.local.home import bytes_of, free_bytes, takes_direct_io, twin_home
from plimsoll.model.request import Request
from tests.support.requested import REQUESTED

GIB = 2**30
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:target"


def request(workload: str, records: int, **target: Any) -> Request:
    rds = {**REQUESTED["target"], "volume": {"type": "gp3", "size_gib": 100}}
    changes = {"target": target or rds, "workload": {"name": workload, "records": records}}
    return Request.model_validate(REQUESTED | changes)


@pytest.mark.parametrize(
    ("workload", "per_row"),
    [
        ("ycsb-a", 10 * 100 + len("user{}") + 20),
        ("sysbench-oltp-read-only", 20 + 20 + 119 + 59),  # id, k, c, pad
        ("ycsb-d", None),  # inserts
        ("sysbench-oltp-read-write", 20 + 20 + 119 + 59),  # inserts what it has deleted
        ("sysbench-oltp-insert", None),
        ("batch-1-bulk-insert", None),
    ],
)
def test_rows_are_as_wide_as_their_columns_unless_the_load_adds_more(
    workload: str, per_row: int | None
) -> None:
    expected = None if per_row is None else 1000 * per_row
    assert bytes_of(request(workload, 1000)) == expected


def test_an_endpoint_has_its_rows_elsewhere() -> None:
    assert (
        bytes_of(
            request("ycsb-a", 10**6, kind="endpoint", engine="mysql", host="h", secret_arn=SECRET)
        )
        == 0
    )


@pytest.mark.parametrize(
    ("workloads", "at_once", "free_gib", "direct", "in_memory"),
    [
        ([("ycsb-a", 40_000)], 1, 2.4, True, True),  # 4 x 41 MB + 1 GiB in half of it
        ([("ycsb-a", 40_000)], 1, 2.2, True, False),
        ([("ycsb-a", 40_000)], 2, 2.4, True, False),  # two databases at once
        ([("ycsb-a", 40_000)], 2, 4.7, True, True),
        ([("ycsb-a", 40_000)], 1, 99.0, False, False),  # an older kernel's tmpfs
        ([("ycsb-a", 40_000), ("ycsb-d", 1)], 1, 99.0, True, False),  # who knows how many rows
        ([("ycsb-a", 10), ("ycsb-a", 10_000_000)], 1, 16.0, True, False),  # the largest counts
        ([], 1, 99.0, True, False),  # a service: nobody knows what will come
    ],
)
def test_in_memory_only_what_fits_into_half_of_what_is_free(  # noqa: PLR0917 - a table
    workloads: list[tuple[str, int]],
    at_once: int,
    free_gib: float,
    direct: bool,
    in_memory: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory, disk = tmp_path / "memory", tmp_path / "disk"
    memory.mkdir()
    disk.mkdir()
    monkeypatch.setattr(home, "MEMORY", memory)
    monkeypatch.setattr(home, "takes_direct_io", lambda _: direct)
    monkeypatch.setattr(home, "free_bytes", lambda _: int(free_gib * GIB))
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    with twin_home([request(*one) for one in workloads], at_once=at_once) as chosen:
        assert chosen.parent == (memory if in_memory else disk)


def test_a_folder_that_is_named_is_taken_and_nothing_stays_in_it(tmp_path: Path) -> None:
    def interrupted() -> None:
        with twin_home([], parent=tmp_path) as chosen:
            assert chosen.parent == tmp_path
            (chosen / "databases").mkdir()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list(tmp_path.iterdir()) == []


def test_direct_io_is_tried_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def refuses(path: str, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuses)
    assert takes_direct_io(tmp_path) is False
    assert list(tmp_path.iterdir()) == []


def test_what_is_free_is_no_more_than_the_memory_that_is_available(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def has(blocks: int) -> None:
        place = SimpleNamespace(f_bavail=blocks, f_frsize=4096)
        monkeypatch.setattr(os, "statvfs", lambda _: place)

    has(3)
    assert free_bytes(tmp_path) == 3 * 4096
    has(2**50)
    assert 0 < free_bytes(tmp_path) <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
