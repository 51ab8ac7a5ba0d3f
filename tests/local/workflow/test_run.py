"""A run on one machine, from the request to the files."""

import json
from pathlib import Path

import pytest

from plimsoll.aws.run_files import client_path, plan_path, step_path, unpack_file
from plimsoll.aws.run_records import records_of
from plimsoll.capacity.steps.audits import audit_escapes
from plimsoll.databases.load_user import LOAD_USER, derive_load_password
from plimsoll.local.runner import make_twin_settings
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, measured, tiny, wait_until
from tests.support.merged import merge_step


@pytest.fixture(scope="module")
def finished(
    shared_bench: Bench, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, RunResult, str, str]:
    """A finished run: its folder, its result, its target's password, its execution's history."""
    bench, folder = shared_bench, tmp_path_factory.mktemp("results")
    request = tiny(
        "whole",
        search__clients=[1, 2],
        # the server lets nobody in without TLS, as MariaDB 11.8 on RDS
        target__parameters={"innodb_buffer_pool_size": 16 * 2**20, "require_secure_transport": 1},
        prepare__warm_s=0.5,
        load__warmup_s=1,
        load__duration_s=3,  # holds a whole period of the metrics, however they fall
    )
    run = bench.start(request, hold=["judge-step"])
    gate = bench.gate("judge-step", run)
    gate.await_arrival()
    address = run.look().record.target
    assert address is not None
    secrets = bench.twin.client("secretsmanager")
    secret = secrets.get_secret_value(SecretId=address.secret_arn)["SecretString"]
    gate.open()
    _, result = bench.succeed(run)
    run.save(folder)
    arn = bench.twin.state_machine_arn("run").replace(":stateMachine:", ":execution:")
    arn = f"{arn}:{run.run_id}"
    workflow = bench.twin.client("stepfunctions")
    # the record ends before the workflow, whose last function still draws the run's page
    wait_until(
        lambda: workflow.describe_execution(executionArn=arn)["status"] != "RUNNING",
        "the workflow has ended",
    )
    history = workflow.get_execution_history(executionArn=arn)
    return folder, result, json.loads(secret)["password"], json.dumps(history, default=str)


Finished = tuple[Path, RunResult, str, str]


def test_it_succeeds_with_a_verdict_and_the_proof_of_its_teardown(finished: Finished) -> None:
    _, result, _, _ = finished
    assert result.state is RunState.SUCCEEDED
    assert result.failure is None
    assert result.capacity is not None
    assert result.limiting is not None
    assert result.rows == 300
    moments = result.moments
    order = [moments.submitted, moments.record, moments.provision, moments.target_ready,
             moments.prepare, moments.step, moments.conclude, moments.teardown, moments.deleted,
             moments.ended]  # fmt: skip
    known = [moment for moment in order if moment is not None]
    assert len(known) == len(order)
    assert known[2:] == sorted(known[2:])
    assert result.versions.server is not None
    assert "MariaDB" in result.versions.server


def test_clients_and_server_count_the_same_statements(finished: Finished) -> None:
    _, result, _, _ = finished
    for step in measured(result):
        assert step.server is not None
        assert step.server.statements_by_clients == step.server.statements_by_server
        assert step.server.statements_by_clients is not None
        assert step.step.operations is not None
        assert 0 < step.step.operations <= step.server.statements_by_clients


def test_every_step_tells_how_far_this_machine_was_disturbed(finished: Finished) -> None:
    _, result, _, _ = finished
    # the metrics of a step are there when it is judged, unless whoever writes them stood still
    told = [step.step for step in measured(result) if step.step.host_late_percent is not None]
    assert told
    for step in told:
        shares = (
            step.host_late_percent,
            step.host_stolen_percent,
            step.host_others_percent,
            step.host_idle_percent,
        )
        assert all(share is not None and 0 <= share <= 100 for share in shares)


def test_an_ordinary_database_never_goes_past_its_volume(finished: Finished) -> None:
    _, result, _, _ = finished
    told = [step.step for step in measured(result) if step.step.escaped_iops is not None]
    assert told
    for step in told:
        assert audit_escapes(step).passed
        assert step.escaped_mib_s == pytest.approx(0, abs=0.1)  # its messages


def test_every_step_can_be_computed_again_from_its_clients_files(finished: Finished) -> None:
    folder, result, _, _ = finished
    for step in measured(result):
        index = step.plan.index
        plan = StepPlan.model_validate_json((folder / plan_path(index)).read_bytes())
        clients = [
            ClientResult.model_validate_json(unpack_file(path, (folder / path).read_bytes()))
            for path in (client_path(index, client) for client in range(plan.clients))
        ]
        again = merge_step(plan, clients, [], server_after=None)
        stored = StepResult.model_validate_json((folder / step_path(index)).read_bytes())
        assert again.operations == stored.operations == step.operations
        assert again.seconds == stored.seconds
        assert again.step.throughput_ops_per_second == step.step.throughput_ops_per_second


def test_the_target_had_the_engine_parameters_asked_for(finished: Finished) -> None:
    folder, result, _, _ = finished
    template = json.loads((folder / "target.template.json").read_bytes())
    group = template["Resources"]["ParameterGroup"]["Properties"]["Parameters"]
    assert group == {"innodb_buffer_pool_size": "16777216", "require_secure_transport": "1"}
    server = measured(result)[0].server
    assert server is not None
    pages = server.gauges["Innodb_buffer_pool_pages_total"]
    assert pages == pytest.approx(1024, rel=0.05)


def test_the_volumes_figures_are_beside_each_step(finished: Finished) -> None:
    _, result, _, _ = finished
    for step in measured(result):
        assert step.target is not None
    for step in with_writes(result):
        assert step.target is not None
        assert step.target.write_iops is not None
        assert 0 < step.target.write_iops <= 2000 * 1.05


def with_writes(result: RunResult) -> list[StepResult]:
    """Give the steps in whose whole seconds the volume had writes, as it has on no frozen one."""
    steps = [s for s in measured(result) if s.target and s.target.write_iops]
    assert steps
    return steps


def test_no_secret_is_in_a_file_or_in_the_workflows_history(finished: Finished) -> None:
    folder, result, master, history = finished
    assert len(master) >= 16
    assert "ExecutionSucceeded" in history
    for password in (master, derive_load_password(master, result.run_id)):
        assert password not in history
        for path in filter(Path.is_file, folder.rglob("*")):
            assert password.encode() not in unpack_file(path.name, path.read_bytes())


def test_the_load_came_from_a_user_without_rights_beyond_its_database(
    finished: Finished, bench: Bench
) -> None:
    _, result, _, _ = finished
    record = records_of(make_twin_settings(bench.twin)).get(result.run_id)
    assert record.target is not None
    assert record.target.load_user == LOAD_USER
