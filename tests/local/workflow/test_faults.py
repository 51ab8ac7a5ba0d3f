"""Whatever goes wrong, nothing is left running, and the run tells what happened."""

import errno
import io
import json
import time
from collections.abc import Callable

import psutil
import pymysql
import pytest
from rich.console import Console

from plimsoll.aws import clients
from plimsoll.cli.progress import RunProgress
from plimsoll.errors import UsageError
from plimsoll.local.faults import Faults
from plimsoll.local.runner import LocalRun
from plimsoll.model.aws.volume_rules import Fail
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.request.request import Fault
from plimsoll.model.run.fleet import FailedClient
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import (
    Bench,
    ended,
    hold_until_the_end,
    measured,
    tiny,
    wait_until,
    why,
)

LONG_STEP = {"load__warmup_s": 1, "load__duration_s": 6}  # longer than a machine stands still


def failed_client(result: RunResult, cause: str) -> FailedClient:
    """Find the client that failed for a reason: its step decides nothing, and is measured again.

    Mostly that is step 1; on a busy machine a client can come too late for a step besides.
    """
    (found,) = [
        (step, client)
        for step in result.steps
        for client in step.fleet.failed
        if cause in client.cause
    ]
    step, client = found
    assert (step.fleet.planned, step.fleet.ran) == (2, 2 - len(step.fleet.failed))
    assert result.capacity is not None
    assert any(note.startswith(f"step {step.plan.index} ") for note in result.capacity.notes)
    assert any(again.fleet.ran == 2 for again in result.steps[step.plan.index :])
    return client


def while_the_other_ran(once: Callable[[], RunResult], cause: str) -> RunResult:
    """Do a run in which one of two clients fails, again where the machine hindered the other, too.

    Args:
        once: Does it.
        cause: What it failed for.
    """
    for _ in range(4):
        result = once()
        of_both = [step.fleet for step in result.steps if len(step.fleet.failed) == 2]
        if not any(cause in client.cause for fleet in of_both for client in fleet.failed):
            break
    return result


def rows_of(run: LocalRun) -> int:
    """Count the rows that a run's target holds by now."""
    target = run.look().record.target
    assert target is not None
    assert target.secret_arn is not None
    secret = clients.secretsmanager().get_secret_value(SecretId=target.secret_arn)
    account = json.loads(secret["SecretString"])
    with (
        pymysql.connect(
            host=target.host,
            port=target.port,
            user=account["username"],
            password=account["password"],
            database=target.database,
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("SELECT COUNT(*) FROM usertable")
        return int(cursor.fetchall()[0][0])


def test_a_target_that_cannot_be_created(bench: Bench) -> None:
    run = bench.start(tiny("impossible", target__parameters={"no_such_parameter": 1}))
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == "provision"
    assert result.failure.error == "TargetCreationError"
    assert "no_such_parameter" in result.failure.cause


@pytest.mark.whole  # tests/faults kills it in each phase
def test_the_database_dies_while_the_dataset_is_loaded(bench: Bench) -> None:
    """When the first of two parts is in it, and the second is about to be."""
    run = bench.start(tiny("load-fails", workload__records=20_000), hold=["load-dataset-1"])
    gate = bench.gate("load-dataset-1", run)
    gate.await_arrival()
    wait_until(lambda: rows_of(run) == 10_000, "the first part is loaded")
    wait_until(lambda: bench.running("load-dataset") == 1, "whoever loaded it has said so")
    bench.database(run).kill()
    gate.open()
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert (result.failure.phase, result.failure.error) == ("prepare", "DatasetError")
    assert "1 part of the dataset could not be loaded; the first: " in result.failure.cause


def test_the_disk_fills(bench: Bench) -> None:
    """The server says so to whoever asks, or dies of a write of its own and says so in its log."""
    asked = tiny("disk-full", workload__records=20_000)
    run = bench.start(asked, hold=["create-schema", "delete-target"])
    schema, deletion = bench.gate("create-schema", run), bench.gate("delete-target", run)
    schema.await_arrival()
    database = bench.database(run)
    with database.volume as volume:
        volume.inject(Fail(error="ENOSPC"))
    schema.open()
    deletion.await_arrival()
    said = "".join(log.read_text() for log in database.directory.rglob("server.log"))
    deletion.open()
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == "prepare"
    died = "connect" in result.failure.cause  # or: connection
    told = said if died else result.failure.cause
    assert "No space left on device" in told or f"operating system error {errno.ENOSPC}" in told


def test_the_database_is_killed_during_a_step(bench: Bench) -> None:
    run = bench.start(tiny("database-killed", **LONG_STEP), hold=["freeze-load-client-0"])
    client = bench.gate("freeze-load-client-0", run).await_frozen()
    bench.database(run).kill()
    client.resume()
    record, result = bench.end(run)
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert result.failure.phase == "step"
    told = f"the target does not answer after step {len(result.steps)}"  # an earlier one was void
    assert told in result.failure.cause
    assert result.capacity is None


def test_a_clients_process_is_killed(bench: Bench) -> None:

    def killed() -> RunResult:
        asked = tiny("client-killed", search__clients=[2], **LONG_STEP)
        run = bench.start(asked, hold=["freeze-load-client-0"])
        gate = bench.gate("freeze-load-client-0", run)
        client = gate.await_frozen()
        gate.open()  # when its load is measured again, nothing freezes it
        client.kill()
        return bench.end(run)[1]

    result = while_the_other_ran(killed, "signal: killed")
    assert failed_client(result, "signal: killed").client == 0


@pytest.mark.whole  # a client that is killed is missing as well
def test_a_client_never_starts(bench: Bench) -> None:
    def missing() -> RunResult:
        asked = tiny("client-missing", search__clients=[2], **LONG_STEP)
        run = bench.start(asked, hold=["load-client-1"])
        hold_until_the_end(bench.gate("load-client-1", run), run, step=1)
        return bench.end(run)[1]

    result = while_the_other_ran(missing, "")
    first = result.steps[0].fleet
    assert (first.planned, first.ran) == (2, 1)
    failed = failed_client(result, first.failed[0].cause)
    assert (failed.client, failed.error) == (1, "ClientTooLateError")
    assert "after the barrier" in failed.cause


def test_a_client_runs_past_its_time_out(bench: Bench) -> None:
    """Lambda kills it in the midst of its load, and no load outlives its step."""
    functions = bench.twin.client("lambda")
    limit_s = FUNCTIONS["load-client"].timeout_s
    functions.update_function_configuration(FunctionName="load-client", Timeout=8)
    try:
        run = bench.start(tiny("client-too-long", load__duration_s=60), hold=["load-client-0"])
        gate = bench.gate("load-client-0", run)
        pid = gate.await_arrival()
        gate.open()
        record, result = bench.end(run)
    finally:
        functions.update_function_configuration(FunctionName="load-client", Timeout=limit_s)
    wait_until(lambda: not psutil.pid_exists(pid), "it is dead")  # its caller knows a moment before
    assert record.state is RunState.FAILED, why(record)
    assert result.failure is not None
    assert (result.failure.phase, result.failure.error) == ("step", "StepError")
    assert "no client of step 1 ran: client 0 failed: " in result.failure.cause
    assert "Task timed out after 8.00 seconds" in result.failure.cause
    (failed,) = result.steps[0].fleet.failed
    assert failed.client == 0
    assert result.steps[0].step.throughput_ops_per_second is None


def test_a_database_that_refuses_its_deletion_is_asked_until_it_lets_go(bench: Bench) -> None:
    """More often than the workflow repeats a state that failed."""
    asked = tiny("refuses-deletion")
    run = bench.start(asked, hold=["conclude"])
    gate = bench.gate("conclude", run)
    gate.await_arrival()
    identifier = bench.database(run).identifier
    bench.twin.protect(identifier)
    gate.open()
    stack = run.look().record.stack_name

    def refused() -> int:
        events = clients.cloudformation().describe_stack_events(StackName=stack)["StackEvents"]
        return sum(
            event["ResourceStatus"] == "DELETE_FAILED" and event["LogicalResourceId"] == stack
            for event in events
        )

    try:
        wait_until(lambda: refused() >= 8 or ended(run), "it has refused eight times")
        now = run.look()
    finally:
        bench.twin.protect(identifier, protected=False)
    assert now.record.state is RunState.STOPPING, why(now.record)
    reason = "the target could not be deleted: Cannot delete protected DB Instance"
    assert now.record.teardown_error == reason
    shown = io.StringIO()
    RunProgress(asked, Console(file=shown)).show(now)
    assert f"teardown: {reason}\n" in shown.getvalue()
    record, result = bench.succeed(run)
    assert record.teardown_error is None
    assert result.state is RunState.SUCCEEDED


@pytest.mark.whole  # two cells of an experiment go at once
def test_two_runs_at_once_do_not_disturb_each_other(bench: Bench) -> None:
    runs = [bench.start(tiny(f"at-once-{n}"), hold=["create-schema"]) for n in (1, 2)]
    gates = [bench.gate("create-schema", run) for run in runs]
    for gate in gates:
        gate.await_arrival()
    databases = [bench.database(run) for run in runs]
    assert len({database.port for database in databases}) == 2
    assert len({database.directory for database in databases}) == 2
    for gate in gates:
        gate.open()
    for run in runs:
        _, result = bench.succeed(run)
        assert result.run_id == run.run_id
        for step in measured(result):
            assert step.server is not None
            assert step.server.statements_by_clients == step.server.statements_by_server


@pytest.mark.whole  # test_contract.py sends one eight times at once
def test_one_idempotency_key_is_one_run(bench: Bench) -> None:
    request = tiny("once")
    first = bench.start(request, key="monday")
    second = bench.start(request, key="monday")
    assert first.run_id == second.run_id
    with pytest.raises(UsageError, match="used for another request"):
        bench.start(tiny("twice"), key="monday")
    record, _ = bench.succeed(first)
    third = bench.start(request, key="monday")  # long after: still the same run
    assert third.look().record == record
    pages = bench.twin.client("stepfunctions").get_paginator("list_executions")
    machine = bench.twin.state_machine_arn("run")
    executions = [
        one["name"]
        for page in pages.paginate(stateMachineArn=machine)
        for one in page["executions"]
    ]
    assert executions.count(first.run_id) == 1


def test_a_request_can_ask_for_a_fault(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A volume that stalls for a while is seen in the latencies of its step."""
    injected_at: list[float] = []
    inject = Faults._inject

    def timed(faults: Faults, fault: Fault) -> None:
        inject(faults, fault)
        injected_at.append(time.time())

    monkeypatch.setattr(Faults, "_inject", timed)
    stall = {"step": 1, "after_s": 1.5, "volume": {"kind": "stall", "duration_s": 4}}
    asked = {"load__warmup_s": 1, "load__duration_s": 10}
    for _ in range(4):
        _, result = bench.end(bench.start(tiny("stalls", faults=[stall], **asked)))
        first = result.steps[0]
        # its clock is this process's, which may have stood still for the rest of the window
        if first.step.void is None and injected_at[-1] + 4 < first.plan.window_end_epoch_ms / 1000:
            break
    longest = first.operations["update"].latency_us.max
    assert longest is not None
    assert longest > 1_000_000  # it need not be under way when the stall begins
