"""Seconds as load clients tell them over the loopback interface, while somebody looks."""

import json
import socket
import stat
import time
from pathlib import Path

import pytest

from plimsoll.local.seconds import SecondsListener
from plimsoll.workflow.client import FILE, VARIABLE, SecondsAddress, open_second_sender
from tests.support.live_run import running_look

PLAN = running_look(4).plan
SECOND = json.dumps(
    [
        {
            "second": 1,
            "operation": "read",
            "succeeded": 7,
            "errors": 1,
            "p50_us": 1,
            "p99_us": 1,
            "max_us": 1,
            "buckets": {"1": 7},
        }
    ]
)


@pytest.fixture(autouse=True)
def told_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / FILE))


def is_told() -> bool:
    assert PLAN is not None
    with open_second_sender("r-1", PLAN, 0) as tell:
        return tell is not None


def test_nobody_looks_nobody_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not is_told()
    listener = SecondsListener(tmp_path)
    with listener.reading("r-1"):
        assert is_told()
    assert not is_told()
    assert not (tmp_path / FILE).exists()
    monkeypatch.delenv(VARIABLE)  # as on AWS
    with listener.reading("r-1"):
        assert not is_told()


def test_a_second_that_is_told_is_read(tmp_path: Path) -> None:
    assert PLAN is not None
    listener = SecondsListener(tmp_path)
    with listener.reading("r-1") as seconds, listener.reading("r-2") as others:
        with open_second_sender("r-1", PLAN, 3) as tell:
            assert tell is not None
            tell(SECOND)
        told = seconds()
        while not told:  # it comes by the network
            told = seconds()
        assert others() == []
    [second] = told
    assert (second.step, second.clients_told, second.clients) == (5, 1, PLAN.clients)
    assert second.operations["read"].succeeded == 7


def test_an_empty_datagram_of_another_process_ends_nothing(tmp_path: Path) -> None:
    assert PLAN is not None
    listener = SecondsListener(tmp_path)
    with listener.reading("r-1") as seconds, socket.socket(type=socket.SOCK_DGRAM) as other:
        port = SecondsAddress.model_validate_json((tmp_path / FILE).read_bytes()).port
        other.sendto(b"", ("127.0.0.1", port))
        with open_second_sender("r-1", PLAN, 3) as tell:
            assert tell is not None
            tell(SECOND)
        deadline = time.monotonic() + 10
        while not (told := seconds()) and time.monotonic() < deadline:
            time.sleep(0.01)
    assert len(told) == 1


def test_the_file_is_there_while_anybody_looks(tmp_path: Path) -> None:
    listener = SecondsListener(tmp_path)
    with listener.reading("r-1"):
        with listener.reading("r-1"):
            port = SecondsAddress.model_validate_json((tmp_path / FILE).read_bytes()).port
        assert SecondsAddress.model_validate_json((tmp_path / FILE).read_bytes()).port == port
        assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600  # its key is no other user's


def test_what_comes_from_others_is_left_out(tmp_path: Path) -> None:
    listener = SecondsListener(tmp_path)
    with listener.reading("r-1") as seconds:
        key = SecondsAddress.model_validate_json((tmp_path / FILE).read_bytes()).key
        good = {
            "key": key,
            "run_id": "r-1",
            "step": 1,
            "start_at_epoch_ms": 0,
            "clients": 1,
            "client": 0,
            "second": SECOND,
        }
        for wrong in (
            {"key": "guessed"},
            {"key": ""},
            {"second": "[]x"},
            {"second": '[{"second": "1"}]'},
            {"step": "1"},
            {"extra": 1},
        ):
            listener.take(json.dumps(good | wrong).encode())
        listener.take(b"\xff\x00 not json")
        assert seconds() == []
        listener.take(json.dumps(good).encode())
        assert len(seconds()) == 1
