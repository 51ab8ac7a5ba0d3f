"""`plimsoll drain` on a deployment's stack: what is left, and when it may be updated."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner, Result

from plimsoll.aws import clients
from plimsoll.aws.drain import find_drain
from plimsoll.cli import drain as verb
from tests.support.aws_resources import SERVICE_TABLE, aws_account, make_state_machine, make_tables


@pytest.fixture(autouse=True)
def machines() -> Iterator[list[str]]:
    """Deploy the stack; gives the ARNs of its machines, whose executions run until stopped."""
    with aws_account():
        make_tables()
        arns = [make_state_machine(name) for name in ("run", "experiment")]
        outputs = dict(
            zip(
                ("ServiceTable", "RunStateMachine", "ExperimentStateMachine"),
                (SERVICE_TABLE, *arns),
                strict=True,
            )
        )
        template = {
            "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
            "Outputs": {name: {"Value": value} for name, value in outputs.items()},
        }
        clients.cloudformation().create_stack(
            StackName="Plimsoll", TemplateBody=json.dumps(template)
        )
        yield arns


def call(*arguments: str) -> Result:
    return CliRunner().invoke(verb.drain, arguments, standalone_mode=False)


def test_an_idle_deployment_may_be_updated_at_once() -> None:
    done = call("--hours", "2")
    assert done.return_value == 0, done.exception
    assert "nothing; update it now" in done.output
    now = datetime.now(UTC)
    until = find_drain(SERVICE_TABLE, now)
    assert until is not None
    assert until - now <= timedelta(hours=2)
    assert "runs are started again" in call("--end").output
    assert find_drain(SERVICE_TABLE, now) is None
    assert "it was not drained" in call("--end").output


def test_what_is_in_progress_is_named_and_waited_for(
    machines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for machine, name in zip(machines, ("run-1", "matrix-1"), strict=True):
        clients.stepfunctions().start_execution(stateMachineArn=machine, name=name)
    named = call("--json")
    assert named.return_value == 3
    assert json.loads(named.output)["in_progress"] == ["run-1", "matrix-1"]

    def end_one(_: float) -> None:
        machine = machines.pop()
        execution = machine.replace(":stateMachine:", ":execution:")
        name = {"run": "run-1", "experiment": "matrix-1"}[machine.split(":")[-1]]
        clients.stepfunctions().stop_execution(executionArn=f"{execution}:{name}")

    monkeypatch.setattr("plimsoll.cli.drain.time.sleep", end_one)
    waited = call("--wait")
    assert waited.return_value == 0
    assert machines == []
    assert waited.stderr.splitlines() == [
        "waiting for 2 executions: run-1, matrix-1",
        "waiting for 1 execution: run-1",
    ]


def test_the_wait_ends_when_runs_are_started_again(
    machines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clients.stepfunctions().start_execution(stateMachineArn=machines[0], name="run-1")
    monkeypatch.setattr("plimsoll.cli.drain.time.sleep", lambda _: pytest.fail("it waited"))
    assert call("--wait", "--hours", "1e-9").return_value == 3
