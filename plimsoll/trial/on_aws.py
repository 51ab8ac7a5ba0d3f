"""The canary on AWS: a deployment with a name of its own, created and destroyed by `npx cdk`."""

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.client.address import OUTPUT, read_address
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.errors import MissingToolError, PlimsollError, PreflightError, UsageError
from plimsoll.model.deployment.deployment import DeploymentConfig, read_deployment
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.preflight.checks import Check
from plimsoll.preflight.quota_checks import check_quotas
from plimsoll.preflight.rds_checks import check_rds_target, check_role
from plimsoll.targets.deployment_guard import list_target_stacks
from plimsoll.targets.target_stacks import find_stack
from plimsoll.trial.place import Left, Teller

# `npx cdk`, called as in docs/deploying.md, with its output in a file.


_LOOK_EVERY_S = 0.5
_END_PATIENCE_S = 20.0
_LINES_SHOWN = 5


def run_cdk(arguments: Sequence[str], *, root: Path, log: Path, teller: Teller) -> None:
    """Run `npx cdk` to its end. If the wait is interrupted, the process is ended too.

    Args:
        arguments: The arguments after `cdk`.
        root: The folder with `cdk.json`.
        log: The file to which the output is appended.
        teller: Gets a status twice a second; it may raise to end the process.

    Raises:
        MissingToolError: npx is not installed.
        PlimsollError: It failed; the message has its last lines.
    """
    began = time.monotonic()
    with log.open("ab") as output:
        try:
            process = subprocess.Popen(
                ["npx", "cdk", *arguments],
                cwd=root,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that Ctrl-C reaches this process alone
            )
        except FileNotFoundError:
            raise MissingToolError("npx is missing: install Node.js 20 or later") from None
    try:
        while process.poll() is None:
            lasted = words.format_duration(round(time.monotonic() - began))
            teller.status(f"npx cdk {arguments[0]}, {lasted}: {_read_last_line(log)}")
            time.sleep(_LOOK_EVERY_S)
    except BaseException:
        _end_process(process)
        raise
    if process.returncode:
        lines = " | ".join(_read_lines(log)[-_LINES_SHOWN:])
        code = process.returncode
        raise PlimsollError(
            f"npx cdk {arguments[0]} failed with exit code {code}: {lines} (all of it: {log})"
        )


def _end_process(process: subprocess.Popen[bytes]) -> None:
    """End the process and its children; CloudFormation continues what it has begun."""
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(_END_PATIENCE_S)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        else:
            return


def _read_lines(log: Path) -> list[str]:
    text = log.read_bytes()[-4000:].decode(errors="replace")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _read_last_line(log: Path) -> str:
    lines = _read_lines(log)
    return lines[-1][:100] if lines else "starting"


# Finding what is left: the Resource Groups Tagging API, and the stacks that the janitor sees.


RUN_TAG = "plimsoll:run-id"
DEPLOYMENT_TAG = "plimsoll:deployment"


def find_tagged(tag: str, value: str) -> list[Left]:
    """Return the resources that have a tag.

    The API still lists deleted resources for some minutes, so ask again before giving up.

    https://docs.aws.amazon.com/resourcegroupstagging/latest/APIReference/API_GetResources.html
    """
    pages = clients.tagging().get_paginator("get_resources")
    found = pages.paginate(TagFilters=[{"Key": tag, "Values": [value]}])
    arns = [row["ResourceARN"] for page in found for row in page["ResourceTagMappingList"]]
    return [Left(arn, build_resource_deletion_command(arn)) for arn in arns]


def find_target_remains(run_id: str) -> list[Left]:
    """Return what is left of a run's target: tagged resources, and the stack the janitor sees.

    Args:
        run_id: The run.
    """
    tagged = find_tagged(RUN_TAG, run_id)
    known = " ".join(left.what for left in tagged)
    stacks = (stack["StackName"] for stack in list_target_stacks())
    own = [name for name in stacks if name.endswith(run_id) and name not in known]
    return [
        *tagged,
        *(Left(f"the stack {name}", build_stack_deletion_command(name)) for name in own),
    ]


def build_stack_deletion_command(name: str) -> str:
    """Return the command that deletes a stack."""
    return f"aws cloudformation delete-stack --stack-name {name}"


def build_resource_deletion_command(arn: str) -> str:
    """Return the command that deletes a resource; for an unknown kind, one that shows it."""
    service, name = arn.split(":")[2], arn.split(":", 5)[5]
    make = _DELETIONS.get((service, *_find_resource_kind(name))) or _DELETIONS.get((service,))
    return (
        make(name)
        if make
        else f"aws resourcegroupstaggingapi get-resources --resource-arn-list {arn}"
    )


def _find_resource_kind(name: str) -> tuple[str, ...]:
    for separator in ("/", ":"):
        kind, found, _ = name.partition(separator)
        if found and ":" not in kind:
            return (kind,)
    return ()


def _find_resource_name(name: str) -> str:
    return name.replace(":", "/").rpartition("/")[2]


_Command = Callable[[str], str]
_DELETIONS: dict[tuple[str, ...], _Command] = {
    ("cloudformation", "stack"): lambda name: build_stack_deletion_command(name.split("/")[1]),
    ("rds", "db"): lambda name: (
        f"aws rds delete-db-instance --db-instance-identifier {_find_resource_name(name)}"
        " --skip-final-snapshot --delete-automated-backups"
    ),
    ("rds", "cluster"): lambda name: (
        f"aws rds delete-db-cluster --db-cluster-identifier {_find_resource_name(name)}"
        " --skip-final-snapshot"
    ),
    ("ec2", "instance"): lambda name: (
        f"aws ec2 terminate-instances --instance-ids {_find_resource_name(name)}"
    ),
    ("ec2", "volume"): lambda name: (
        f"aws ec2 delete-volume --volume-id {_find_resource_name(name)}"
    ),
    ("secretsmanager",): lambda name: (
        f"aws secretsmanager delete-secret --secret-id {name.removeprefix('secret:')}"
    ),
    ("dynamodb", "table"): lambda name: (
        f"aws dynamodb delete-table --table-name {_find_resource_name(name)}"
    ),
    ("logs",): lambda name: (
        f"aws logs delete-log-group --log-group-name {name.removeprefix('log-group:')}"
    ),
    ("s3",): lambda name: f"aws s3 rb --force s3://{name}",
}


NAME = "plimsoll-canary"  # name of the deployment and of its stack
TEAM = "canary"
_ROOT = Path(__file__).parents[2]
_OUTPUTS = "outputs.json"
# Lambda creates them for the CDK's own functions; no stack deletes them
_LOGS = f"/aws/lambda/{NAME}-"
_SESSION = re.compile(r"(arn:[a-z-]+:sts::\d{12}:assumed-role/[^/]+)/.+")


class OnAws:
    """A deployment in the account and region of the AWS clients."""

    name = "AWS"

    def __init__(self, folder: Path, *, region: str, profile: str | None = None) -> None:
        """Set up; AWS is not called yet.

        Args:
            folder: The folder for the deployment's outputs and the output of `cdk`.
            region: The AWS region.
            profile: The profile of the AWS command line; None for its default.

        Raises:
            UsageError: This is no checkout of Plimsoll, so there is nothing to deploy.
        """
        if not (_ROOT / "app.py").is_file() or not (_ROOT / "cdk.json").is_file():
            raise UsageError(
                "the canary deploys as docs/deploying.md does: run it in a checkout of Plimsoll"
                " (--local needs none)"
            )
        self._folder = folder
        self._place = ["--region", region, *(["--profile", profile] if profile else [])]
        self._region = region
        self._configuration: dict[str, Any] = {}

    def require_free(self) -> None:
        """Check the credentials, and that no other canary exists."""
        try:
            caller = clients.sts().get_caller_identity()["Arn"]
            taken = find_stack(NAME)
            role = clients.apigateway().get_account().get("cloudwatchRoleArn")
        except (BotoCoreError, ClientError) as error:
            raise PlimsollError(f"AWS: {error}") from error
        if taken is not None:
            raise PlimsollError(
                f"there is a stack {NAME} in {self._region} already, {taken['StackStatus']}:"
                " another canary is under way, or one has left it;"
                f" then: {build_stack_deletion_command(NAME)}"
            )
        self._configuration = _write_configuration(caller, makes_log_role=not role)

    def creates(self) -> Sequence[str]:
        """Return what a deployment creates."""
        account = clients.sts().get_caller_identity()["Account"]
        return (
            f"in the account {account}, region {self._region}:",
            f"the stack {NAME}: network, {len(FUNCTIONS) + 1} functions, workflow, tables, API ...",
            "a stack plimsoll-run-ID: the target, for as long as the run takes",
            "both are deleted, however it ends; packages stay in the bucket of `cdk bootstrap`",
        )

    def deploy(self, teller: Teller) -> Service:
        """Run `npx cdk deploy`."""
        outputs = self._folder / _OUTPUTS
        never = ["--require-approval", "never", "--progress", "events"]
        self._cdk(["deploy", NAME, *never, "--outputs-file", str(outputs)], teller)
        url = json.loads(outputs.read_text())[NAME][OUTPUT]
        teller.say(f"deployed: {url}")
        return Service(Http(read_address(url, source=f"the stack's output {OUTPUT}")))

    def list_left_of_run(self, run_id: str) -> list[Left]:
        """Ask the Tagging API, and look for the stack as the janitor does."""
        return find_target_remains(run_id)

    def destroy(self, teller: Teller) -> None:
        """Run `npx cdk destroy`, and delete the log groups that belong to no stack."""
        if find_stack(NAME) is not None:
            teller.say(
                "destroying: the network waits for the functions' interfaces, 20 to 40 minutes"
            )
            self._cdk(["destroy", NAME, "--force", "--progress", "events"], teller)
        for group in _list_log_groups():
            clients.logs().delete_log_group(logGroupName=group)

    def list_left_of_deployment(self) -> list[Left]:
        """Return the stack, the resources with its tag, and the log groups that still exist."""
        left = find_tagged(DEPLOYMENT_TAG, NAME)
        if find_stack(NAME) is not None:
            left = [Left(f"the stack {NAME}", build_stack_deletion_command(NAME)), *left]
        command = "aws logs delete-log-group --log-group-name"
        return [
            *left,
            *(Left(f"the log group {name}", f"{command} {name}") for name in _list_log_groups()),
        ]

    def _cdk(self, arguments: Sequence[str], teller: Teller) -> None:
        context = json.dumps(self._configuration, separators=(",", ":"))
        own = ["--context", f"plimsoll={context}", "--output", str(self._folder / "cdk.out")]
        run_cdk(
            [*arguments, *own, *self._place],
            root=_ROOT,
            log=self._folder / "cdk.log",
            teller=teller,
        )


def _write_configuration(caller: str, *, makes_log_role: bool) -> dict[str, Any]:
    """Return the configuration of the canary: defaults, its name, and a team with the caller.

    An account has a single role with which API Gateway logs; an existing one is left alone.

    Raises:
        UsageError: The caller cannot belong to a team.
    """
    session = _SESSION.fullmatch(caller)
    principal = f"{session[1]}/*" if session else caller
    team = {"principals": [principal], "concurrent_runs": 1, "spend_usd_per_month": None}
    configuration = {
        "name": NAME,
        "teams": {TEAM: team},
        "api": {"makes_log_role": makes_log_role, "keeps_log_role": False},
        "results_days": 1,
    }
    try:
        read: DeploymentConfig = read_deployment(configuration)
    except UsageError as error:
        raise UsageError(
            f"{caller} cannot call the API, use an IAM user or role: {error}"
        ) from None
    assert read.stack_name == NAME  # noqa: S101 - the name that `cdk deploy` gets
    return configuration


def _list_log_groups() -> list[str]:
    pages = clients.logs().get_paginator("describe_log_groups")
    found = pages.paginate(logGroupNamePrefix=_LOGS)
    return [group["logGroupName"] for page in found for group in page["logGroups"]]


# The part of the preflight that needs no deployment: can the account create the target?


def require_orderable(request: Request) -> None:
    """Check the account before anything is created. What these credentials cannot see passes.

    Raises:
        PreflightError: The account, its region or its quotas lack something that the run needs.
    """
    failed = [check for check in _run_checks(request) if check.state == "failed"]
    if failed:
        lines = (f"{check.name}: {check.detail}; {check.to_do}" for check in failed)
        raise PreflightError("\n".join(("nothing was created:", *lines)))


def _run_checks(request: Request) -> Iterator[Check]:
    if isinstance(request.target, RdsTarget | AuroraTarget):
        yield from check_rds_target(request.target, ())
        yield from check_role()
    yield from check_quotas([request])
