"""The AWS side of the canary's seam: what it tells `npx cdk`, and what it leaves when that fails.

`npx` is a stand-in on the PATH that writes down how it is called and answers as it is told to.
"""

import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import boto3
import pytest

from plimsoll.errors import MissingToolError, PlimsollError, UsageError
from plimsoll.model.deployment.deployment import read_deployment
from plimsoll.trial.on_aws import NAME, OnAws
from plimsoll.trial.trial import run_canary
from plimsoll.workflow.status import Snapshot
from tests.support.aws_resources import aws_account
from tests.support.synthetic_run import request

URL = "https://abcdefghij.execute-api.eu-west-1.amazonaws.com/v1"
TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
NPX = f"""#!{sys.executable}
import json, os, pathlib, sys, time
folder = pathlib.Path(__file__).parent
arguments = sys.argv[1:]
with (folder / "calls").open("a") as calls:
    calls.write(json.dumps({{"arguments": arguments, "folder": os.getcwd()}}) + "\\n")
verb = arguments[1]
print(f"{{verb}}: 3/70 resources", flush=True)
plan = json.loads((folder / "plan").read_text())
if plan.get(verb) == "hang":
    time.sleep(600)
if "--outputs-file" in arguments:
    outputs = arguments[arguments.index("--outputs-file") + 1]
    pathlib.Path(outputs).write_text(json.dumps({{arguments[2]: {{"ApiUrl": {URL!r}}}}}))
sys.exit(plan.get(verb, 0))
"""


@dataclass
class Told:
    """A teller that remembers."""

    said: list[str] = field(default_factory=list)

    def say(self, text: str) -> None:
        self.said.append(text)

    status = say

    def show(self, now: Snapshot) -> None:
        raise AssertionError(f"no run was started: {now}")


class Npx:
    """The stand-in for npx."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        program = folder / "npx"
        program.write_text(NPX)
        program.chmod(0o755)
        self.answers()

    def answers(self, **codes: int | str) -> None:
        """Set the exit code of each verb of cdk; `hang`: it does not end."""
        (self._folder / "plan").write_text(json.dumps(codes))

    @property
    def calls(self) -> list[dict[str, Any]]:
        written = self._folder / "calls"
        return (
            [json.loads(line) for line in written.read_text().splitlines()]
            if written.exists()
            else []
        )


@pytest.fixture
def npx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Npx:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return Npx(folder)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[OnAws]:
    folder = tmp_path / "out"
    folder.mkdir()
    caller_is(monkeypatch, "arn:aws:iam::123456789012:user/someone")  # moto's own has no such form
    with aws_account():
        yield OnAws(folder, region="eu-west-1", profile="a-team")


def make_stack() -> None:
    """Have the stack that the stand-in for npx cannot make."""
    boto3.client("cloudformation").create_stack(StackName=NAME, TemplateBody=TEMPLATE)


def after(arguments: list[str], option: str) -> str:
    return arguments[arguments.index(option) + 1]


def test_it_deploys_as_the_readme_does_under_its_own_name(place: OnAws, npx: Npx) -> None:
    place.require_free()
    told = Told()
    place.deploy(told)
    (call,) = npx.calls
    arguments = call["arguments"]
    assert arguments[:3] == ["cdk", "deploy", NAME]
    assert (Path(call["folder"]) / "app.py").is_file()
    assert after(arguments, "--require-approval") == "never"
    assert (after(arguments, "--region"), after(arguments, "--profile")) == ("eu-west-1", "a-team")
    name, _, context = after(arguments, "--context").partition("=")
    config = read_deployment(json.loads(context))
    assert (name, config.name, config.stack_name) == ("plimsoll", NAME, NAME)
    assert config.teams["canary"].spend_usd_per_month is None  # no budget is made in the account
    assert any(text.startswith("npx cdk deploy, ") for text in told.said)
    assert f"deployed: {URL}" in told.said


def caller_is(monkeypatch: pytest.MonkeyPatch, arn: str) -> None:
    class Sts:
        def get_caller_identity(self) -> dict[str, str]:
            return {"Arn": arn, "Account": "123456789012"}

    monkeypatch.setattr("plimsoll.trial.on_aws.clients.sts", Sts)


SESSIONS = "arn:aws:sts::123456789012:assumed-role/deployers"


@pytest.mark.parametrize(
    ("caller", "principal"),
    [
        ("arn:aws:iam::123456789012:user/a/someone", "arn:aws:iam::123456789012:user/a/someone"),
        (f"{SESSIONS}/someone@example.org", f"{SESSIONS}/*"),  # who logs in again is still one
    ],
)
def test_the_caller_alone_is_of_its_team(
    place: OnAws, npx: Npx, monkeypatch: pytest.MonkeyPatch, caller: str, principal: str
) -> None:
    caller_is(monkeypatch, caller)
    place.require_free()
    place.deploy(Told())
    context = after(npx.calls[0]["arguments"], "--context").partition("=")[2]
    (team,) = read_deployment(json.loads(context)).teams.values()
    assert team.principals == (principal,)


@pytest.mark.parametrize("role", [None, "arn:aws:iam::123456789012:role/gateway-logs"])
def test_the_accounts_one_role_for_logs_is_left_alone(
    place: OnAws, npx: Npx, role: str | None
) -> None:
    if role:
        change = {"op": "replace", "path": "/cloudwatchRoleArn", "value": role}
        boto3.client("apigateway").update_account(patchOperations=[change])
    place.require_free()
    place.deploy(Told())
    context = after(npx.calls[0]["arguments"], "--context").partition("=")[2]
    assert read_deployment(json.loads(context)).api.makes_log_role is (role is None)
    assert not read_deployment(json.loads(context)).api.keeps_log_role


def test_a_canary_that_is_there_already_is_not_touched(place: OnAws, npx: Npx) -> None:
    make_stack()
    with pytest.raises(PlimsollError, match=f"delete-stack --stack-name {NAME}"):
        place.require_free()
    assert npx.calls == []


def test_a_root_user_is_told_that_it_cannot_call_the_api(
    place: OnAws, npx: Npx, monkeypatch: pytest.MonkeyPatch
) -> None:
    caller_is(monkeypatch, "arn:aws:iam::123456789012:root")
    with pytest.raises(UsageError, match="root cannot call the API"):
        place.require_free()
    assert npx.calls == []


def test_what_cdk_says_is_told_when_it_fails(place: OnAws, npx: Npx) -> None:
    npx.answers(deploy=7)
    place.require_free()
    with pytest.raises(PlimsollError, match=r"exit code 7: deploy: 3/70 resources .*cdk\.log"):
        place.deploy(Told())


def test_it_destroys_its_stack_and_the_logs_beyond_it(place: OnAws, npx: Npx) -> None:
    make_stack()
    logs = boto3.client("logs")
    for name in (f"/aws/lambda/{NAME}-CustomS3AutoDelete", "/aws/lambda/somebody-elses"):
        logs.create_log_group(logGroupName=name)
    place.destroy(Told())
    (call,) = npx.calls
    assert call["arguments"][:4] == ["cdk", "destroy", NAME, "--force"]
    kept = [group["logGroupName"] for group in logs.describe_log_groups()["logGroups"]]
    assert kept == ["/aws/lambda/somebody-elses"]


def test_without_a_stack_there_is_nothing_to_destroy(place: OnAws, npx: Npx) -> None:
    place.destroy(Told())
    assert npx.calls == []
    assert place.list_left_of_deployment() == []


def test_a_deployment_that_fails_is_destroyed_and_what_stays_is_named(
    place: OnAws, npx: Npx
) -> None:
    """The stand-in deletes nothing, so the stack that it seems to have made is left."""
    npx.answers(deploy=1)
    told = Told()
    told.say = lambda text: make_stack() if "cdk deploy failed" in text else None  # type: ignore[method-assign]
    trial = run_canary(place, request(), teller=told, lasts_s=600, tag_patience_s=0)
    assert [call["arguments"][1] for call in npx.calls] == ["deploy", "destroy"]
    assert not trial.passed
    assert "npx cdk deploy failed" in str(trial.problem)
    assert [left.command for left in trial.left][:1] == [
        f"aws cloudformation delete-stack --stack-name {NAME}"
    ]


def test_the_time_that_the_budget_buys_ends_cdk_too(place: OnAws, npx: Npx) -> None:
    npx.answers(deploy="hang")
    trial = run_canary(place, request(), teller=Told(), lasts_s=0.0, tag_patience_s=0)
    assert trial.problem is not None
    assert "that the budget buys are over" in trial.problem
    assert trial.left == []


def test_ctrl_c_ends_cdk_and_destroys(place: OnAws, npx: Npx) -> None:
    npx.answers(deploy="hang")

    class Interrupting(Told):
        """Presses Ctrl-C once cdk has been seen to work."""

        def status(self, text: str) -> None:
            if "3/70" in text and not self.said:
                self.said.append(text)
                threading.Thread(target=signal.raise_signal, args=(signal.SIGINT,)).start()

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        trial = run_canary(place, request(), teller=Interrupting(), lasts_s=600, tag_patience_s=0)
    finally:
        signal.signal(signal.SIGINT, before)
    assert trial.interrupted
    assert trial.left == []
    assert [call["arguments"][1] for call in npx.calls] == ["deploy"]  # there is no stack


def test_without_npx_it_is_said_what_is_missing(
    place: OnAws, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    place.require_free()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingToolError, match="npx is missing"):
        place.deploy(Told())
