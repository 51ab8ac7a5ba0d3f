"""A client looks at its target within the window, and never fails for it."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.errors import PlimsollError
from plimsoll.fleet.step import summarize_server_looks
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.fleet import ServerLook, StepPlan
from plimsoll.model.run.results import ServerLooks
from plimsoll.workflow import client as module
from plimsoll.workflow.client import sample_server

MYSQL = parse_dsn("mysql://u:p@127.0.0.1:1/d")
CASSANDRA = parse_dsn("cassandra://127.0.0.1:1/k")


def planned() -> StepPlan:
    """A step whose window has just begun, and is long."""
    return StepPlan(
        index=1, purpose="climb", why="", clients=1, connections=1, rate_ops_per_second=None,
        warmup_s=0, duration_s=600, timeout_ms=1000, seed=1, recovered=None, server_before=None,
        start_at_epoch_ms=round(time.time() * 1000),
    )  # fmt: skip


class Shown:
    """A server that shows so many moments, and is gone then."""

    def __init__(self, *looks: ServerLook) -> None:
        self.looks = iter(looks)

    def look(self) -> ServerLook:
        try:
            return next(self.looks)
        except StopIteration:
            raise PlimsollError("gone") from None


def showing(monkeypatch: pytest.MonkeyPatch, *looks: ServerLook) -> None:
    @contextmanager
    def opened(_: object) -> Iterator[Shown]:
        yield Shown(*looks)

    monkeypatch.setattr(module, "open_watcher", opened)
    monkeypatch.setattr(module, "EVERY_MOST_S", 0.0)


def looks_of(target: EngineTarget) -> list[ServerLook]:
    before = set(threading.enumerate())
    with sample_server(target, planned()) as looks:
        for thread in set(threading.enumerate()) - before:
            thread.join(30)
    return looks


def test_it_looks_until_the_server_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = [ServerLook(table_lock_waiters=n) for n in (1, 2)]
    showing(monkeypatch, *seen)
    assert looks_of(MYSQL) == seen


def test_a_target_that_cannot_be_reached_is_not_looked_at() -> None:
    assert looks_of(MYSQL) == []


def test_nothing_is_asked_of_a_cassandra() -> None:
    assert looks_of(CASSANDRA) == []


def test_looks_come_to_means_and_a_median() -> None:
    looks = [
        ServerLook(row_lock_waiters=3, table_lock_waiters=1, checkpoint_share=0.9),
        ServerLook(row_lock_waiters=0, table_lock_waiters=1, checkpoint_share=0.8),
        ServerLook(checkpoint_share=0.1),
    ]
    assert summarize_server_looks(looks) == ServerLooks(
        looks=3, row_lock_waiters=1.5, table_lock_waiters=1.0, checkpoint_share=0.8
    )
    assert summarize_server_looks([ServerLook()]) == ServerLooks(
        looks=1, row_lock_waiters=None, table_lock_waiters=None, checkpoint_share=None
    )
    assert summarize_server_looks([]) is None


def test_a_look_that_is_not_answered_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stalled:
        """A server that answers nothing until its connection is ended."""

        cut = threading.Event()
        looked = threading.Event()

        def look(self) -> ServerLook:
            self.looked.set()
            self.cut.wait(30)
            raise PlimsollError("gone")

        def cut_off(self) -> None:
            self.cut.set()

    @contextmanager
    def opened(_: object) -> Iterator[Stalled]:
        yield Stalled()

    monkeypatch.setattr(module, "open_watcher", opened)
    monkeypatch.setattr(module, "LEAVE_S", 0.05)
    before = set(threading.enumerate())
    with sample_server(MYSQL, planned()) as looks:
        assert Stalled.looked.wait(30)
    assert Stalled.cut.is_set()
    for thread in set(threading.enumerate()) - before:
        thread.join(30)
        assert not thread.is_alive()
    assert looks == []
