"""What a request needs of this machine is known before anything starts, or it is refused."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.local import room
from plimsoll.local.room import (
    estimate_disk_bytes,
    load_adds_rows,
    memory_bytes,
    read_available_memory_bytes,
    read_free_disk_bytes,
    require_room,
)
from plimsoll.requests.checked_request import CheckedRequest, validate_request
from tests.support.requested import REQUESTED

GIB = 2**30
SECRET = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:target"


def request(workload: str, records: int, **target: Any) -> CheckedRequest:
    rds = {**REQUESTED["target"], "volume": {"type": "gp3", "size_gib": 100}}
    changes = {"target": target or rds, "workload": {"name": workload, "records": records}}
    return validate_request(REQUESTED | changes)


def endpoint() -> CheckedRequest:
    return request("ycsb-a", 10**6, kind="endpoint", engine="mysql", host="h", secret_arn=SECRET)


@pytest.mark.parametrize(
    ("workload", "per_row", "grows"),
    [
        ("ycsb-a", 10 * 100 + len("user{}") + 20, False),
        ("sysbench-oltp-read-only", 20 + 20 + 119 + 59, False),  # id, k, c, pad
        ("sysbench-oltp-read-write", 20 + 20 + 119 + 59, False),  # inserts what it has deleted
        ("ycsb-d", 10 * 100 + len("user{}") + 20, True),
        ("sysbench-oltp-insert", 20 + 20 + 119 + 59, True),
    ],
)
def test_rows_are_as_wide_as_their_columns(workload: str, per_row: int, grows: bool) -> None:
    asked = request(workload, 1000)
    assert (asked.rows_bytes, load_adds_rows(asked)) == (1000 * per_row, grows)


def test_a_bulk_insert_adds_rows() -> None:
    assert load_adds_rows(request("batch-1-bulk-insert", 1000))


def test_an_endpoint_has_its_rows_elsewhere() -> None:
    assert estimate_disk_bytes(endpoint()) == 0
    assert memory_bytes(endpoint().request) < memory_bytes(request("ycsb-a", 10**6).request)


def has(monkeypatch: pytest.MonkeyPatch, *, disk: float, memory: float) -> None:
    monkeypatch.setattr(room, "read_free_disk_bytes", lambda _: int(disk * GIB))
    monkeypatch.setattr(room, "read_available_memory_bytes", lambda: int(memory * GIB))


# 1,026 bytes each, half over again, and 0.195 GiB: 1.63 GiB
MILLION = ("ycsb-a", 1_000_000)


@pytest.mark.parametrize(
    ("disk", "memory", "at_once", "told"),
    [
        (1.7, 8, 1, None),
        (1.6, 8, 1, "DIR: the rows of this request need 1.63 GiB, and 1.6 GiB are free: ask for"),
        (3.2, 8, 2, "DIR: the rows of 2 requests at once need 3.26 GiB, and 3.2 GiB are free"),
        (3.3, 8, 2, None),
        (9, 0.5, 1, "memory: the database and the clients of this request need"),
    ],
)
def test_where_there_is_no_room_the_folder_the_need_and_what_is_free_are_named(  # noqa: PLR0917
    disk: float,
    memory: float,
    at_once: int,
    told: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    has(monkeypatch, disk=disk, memory=memory)
    asked = [request("ycsb-a", 10), request(*MILLION)]
    if told is None:
        require_room(asked, tmp_path, at_once=at_once)
        return
    with pytest.raises(PlimsollError) as refused:
        require_room(asked, tmp_path, at_once=at_once)
    assert str(refused.value).replace(str(tmp_path), "DIR").startswith(told)


def test_what_is_free_on_a_disk_is_what_an_ordinary_user_may_take(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = SimpleNamespace(f_bavail=3, f_bfree=5, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: place)
    assert read_free_disk_bytes(tmp_path) == 3 * 4096


def test_what_is_free_of_memory_is_no_more_than_there_is() -> None:
    assert (
        0
        < read_available_memory_bytes()
        <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    )
