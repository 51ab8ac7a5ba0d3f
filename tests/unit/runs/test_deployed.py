"""Starting a run in a deployed stack, with what the stack says of itself."""

import json
from pathlib import Path

import boto3
import pytest
import yaml
from click.testing import CliRunner, Result

from plimsoll.cli.submit import submit
from plimsoll.errors import PlimsollError
from plimsoll.runs.deployment import Deployment

from .conftest import REQUESTED

DEFINITION = {"StartAt": "End", "States": {"End": {"Type": "Succeed"}}}


@pytest.fixture
def stack(deployment: Deployment) -> Deployment:
    machine = boto3.client("stepfunctions").create_state_machine(
        name="plimsoll-run",
        definition=json.dumps(DEFINITION),
        roleArn="arn:aws:iam::123456789012:role/workflow",
    )
    outputs = {
        "ResultsBucket": deployment.results_bucket,
        "RunsTable": deployment.runs_table,
        "RunStateMachine": machine["stateMachineArn"],
        "ResultsDays": "30",
    }
    _deploy("Plimsoll", outputs)
    return deployment


def _deploy(name: str, outputs: dict[str, str]) -> None:
    template = {
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
        "Outputs": {key: {"Value": value} for key, value in outputs.items()},
    }
    boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(template))


def _submit(tmp_path: Path, *options: str, **changes: object) -> Result:
    file = tmp_path / "request.yaml"
    file.write_text(yaml.safe_dump(REQUESTED | changes))
    return CliRunner().invoke(submit, [str(file), *options], standalone_mode=False)


def test_a_run_is_recorded_stored_and_started(stack: Deployment, tmp_path: Path) -> None:
    result = _submit(tmp_path, "--json")
    [run_id] = json.loads(result.stdout).values()
    record = stack.records.get(run_id)
    assert record.forget_at_epoch_s is not None
    kept_s = record.forget_at_epoch_s - record.submitted_at.timestamp()
    assert kept_s == pytest.approx(30 * 86_400, abs=1)
    stored = boto3.client("s3").get_object(Bucket="results", Key=f"runs/{run_id}/request.json")
    assert json.loads(stored["Body"].read())["target"]["volume"]["iops"] == 1000
    client = boto3.client("stepfunctions")
    machine = client.list_state_machines()["stateMachines"][0]["stateMachineArn"]
    started = client.list_executions(stateMachineArn=machine)["executions"]
    assert [execution["name"] for execution in started] == [run_id]


@pytest.mark.usefixtures("stack")
def test_one_key_is_one_run(tmp_path: Path) -> None:
    first, second = (_submit(tmp_path, "--json", "--key", "nightly").stdout for _ in range(2))
    assert first == second
    other = _submit(tmp_path, "--key", "nightly", time_limit_s=600)
    assert "another request" in str(other.exception)


@pytest.mark.usefixtures("deployment")
@pytest.mark.parametrize("outputs", [None, {"Bucket": "of somebody else"}])
def test_a_stack_that_is_not_plimsolls_is_named(
    tmp_path: Path, outputs: dict[str, str] | None
) -> None:
    if outputs is not None:
        _deploy("Other", outputs)
    result = _submit(tmp_path, "--stack", "Other")
    assert isinstance(result.exception, PlimsollError)
    assert "--stack Other" in str(result.exception)


@pytest.mark.usefixtures("stack")
def test_faults_are_refused_on_aws(tmp_path: Path) -> None:
    result = _submit(tmp_path, faults=[{"step": 1, "volume": {"kind": "stall", "duration_s": 1}}])
    assert isinstance(result.exception, PlimsollError)
    assert "only a run on one machine" in str(result.exception)
