"""`plimsoll versus`, as its user calls it, on a real PostgreSQL: pairs of loads, and one answer."""

import json
import os
import re
from collections.abc import Callable
from math import isclose

import pytest

from plimsoll.load_line import versus
from plimsoll.load_line.find import Asked, Caller, Outcome
from plimsoll.load_line.versus import VersusResult
from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.model.engine.answered import LoadReport
from tests.support.command import BESIDE_OTHERS, Output
from tests.support.synthetic_run import synthetic_run

LOAD = ["--connections", "1", "--warmup", "0", "--duration", "1", "--seed", "3"]


def test_two_targets_are_loaded_in_turn_and_compared(
    plimsoll: Callable[..., Output], postgres_factory: Callable[..., PostgresServer]
) -> None:
    dsn = postgres_factory().dsn
    code, _, err = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert code == 0, err
    call = ["versus", dsn, dsn, "--workload", "ycsb-c", *LOAD, "--pairs-max", "2"]
    code, text, err = plimsoll(*call, "--json")
    # two pairs decide nothing: their interval is unlimited
    assert code == 3, err
    result = VersusResult.model_validate(json.loads(text))
    assert (len(result.pairs), result.outcome, result.low) == (2, "not decided", None)
    assert result.servers[0] == result.servers[1]
    first, *told = err.splitlines()
    assert first == "in turns: both are one server"
    assert sorted(line[0] for line in told) == ["A", "A", "B", "B"]
    code, _, err = plimsoll(*call, "--order", "together")
    assert code == 2
    assert "--order: the two loads would not be apart: both are one server" in err
    code, text, err = plimsoll(*call, "--rate", "100")
    assert code == 3, err
    assert text.startswith("not decided: B has ")
    assert "times the mean latency of A (too few pairs for an interval, 2 pairs in turns)" in text


def test_a_target_that_cannot_be_loaded_is_named_before_the_other_one_is_loaded(
    plimsoll: Callable[..., Output], postgres_factory: Callable[..., PostgresServer]
) -> None:
    dsn = postgres_factory().dsn
    prepared = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert prepared[0] == 0
    other = dsn.rpartition("/")[0] + "/template1"
    code, _, err = plimsoll("versus", dsn, other, "--workload", "ycsb-c", *LOAD)
    assert code == 1
    assert err.startswith("plimsoll: B: there is no dataset 'ycsb' in the database template1")


def test_loads_at_the_same_time_have_one_window(
    monkeypatch: pytest.MonkeyPatch,
    plimsoll: Callable[..., Output],
    postgres_factory: Callable[..., PostgresServer],
) -> None:
    """On a machine of any size: both clients share its processors here."""
    windows: list[tuple[LoadReport, LoadReport]] = []
    monkeypatch.setattr(versus, "explain_sharing", lambda *_: None)
    monkeypatch.setattr(versus, "divide_cores", lambda *_: (os.sched_getaffinity(0),) * 2)
    monkeypatch.setattr(versus, "require_common_window", lambda *both: windows.append(both))
    dsn = postgres_factory().dsn
    prepared = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert prepared[0] == 0
    call = ["versus", dsn, dsn, "--workload", "ycsb-c", *LOAD, "--pairs-max", "2", "--json"]
    code, text, err = plimsoll(*call)
    assert code == 3, err
    result = VersusResult.model_validate(json.loads(text))
    assert (result.order, result.order_why, len(result.pairs)) == ("together", None, 2)
    assert len(windows) == 2
    for first, second in windows:
        assert first.window_end_epoch_ms == second.window_end_epoch_ms
        assert isclose(first.window_s, 1.0, abs_tol=first.late_start_ms / 1000 + 0.01)


def test_each_target_is_loaded_at_its_own_load_line(
    monkeypatch: pytest.MonkeyPatch,
    plimsoll: Callable[..., Output],
    postgres_factory: Callable[..., PostgresServer],
) -> None:
    """The searches are not real: on a busy machine they find no answer."""
    searched: list[str] = []

    def find(asked: Asked, _: Caller) -> Outcome:
        searched.append(f"{asked.options.quick} {asked.options.limits} {asked.options.records}")
        result, seconds = synthetic_run(knee=len(searched) + 0.2)
        return Outcome(result, seconds, None)

    monkeypatch.setattr(versus, "find", find)
    dsn = postgres_factory().dsn
    prepared = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert prepared[0] == 0
    call = ["versus", dsn, dsn, "--workload", "ycsb-c", "--warmup", "0", "--duration", "0.2"]
    code, text, err = plimsoll(
        *call, "--load-lines", "--limit", "9ms", "--pairs-max", "2", "--records", "100", "--json"
    )
    assert code == 3, err
    result = VersusResult.model_validate(json.loads(text))
    assert searched == ["True {'': '9ms'} 100"] * 2
    assert result.connections == (8, 16)
    assert result.load_lines is not None
    assert [line.clients for line in result.load_lines] == [1, 2]


@pytest.mark.whole  # a search
def test_a_target_without_a_load_line_is_named_with_its_verdict(
    plimsoll: Callable[..., Output], postgres_factory: Callable[..., PostgresServer]
) -> None:
    dsn = postgres_factory().dsn
    prepared = plimsoll("prepare", "--dsn", dsn, "--workload", "ycsb-c", "--records", "100")
    assert prepared[0] == 0
    call = ["versus", dsn, dsn, "--workload", "ycsb-c", "--load-lines", "--limit", "1us"]
    code, _, err = plimsoll(*call, "--max-connections", "2", *BESIDE_OTHERS)
    assert code == 1
    assert re.search(r"^plimsoll: A: its search has no load line: [A-Z_]+: ", err, re.MULTILINE)
