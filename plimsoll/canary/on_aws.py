"""A canary on AWS: a deployment under a name of its own, made and destroyed by `npx cdk`."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.aws import clients
from plimsoll.canary.cdk import cdk
from plimsoll.canary.place import Left, Teller
from plimsoll.canary.tagged import (
    DEPLOYMENT_TAG,
    delete_stack,
    left_of_target,
    left_under,
)
from plimsoll.client.address import OUTPUT, read_address
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.deployment import DeploymentConfig, read_deployment
from plimsoll.model.functions import FUNCTIONS
from plimsoll.targets.target_stacks import find_stack

NAME = "plimsoll-canary"  # of the deployment, and of its stack
TEAM = "canary"
_ROOT = Path(__file__).parents[2]
_OUTPUTS = "outputs.json"
_LOGS = f"/aws/lambda/{NAME}-"  # Lambda makes them for the CDK's own functions, beyond the stack
_SESSION = re.compile(r"(arn:[a-z-]+:sts::\d{12}:assumed-role/[^/]+)/.+")


class OnAws:
    """The account and the region that the AWS clients are of."""

    name = "AWS"

    def __init__(self, folder: Path, *, region: str, profile: str | None = None) -> None:
        """Prepare; nothing is asked yet.

        Args:
            folder: For the deployment's outputs and what `cdk` prints.
            region: Where.
            profile: Of the AWS command line; None: as that chooses.

        Raises:
            UsageError: This is no checkout of Plimsoll: what is deployed is not here.
        """
        if not (_ROOT / "app.py").is_file() or not (_ROOT / "cdk.json").is_file():
            raise UsageError(
                "the canary deploys as the README does: run it in a checkout of Plimsoll"
                " (--local needs none)"
            )
        self._folder = folder
        self._place = ["--region", region, *(["--profile", profile] if profile else [])]
        self._region = region
        self._configuration: dict[str, Any] = {}

    def require_free(self) -> None:
        """Look who asks, and whether another canary is there."""
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
                f" then: {delete_stack(NAME)}"
            )
        self._configuration = _configuration(caller, makes_log_role=not role)

    def creates(self) -> Sequence[str]:
        """Say what deploying makes."""
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

    def left_of_run(self, run_id: str) -> list[Left]:
        """Ask the Tagging API, and look as the janitor does."""
        return left_of_target(run_id)

    def destroy(self, teller: Teller) -> None:
        """Run `npx cdk destroy`, and delete the logs that are of no stack."""
        if find_stack(NAME) is not None:
            teller.say(
                "destroying: the network waits for the functions' interfaces, 20 to 40 minutes"
            )
            self._cdk(["destroy", NAME, "--force", "--progress", "events"], teller)
        for group in _logs():
            clients.logs().delete_log_group(logGroupName=group)

    def left_of_deployment(self) -> list[Left]:
        """Look for the stack, for what bears its tag, and for logs."""
        left = left_under(DEPLOYMENT_TAG, NAME)
        if find_stack(NAME) is not None:
            left = [Left(f"the stack {NAME}", delete_stack(NAME)), *left]
        command = "aws logs delete-log-group --log-group-name"
        return [*left, *(Left(f"the log group {name}", f"{command} {name}") for name in _logs())]

    def _cdk(self, arguments: Sequence[str], teller: Teller) -> None:
        context = json.dumps(self._configuration, separators=(",", ":"))
        own = ["--context", f"plimsoll={context}", "--output", str(self._folder / "cdk.out")]
        cdk(
            [*arguments, *own, *self._place],
            root=_ROOT,
            log=self._folder / "cdk.log",
            teller=teller,
        )


def _configuration(caller: str, *, makes_log_role: bool) -> dict[str, Any]:
    """Write what `cdk.json` would say: the defaults, a name, and the caller's own team.

    The account has one role with which API Gateway logs: where it has one, that is left alone.

    Raises:
        UsageError: The caller cannot be of a team.
    """
    session = _SESSION.fullmatch(caller)
    principal = f"{session[1]}/*" if session else caller
    team = {"principals": [principal], "concurrent_runs": 1, "spend_usd_per_month": None}
    configuration = {
        "name": NAME,
        "teams": {TEAM: team},
        "api": {"makes_log_role": makes_log_role},
        "results_days": 1,
    }
    try:
        read: DeploymentConfig = read_deployment(configuration)
    except UsageError as error:
        raise UsageError(
            f"{caller} cannot call the API, use an IAM user or role: {error}"
        ) from None
    assert read.stack_name == NAME  # noqa: S101 - what `cdk deploy` is told
    return configuration


def _logs() -> list[str]:
    pages = clients.logs().get_paginator("describe_log_groups")
    found = pages.paginate(logGroupNamePrefix=_LOGS)
    return [group["logGroupName"] for page in found for group in page["logGroups"]]
