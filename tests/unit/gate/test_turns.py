"""Which operations a turn sends, without a server."""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import pytest

import plimsoll_engine
from plimsoll.gate import turns
from plimsoll.gate.states import Copy, StateSetup
from plimsoll.gate.turns import Extent, measure_states
from plimsoll.model.engine.answered import ConnectionReport, LoadReport, SelfReport
from plimsoll.model.engine.asked import EngineTarget, LoadSpec
from plimsoll.model.gate import Setting
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.workload import load_workload

DSN = "mysql://bench:x@127.0.0.1/shop"


class Quiet:
    """A server that does nothing of its own, and counts nothing."""

    def checkpoint(self, copy: EngineTarget) -> None:
        del copy

    def settle(self, copy: EngineTarget, *, longest_s: float) -> bool:
        del copy, longest_s
        return True

    def defer_purge(self, copy: EngineTarget) -> AbstractContextManager[None]:
        del copy
        return nullcontext()

    def totals(self, copy: EngineTarget) -> dict[str, float]:
        del copy
        return {"commits": 0.0}


def answer(spec: LoadSpec) -> str:
    report = LoadReport(
        engine_version="1", window_start_epoch_ms=0, window_end_epoch_ms=1000, window_s=1,
        late_start_ms=0, connections=1, threads=1, rate_ops_per_second=None, operations={},
        seconds=(), error_examples={}, statements_sent=1, transaction_commands_sent=0,
        connection_report=ConnectionReport(opened=1, replaced=0, failed={}),
        operations_sent=spec.operations_limit or 0, ended="operations",
        client=SelfReport(
            cpu_user_s=0, cpu_system_s=0, cpu_us_per_operation=None, busy_fraction=None,
            send_lateness_us=None, backlog_max=None, backlog_end=None, unsent=None, unanswered=0,
            oldest_unanswered_us=None,
        ),
    )  # fmt: skip
    return report.model_dump_json()


@pytest.fixture
def specs(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[LoadSpec]]:
    """Measure three pairs of two states; return what each one's engine was asked to send."""
    workload = load_workload("ycsb-b")
    states = tuple(
        StateSetup(name, DSN, parse_dsn(DSN), workload, {}, records=50)
        for name in ("before", "after")
    )
    asked: dict[str, list[LoadSpec]] = defaultdict(list)
    running: list[str] = []

    @contextmanager
    def make_copy(state: StateSetup, _counter: Quiet) -> Iterator[Copy]:
        yield Copy(state.target, state.compile(), ())

    @contextmanager
    def open_counter(_target: EngineTarget) -> Iterator[Quiet]:
        yield Quiet()

    def run(text: str) -> str:
        spec = LoadSpec.model_validate(json.loads(text))
        asked[running[-1]].append(spec)
        return answer(spec)

    def read_setting(copy: Copy, _counter: Quiet, extent: Extent) -> Setting:
        return Setting(
            server="11.4", protocol="mysql", workload=copy.compiled.name, dataset="", records=50,
            parameters={}, layout=(), server_settings={}, operations=extent.operations,
            connections=1, seed=extent.seed,
        )  # fmt: skip

    monkeypatch.setattr(turns, "make_copy", make_copy)
    monkeypatch.setattr(turns, "open_work_counter", open_counter)
    monkeypatch.setattr(turns, "_read_setting", read_setting)
    monkeypatch.setattr(plimsoll_engine, "run", run)
    extent = Extent(pairs=3, operations=100, connections=1, seed=7)
    measure_states(states, extent, lambda state, _pair: running.append(state))
    return asked


def turns_of(specs: Sequence[LoadSpec]) -> list[list[tuple[int, tuple[str, ...]]]]:
    """Return the seeds and operations of each of three turns, in the order of their blocks."""
    sent = [(spec.seed, tuple(one.name for one in spec.workload.operations)) for spec in specs]
    length = len(sent) // 3
    return [sent[start : start + length] for start in range(0, len(sent), length)]


def test_both_turns_of_a_pair_send_the_same_operations(specs: dict[str, list[LoadSpec]]) -> None:
    assert turns_of(specs["before"]) == turns_of(specs["after"])


def test_each_block_and_each_pair_sends_operations_of_its_own(
    specs: dict[str, list[LoadSpec]],
) -> None:
    seeds = [spec.seed for spec in specs["before"]]
    assert len(seeds) == len(set(seeds)) == 3 * 3 * 3  # pairs, blocks and their parts


def test_the_mix_comes_last(specs: dict[str, list[LoadSpec]]) -> None:
    for turn in turns_of(specs["before"]):
        assert [len(names) for _, names in turn] == [1] * 6 + [2] * 3
