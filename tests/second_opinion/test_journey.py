"""A deployment from `cdk bootstrap` to `cdk destroy`, on an emulator of AWS that others wrote.

The CDK's own command deploys the app with its packages. Signed requests start runs, which measure a
real MariaDB. docs/evidence/aws.md names what the emulator lacks.
"""

import json
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import plimsoll
from plimsoll.aws.run_files import RESULT
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.local.account import REGION
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.model.service.answers import RunDetail
from tests.second_opinion.emulator import ACCOUNT, Emulator, run_cdk, run_emulator

STACK = "Plimsoll"
APP = f"{sys.executable} -m tests.second_opinion.deployable_app"
RUN_S = 1_800  # the longest that a run takes, here
CALLER = "tester"  # an IAM user, with no more than docs/deploying.md asks for
CONFIGURATION = {"teams": {"default": {"principals": [f"arn:aws:iam::{ACCOUNT}:user/{CALLER}"]}}}
REQUEST: Mapping[str, Any] = {
    "name": "journey",
    # the emulator offers this class, and this type of volume alone
    "target": {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m5.large",
        "volume": {"type": "gp2", "size_gib": 20},
    },
    "workload": {"name": "ycsb-a", "records": 2_000},
    "search": {"strategy": "steps", "clients": [2], "open_loop_probe": False},
    "load": {"warmup_s": 1, "duration_s": 5, "recovery_max_s": 5},
    "prepare": {"clients": 2, "warm_s": 0},
    # what is measured here is nobody's figure: the machine may be as busy as it likes
    "limits": {"statistic": "mean", "confirmation": None, "audits_off": ["undisturbed"]},
    "time_limit_s": 3_600,
}


@dataclass(frozen=True)
class Assemblies:
    """The synthesized app, as folders for `cdk --app`: as first deployed, and reconfigured."""

    first: str
    changed: str


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assemblies]:
    """Synthesize the app twice, each time with its packages; delete them afterwards."""
    home = tmp_path_factory.mktemp("assemblies")

    def synthesize(name: str, configuration: Mapping[str, Any]) -> str:
        folder = str(home / name)
        context = f"plimsoll={json.dumps(configuration)}"
        options = ("--app", APP, "--output", folder, "--context", context, "--quiet")
        code, told = run_cdk("synth", *options, variables={"AWS_REGION": REGION})
        assert code == 0, told[-3000:]
        return folder

    yield Assemblies(
        synthesize("first", CONFIGURATION),
        synthesize("changed", {**CONFIGURATION, "results_days": 30}),
    )
    shutil.rmtree(home)


@pytest.mark.whole
@pytest.mark.timeout(7_200)
@pytest.mark.parametrize("secured", [False, True], ids=["open", "policies enforced"])
def test_a_deployment_is_made_called_changed_and_destroyed(
    assemblies: Assemblies,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
    *,
    secured: bool,
) -> None:
    began = time.monotonic()
    with run_emulator(tmp_path, secured=secured) as aws:
        aws.run_cdk("bootstrap", "--app", assemblies.first, f"aws://{ACCOUNT}/{REGION}")
        deploy(aws, assemblies.first)
        for name, value in aws.make_user(CALLER, "execute-api:Invoke").items():
            monkeypatch.setenv(name, value)
        service = Service(Http(aws.address(STACK)))
        assert service.health().version == plimsoll.__version__
        if secured:
            assert_refuses_unsigned_calls(aws)

        ended = await_run(service, submit(service), lambda run: run.state.ended)
        assert_whole(aws, ended)

        packages = read_packages(aws)
        deploy(aws, assemblies.changed)
        assert read_packages(aws) == packages  # the second build of the same sources is the same
        assert aws.outputs(STACK)["ResultsDays"] == "30"
        assert service.run(ended.run_id).state is RunState.SUCCEEDED

        stopped = submit(service)
        await_run(service, stopped, lambda run: run.target_ready_at is not None)
        code, told = run_cdk(*destruction(assemblies.changed), variables=aws.variables)
        assert code != 0, "destroyed while a target is alive"
        assert f"the runs {stopped}" in told
        service.stop(stopped)
        gone = await_run(service, stopped, lambda run: run.state.ended)
        assert (gone.state, gone.deleted_at is not None) == (RunState.STOPPED, True)

        aws.run_cdk(*destruction(assemblies.changed))
        assert find_remains(aws) == []
    mode = "policies enforced" if secured else "without policies"
    record_property("counted", f"{mode}: {time.monotonic() - began:.0f} s")


def deploy(aws: Emulator, assembly: str) -> None:
    """Deploy an assembly as a user does, without the question."""
    aws.run_cdk("deploy", "--app", assembly, "--require-approval", "never", STACK)


def destruction(assembly: str) -> tuple[str, ...]:
    """Return the arguments that destroy the deployment without a question."""
    return ("destroy", "--app", assembly, "--force", STACK)


def assert_refuses_unsigned_calls(aws: Emulator) -> None:
    """Check that a call without a signature is refused, with API Gateway's status."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{aws.address(STACK).url}/health", timeout=30)
    assert refused.value.code == 403


def submit(service: Service) -> str:
    """Submit a run; gives its id."""
    return service.submit(Request.model_validate(REQUEST)).run_id


def await_run(service: Service, run_id: str, is_there: Callable[[RunDetail], bool]) -> RunDetail:
    """Wait until a run has come to a point, or has ended."""
    deadline = time.monotonic() + RUN_S
    while time.monotonic() < deadline:
        run = service.run(run_id)
        if is_there(run):
            return run
        assert not run.state.ended, run
        time.sleep(1)
    raise AssertionError(f"not there after {RUN_S} s: {service.run(run_id)}")


def assert_whole(aws: Emulator, run: RunDetail) -> None:
    """Check that a run has measured, has an answer, and has deleted its target."""
    assert run.state is RunState.SUCCEEDED, run
    assert run.deleted_at is not None
    bucket = aws.outputs(STACK)["ResultsBucket"]
    stored = aws.client("s3").get_object(Bucket=bucket, Key=f"runs/{run.run_id}/{RESULT}")
    result = RunResult.model_validate_json(stored["Body"].read())
    assert result.capacity is not None
    assert result.rows == REQUEST["workload"]["records"]
    assert any(step.step.throughput_ops_per_second for step in result.steps)
    assert not aws.client("rds").describe_db_instances()["DBInstances"]


def read_packages(aws: Emulator) -> dict[str, str]:
    """Return the digest of each function's package."""
    pages = aws.client("lambda").get_paginator("list_functions").paginate()
    return {
        each["FunctionName"]: each["CodeSha256"] for page in pages for each in page["Functions"]
    }


def find_remains(aws: Emulator) -> list[str]:
    """List what a destroyed deployment has left, except what `cdk bootstrap` made."""
    names = [
        *(each["FunctionName"] for each in aws.client("lambda").list_functions()["Functions"]),
        *(each["name"]
          for each in aws.client("stepfunctions").list_state_machines()["stateMachines"]),
        *aws.client("dynamodb").list_tables()["TableNames"],
        *(each["Name"] for each in aws.client("s3").list_buckets()["Buckets"]),
        *(each["RoleName"] for each in aws.client("iam").list_roles()["Roles"]),
        *(each["Name"] for each in aws.client("secretsmanager").list_secrets()["SecretList"]),
        *(each["DBInstanceIdentifier"]
          for each in aws.client("rds").describe_db_instances()["DBInstances"]),
        *(each["Name"] for each in aws.client("scheduler").list_schedules()["Schedules"]),
        *(each["StackName"] for each in aws.client("cloudformation").describe_stacks()["Stacks"]),
    ]  # fmt: skip
    return [name for name in names if not name.startswith(("cdk-", "CDKToolkit"))]
