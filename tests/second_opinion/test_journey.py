"""A deployment from `cdk bootstrap` to `cdk destroy`, on an emulator of AWS that others wrote.

The commands are those of docs/deploying.md, as they stand there: the CDK deploys the app with its
packages, and runs measure a real MariaDB. docs/evidence/aws.md names what the emulator lacks.
"""

import json
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import plimsoll
from plimsoll.aws.run_files import RESULT
from plimsoll.client.address import OUTPUT, read_address
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.local.account import REGION
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from plimsoll.model.service.answers import RunDetail
from tests.second_opinion.emulator import ACCOUNT, ROOT, Emulator, run_emulator, run_program
from tests.second_opinion.lives import NEVER
from tests.support.deploying_page import FOLLOWED

STACK = "Plimsoll"
APP = f"{sys.executable} -m tests.second_opinion.deployable_app"
RUN_S = 1_800  # the longest that a run takes, here
# What docs/deploying.md says that one who starts runs needs, and one who deploys; not more.
ACTIONS = {
    "caller": (
        "execute-api:Invoke", "cloudformation:DescribeStacks", "rds:DescribeDBEngineVersions",
        "rds:DescribeOrderableDBInstanceOptions", "servicequotas:ListServiceQuotas",
        "servicequotas:ListAWSDefaultServiceQuotas", "servicequotas:GetServiceQuota",
        "servicequotas:GetAWSDefaultServiceQuota", "rds:DescribeAccountAttributes", "iam:GetRole",
    ),
    "deployer": (
        "sts:AssumeRole", "cloudformation:DescribeStacks", "states:ListExecutions",
        "dynamodb:GetItem", "dynamodb:Query", "dynamodb:PutItem", "dynamodb:DeleteItem",
    ),
}  # fmt: skip
CONFIGURATION = {"teams": {"default": {"principals": [f"arn:aws:iam::{ACCOUNT}:user/caller"]}}}
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


TEAMS = {"teams": {"payments": {"principals": [f"arn:aws:iam::{ACCOUNT}:role/payments"]}}}
NO_QUESTION = {"npx cdk destroy": "--force"}  # nobody is there to answer it


@dataclass(frozen=True)
class Assemblies:
    """The synthesized app, as folders for `cdk --app`.

    Attributes:
        first: As first deployed.
        changed: With another configuration.
        upgraded: With other code, too.
    """

    first: str
    changed: str
    upgraded: str


@pytest.fixture(scope="module")
def assemblies(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assemblies]:
    """Synthesize the app, each time with its packages; delete them afterwards."""
    home = tmp_path_factory.mktemp("assemblies")

    def synthesize(name: str, configuration: Mapping[str, Any], *context: str) -> str:
        folder = str(home / name)
        given = ("--context", f"plimsoll={json.dumps(configuration)}", *context)
        command = ("npx", "--no-install", "cdk", "synth", "--app", APP, "--output", folder, *given)
        code, told = run_program(*command, "--quiet", variables={"AWS_REGION": REGION})
        assert code == 0, told[-3000:]
        return folder

    changed = {**CONFIGURATION, "results_days": 30}
    yield Assemblies(
        synthesize("first", CONFIGURATION),
        synthesize("changed", changed),
        synthesize("upgraded", changed, "--context", "upgraded=true"),
    )
    shutil.rmtree(home)


@dataclass(frozen=True)
class Checkout:
    """A folder with what the commands of docs/deploying.md need.

    Attributes:
        folder: The folder.
        users: The variables of each who runs them, by name.
        followed: The page's commands that have been run.
    """

    folder: Path
    users: dict[str, Mapping[str, str]]
    followed: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Put there what `make setup` made, and a request."""
        self.folder.mkdir()
        (self.folder / ".venv").symlink_to(sys.prefix)
        for name in ("node_modules", "package.json"):
            (self.folder / name).symlink_to(ROOT / name)
        (self.folder / "request.yaml").write_text(json.dumps(REQUEST))
        check = {"schedule": NEVER, "request": REQUEST}
        (self.folder / "check.yaml").write_text(json.dumps(check))
        (self.folder / "teams.yaml").write_text(json.dumps(TEAMS))

    def use(self, assembly: str) -> None:
        """Let `cdk` deploy an assembly, without a question."""
        told = {"app": assembly, "requireApproval": "never"}
        (self.folder / "cdk.json").write_text(json.dumps(told))

    def follow(self, command: str, who: str, **words: str) -> tuple[int, str]:
        """Run a command of the page, with values for its words in capitals.

        Returns:
            Its exit code, and what it printed.
        """
        assert command in FOLLOWED, f"the page does not have: {command}"
        self.followed.add(command)
        typed = f"{command} {NO_QUESTION.get(command, '')}"
        for word, value in words.items():
            typed = typed.replace(word, value)
        return self.run(typed, who)

    def run(self, command: str, who: str) -> tuple[int, str]:
        """Run a command line."""
        programs = os.pathsep.join((f"{self.folder}/.venv/bin", os.environ["PATH"]))
        variables = {**self.users[who], "PYTHONPATH": str(ROOT), "PATH": programs}
        return run_program("bash", "-c", command, variables=variables, folder=self.folder)

    def succeed(self, command: str, who: str, **words: str) -> str:
        """Follow a command of the page that is to succeed; give what it printed."""
        code, told = self.follow(command, who, **words)
        assert code == 0, f"{command} ended with exit code {code}: {told[-3000:]}"
        return told


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
        page = Checkout(tmp_path / "checkout", {"administrator": aws.variables})
        page.use(assemblies.first)
        at = {"ACCOUNT": ACCOUNT, "REGION": REGION}
        page.succeed("npx cdk bootstrap aws://ACCOUNT/REGION", "administrator", **at)
        for name, actions in ACTIONS.items():
            page.users[name] = aws.make_user(name, *actions)
        assert "AWS::StepFunctions::StateMachine" in page.succeed("npx cdk diff", "deployer")
        page.succeed("npx cdk deploy", "deployer")
        assert "differences: 0" in page.succeed("npx cdk diff", "deployer")

        for name, value in page.users["caller"].items():
            monkeypatch.setenv(name, value)
        service = Service(Http(read_address(aws.outputs(STACK)[OUTPUT], source="the stack")))
        assert service.health().version == plimsoll.__version__
        if secured:
            assert_refuses_unsigned_calls(aws)
        assert_checks_before_a_run(page)

        aws.hold_databases()
        run_id = submit(page)
        await_run(service, run_id, lambda run: run.state is RunState.RUNNING)
        packages = read_packages(aws)
        page.use(assemblies.changed)
        page.succeed("npx cdk deploy", "deployer")
        assert aws.outputs(STACK)["ResultsDays"] == "30"
        assert read_packages(aws) == packages  # the second build of the same sources is the same
        assert service.run(run_id).state is RunState.RUNNING
        assert_manages_teams_and_checks(page)

        page.use(assemblies.upgraded)
        ended = upgrade_while_a_run_goes_on(page, aws, service, run_id)
        assert_whole(aws, ended)
        replaced = read_packages(aws)
        assert replaced.keys() == packages.keys()
        assert not set(replaced.values()) & set(packages.values())
        watched = page.succeed("plimsoll watch ID --out DIR", "caller", ID=run_id, DIR="results")
        assert (page.folder / "results/result.json").is_file(), watched

        stopped = submit(page)
        await_run(service, stopped, lambda run: run.target_ready_at is not None)
        code, told = page.follow("npx cdk destroy", "deployer")
        assert code != 0, "destroyed while a target is alive"
        assert f"the runs {stopped}" in told
        code, told = page.run(f"plimsoll stop {stopped} --wait", "caller")
        assert code == 0, told
        assert stopped in page.succeed("plimsoll status ID", "caller", ID=stopped)
        gone = service.run(stopped)
        assert (gone.state, gone.deleted_at is not None) == (RunState.STOPPED, True)

        page.succeed("npx cdk destroy", "deployer")
        assert find_remains(aws) == []
    assert page.followed == set(FOLLOWED)
    mode = "policies enforced" if secured else "without policies"
    record_property("counted", f"{mode}: {time.monotonic() - began:.0f} s")


def assert_checks_before_a_run(page: Checkout) -> None:
    """Check that `preflight` sees the deployment and its versions."""
    code, told = page.follow("plimsoll preflight request.yaml", "caller")
    assert code == 0, told


def submit(page: Checkout) -> str:
    """Submit the request; gives the run's id."""
    told = page.succeed(".venv/bin/plimsoll submit request.yaml", "caller")
    return told.split()[-1]


def assert_manages_teams_and_checks(page: Checkout) -> None:
    """Check that a team is added and removed, and a check made and deleted."""
    page.succeed("plimsoll team put FILE", "deployer", FILE="teams.yaml")
    for command, who in (
        ("plimsoll team list", "deployer"),
        ("plimsoll team remove payments", "deployer"),
        ("plimsoll schedule put nightly check.yaml", "caller"),
        ("plimsoll schedule delete nightly", "caller"),
        ("plimsoll list", "caller"),
    ):
        code, told = page.run(command, who)
        assert code == 0, f"{command}: {told}"


def upgrade_while_a_run_goes_on(
    page: Checkout, aws: Emulator, service: Service, run_id: str
) -> RunDetail:
    """Deploy other code as the page says: the run comes to its end before, and no other begins.

    Returns:
        The run, which has ended.
    """
    with ThreadPoolExecutor(1) as pool:
        command = next(each for each in FOLLOWED if "drain" in each)
        upgraded = pool.submit(page.succeed, command, "deployer")
        try:
            await_drain(aws, lambda: upgraded.done() and upgraded.result())
            code, refused = page.run("plimsoll submit request.yaml", "caller")
            assert code == 1, refused
            assert "this deployment is about to be updated" in refused
            assert service.run(run_id).state is RunState.RUNNING
        finally:
            aws.release_databases()
        ended = await_run(service, run_id, lambda run: run.state.ended)
        told = upgraded.result()
    assert f"waiting for 1 execution: {run_id}" in told
    assert "runs are started again" in told
    return ended


def await_drain(aws: Emulator, fail: Callable[[], object]) -> None:
    """Wait until the deployment is drained; `fail` raises where it never will be."""
    deadline = time.monotonic() + RUN_S
    table = aws.outputs(STACK)["ServiceTable"]
    key = {"pk": {"S": "deployment"}, "sk": {"S": "drain"}}
    while "Item" not in aws.client("dynamodb").get_item(TableName=table, Key=key):
        fail()
        assert time.monotonic() < deadline, "it is not drained"
        time.sleep(1)


def assert_refuses_unsigned_calls(aws: Emulator) -> None:
    """Check that a call without a signature is refused, with API Gateway's status."""
    api = urlsplit(aws.outputs(STACK)[OUTPUT])
    call = urllib.request.Request(f"{aws.url}{api.path}health", headers={"Host": api.netloc})
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(call, timeout=30)
    with refused.value as answer:
        assert answer.code == 403


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
    """Return the digest of each package of Plimsoll's functions: the CDK has one beside them."""
    pages = aws.client("lambda").get_paginator("list_functions").paginate()
    return {
        each["FunctionName"]: each["CodeSha256"]
        for page in pages
        for each in page["Functions"]
        if each["FunctionName"].startswith("plimsoll-")
    }


def find_remains(aws: Emulator) -> list[str]:
    """List what a destroyed deployment has left, except what `cdk bootstrap` made.

    The role by which API Gateway writes its logs is the account's, so it stays.
    """
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
    kept = ("cdk-", "CDKToolkit", f"{STACK}-ApiRestCloudWatchRole")
    return [name for name in names if not name.startswith(kept)]
