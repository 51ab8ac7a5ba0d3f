"""A toggle on one machine: a real server restarted on its own files, and nothing left of it."""

import os
import signal
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.local.runner import LocalRun
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import ANSWERED, Bench, measured, tiny, wait_until, why

TOGGLE: dict[str, Any] = {
    "states": [
        {"name": "doublewrite-on", "parameters": {"innodb_doublewrite": "ON"}},
        {"name": "doublewrite-off", "parameters": {"innodb_doublewrite": "OFF"}},
    ],
    "pairs": 3,
    "restart": "always",
}
QUICK: dict[str, Any] = {"toggle": TOGGLE, "search__open_loop_probe": False, **ANSWERED}


def status(run: LocalRun) -> str:
    name = f"plimsoll-{run.run_id}"
    (found,) = clients.rds().describe_db_instances(DBInstanceIdentifier=name)["DBInstances"]
    return found["DBInstanceStatus"]


def test_both_states_are_measured_on_one_dataset(bench: Bench) -> None:
    run = bench.start(tiny("toggle", **QUICK))
    _, result = bench.succeed(run)
    # a step that was not judged is repeated in the same state
    toggled = [step.plan for step in measured(result) if step.plan.purpose == "toggle"]
    order = [plan.state for plan in toggled]
    assert order[:4] == ["doublewrite-on", "doublewrite-off", "doublewrite-off", "doublewrite-on"]
    assert {(plan.state, plan.parameters["innodb_doublewrite"]) for plan in toggled} == {
        ("doublewrite-on", "ON"),
        ("doublewrite-off", "OFF"),
    }
    assert result.toggle is not None
    assert result.toggle.throughput.pairs == 3, result.toggle.detail
    assert result.toggle.throughput.low is not None
    says = [state.server_says for state in result.toggle.states]
    assert says == [{"innodb_doublewrite": "ON"}, {"innodb_doublewrite": "OFF"}]


@pytest.mark.whole  # tests/aws/runs/test_switch_target.py
def test_a_running_server_takes_what_is_dynamic(bench: Bench) -> None:
    states = [
        {"name": "flush", "parameters": {"innodb_flush_log_at_trx_commit": 1}},
        {"name": "no-flush", "parameters": {"innodb_flush_log_at_trx_commit": 2}},
    ]
    toggle = {"states": states, "pairs": 3}
    _, result = bench.succeed(bench.start(tiny("toggle-dynamic", **{**QUICK, "toggle": toggle})))
    assert result.toggle is not None
    assert result.toggle.throughput.pairs == 3, result.toggle.detail
    says = [state.server_says["innodb_flush_log_at_trx_commit"] for state in result.toggle.states]
    assert says == ["1", "2"]
    uptimes = [step.server.gauges["Uptime"] for step in result.steps if step.server]
    assert uptimes == sorted(uptimes), "it was restarted"


@pytest.mark.whole  # tests/local/volumes/test_read_cache.py
def test_a_read_cache_is_switched_while_the_server_runs(bench: Bench) -> None:
    states = [
        {"name": name, "parameters": {"apsaradb.buffer_pool_extension": value}}
        for name, value in (("without", "OFF"), ("with", "ON"))
    ]
    volume = {"cloud": "alibaba", "type": "premium-essd", "size_gib": 400, "read_cache_mib": 16}
    asked = {**QUICK, "toggle": {"states": states, "pairs": 3}, "target__volume": volume}
    _, result = bench.succeed(bench.start(tiny("toggle-read-cache", **asked)))
    assert result.toggle is not None
    assert result.toggle.throughput.pairs == 3, result.toggle.detail
    assert result.volume_limits is not None
    assert result.volume_limits.baseline_iops == 21_800
    uptimes = [step.server.gauges["Uptime"] for step in result.steps if step.server]
    assert uptimes == sorted(uptimes), "it was restarted"


@pytest.mark.whole  # MariaDB is
def test_postgres_is_restarted_too(bench: Bench) -> None:
    states = [
        {"name": "whole-pages", "parameters": {"full_page_writes": "on"}},
        {"name": "no-whole-pages", "parameters": {"full_page_writes": "off"}},
    ]
    postgres = {"target__engine": "postgres", "target__engine_version": "18"}
    asked = {**QUICK, **postgres, "toggle": {**TOGGLE, "states": states}}
    _, result = bench.succeed(bench.start(tiny("toggle-postgres", **asked)))
    assert result.toggle is not None
    assert result.toggle.throughput.pairs == 3, result.toggle.detail
    says = [state.server_says for state in result.toggle.states]
    assert says == [{"full_page_writes": "on"}, {"full_page_writes": "off"}]


@pytest.mark.whole  # test_endings.py stops one whose target is being made
def test_it_is_stopped_while_its_server_is_being_restarted(bench: Bench) -> None:
    """The server stands still, and so does its shutdown; the deletion does not wait for it."""
    run = bench.start(tiny("toggle-stop", **QUICK), hold=["switch-target"])
    gate = bench.gate("switch-target", run)
    gate.await_arrival()
    database = bench.database(run)
    os.kill(database.pid, signal.SIGSTOP)
    gate.open()
    wait_until(lambda: status(run) == "rebooting", "the restart is under way")
    run.stop()
    record, _ = bench.end(run)
    assert record.state is RunState.STOPPED, why(record)


@pytest.mark.whole  # tests/aws/runs/test_switch_target.py
def test_a_server_that_does_not_start_again_is_told(bench: Bench) -> None:
    states = [
        {"name": "good", "parameters": {"innodb_flush_method": "fsync"}},
        {"name": "bad", "parameters": {"innodb_flush_method": "no-such-method"}},
    ]
    run = bench.start(tiny("toggle-bad", **{**QUICK, "toggle": {**TOGGLE, "states": states}}))
    record, result = bench.end(run)
    assert record.state is RunState.SUCCEEDED, why(record)  # the answer was there before the pairs
    assert result.capacity is not None
    assert result.capacity.max_sustainable_throughput_ops_per_second is not None
    assert result.toggle is not None
    assert (result.toggle.throughput.ratio, result.toggle.throughput.pairs) == (None, 0)
    assert "incompatible-parameters" in result.toggle.detail
    assert "MariaDB did not start" in result.toggle.detail
