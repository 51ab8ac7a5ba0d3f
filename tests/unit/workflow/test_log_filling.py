"""The load that fills a server's log before a window, and keeps it so until it is told to end."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from plimsoll.model.engine.asked import EngineWorkload, LoadSpec, OpenLoop
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.run.fleet import ServerLook
from plimsoll.workflow import log_filling as module
from plimsoll.workflow.log_filling import LogFilling, make_fill_spec

EMPTY = EngineWorkload(key_spaces=(), operations=())
SPEC = LoadSpec(
    target=parse_dsn("mysql://u:p@127.0.0.1:1/d"),
    workload=EMPTY,
    connections=4,
    loop=OpenLoop(rate_ops_per_second=10),
    warmup_s=30,
    duration_s=60,
    client_index=3,
    client_count=9,
    start_at_epoch_ms=1,
)


class Token:
    """Ends a load."""

    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        self.cancelled.set()


class FakeEngine:
    """Loads that send 100 statements each, until they are cancelled."""

    CancelToken = Token
    EngineError = RuntimeError

    def __init__(self, *, refuses: bool = False) -> None:
        self.refuses, self.runs = refuses, 0

    def run(self, _: str, on_second: Callable[[str], None], token: Token) -> str:
        self.runs += 1
        if self.refuses:
            raise RuntimeError("Too many connections")
        on_second('[{"succeeded": 50}]')
        token.cancelled.wait()
        return json.dumps(
            {
                "statements_sent": 100,
                "transaction_commands_sent": 20,
                "connection_report": {"opened": 3},
            }
        )


class Levels:
    """A server whose log is so full at each look; it stays at the last level."""

    def __init__(self, levels: Sequence[float | None]) -> None:
        self.levels, self.looked, self.all_seen = levels, 0, threading.Event()

    def look(self) -> ServerLook:
        level = self.levels[min(self.looked, len(self.levels) - 1)]
        self.looked += 1
        if self.looked > len(self.levels):
            self.all_seen.set()
        if level is None:
            return ServerLook()
        debt = WriteDebt(owed_bytes=round(1000 * level), limit_bytes=1000, written_bytes=0)
        return ServerLook(debt=debt)

    def cut_off(self) -> None:
        """Do nothing: no look of it lasts."""


def filling(
    monkeypatch: pytest.MonkeyPatch, server: Levels, engine: FakeEngine, longest_s: float = 600
) -> LogFilling:
    @contextmanager
    def opened(_: object) -> Iterator[Levels]:
        yield server

    monkeypatch.setattr(module, "open_watcher", opened)
    monkeypatch.setattr(module, "plimsoll_engine", engine)
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    made = LogFilling(SPEC, longest_s)
    made.start()
    return made


def test_a_log_is_filled_and_kept_so_until_the_load_that_is_measured_begins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine, server = FakeEngine(), Levels([0.1, 0.5, 0.85, 0.6, 0.9])
    load = filling(monkeypatch, server, engine)
    load.filled.wait()
    server.all_seen.wait()
    load.end_at(0.0)
    assert load.join() == 200  # once to fill it, and once more after it had drained
    assert engine.runs == 2
    assert load.other_statements == 2 * (20 + 4 * 3) + 2 * server.looked


@pytest.mark.parametrize(
    ("levels", "engine"),
    [([None], FakeEngine()), ([0.1], FakeEngine(refuses=True))],
    ids=["debt cannot be read", "no connection is left"],
)
def test_nothing_is_waited_for_where_no_log_can_be_filled(
    levels: list[float | None], engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = filling(monkeypatch, Levels(levels), engine)
    load.filled.wait()
    assert load.join() == 0


def test_a_log_that_takes_too_long_is_filled_as_far_as_possible(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    load = filling(monkeypatch, Levels([0.1]), FakeEngine(), longest_s=0)
    load.filled.wait()
    load.end_at(0.0)
    assert load.join() == 100


def test_a_server_that_cannot_be_reached_delays_no_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "plimsoll_engine", SimpleNamespace(EngineError=RuntimeError))
    load = LogFilling(SPEC, 600)
    load.start()
    load.filled.wait()
    assert load.join() == 0


def test_the_load_that_fills_is_heavy_and_inserts_rows_of_its_own() -> None:
    own = EngineWorkload(key_spaces=(), operations=())
    spec = make_fill_spec(SPEC, own, 32)
    assert spec.workload is own
    assert (spec.connections, spec.loop.kind, spec.warmup_s) == (32, "closed", 0)
    assert (spec.client_index, spec.client_count, spec.start_at_epoch_ms) == (0, 1, None)
