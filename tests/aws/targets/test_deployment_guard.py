"""A deployment cannot be deleted while it has something to look after."""

import io
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib import util
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.support.aws_resources import aws_account, make_state_machine

CREATES = "plimsoll-create-target"
OWN_ROLE = "arn:aws:iam::123456789012:role/plimsoll-targets"
TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
HANDLER = Path(__file__).parents[3] / "functions" / "guard_deployment" / "handler.py"


class Answers(HTTPServer):
    """Where CloudFormation's signed URL would lead."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        super().__init__(("127.0.0.1", 0), _Put)


class _Put(BaseHTTPRequestHandler):
    def do_PUT(self) -> None:
        assert isinstance(self.server, Answers)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append(json.loads(body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        del format, args


@pytest.fixture
def answers() -> Iterator[Answers]:
    server = Answers()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with aws_account(outside=[r"http://127\.0\.0\.1.*"]):
        role = boto3.client("iam").create_role(RoleName="any", AssumeRolePolicyDocument="{}")
        arn = role["Role"]["Arn"]
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as code:
            code.writestr("handler.py", "")
        boto3.client("lambda").create_function(
            FunctionName=CREATES,
            Role=arn,
            Code={"ZipFile": archive.getvalue()},
            Runtime="python3.13",
            Handler="handler.handler",
        )
        monkeypatch.setenv("RUN_MACHINE_ARN", make_state_machine("plimsoll-run"))
        monkeypatch.setenv("CREATE_TARGET_NAME", CREATES)
        monkeypatch.setenv("TARGET_SERVICE_ROLE_ARN", OWN_ROLE)
        yield


def ask(answers: Answers, request: str) -> dict[str, Any]:
    """Send the guard what CloudFormation sends; give what it answered."""
    spec = util.spec_from_file_location("guard_handler", HANDLER)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    event = {
        "RequestType": request,
        "ResponseURL": f"http://127.0.0.1:{answers.server_address[1]}/signed",
        "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/Plimsoll/1",
        "RequestId": "1",
        "LogicalResourceId": "GuardNoTargetAlive",
        "PhysicalResourceId": "guard",
    }
    module.handler(event, None)
    (answer,) = answers.received
    return answer


def door_is_closed() -> bool:
    limit = boto3.client("lambda").get_function_concurrency(FunctionName=CREATES)
    return limit.get("ReservedConcurrentExecutions") == 0


@pytest.mark.usefixtures("account")
def test_an_empty_deployment_may_go_and_makes_no_target_meanwhile(answers: Answers) -> None:
    answer = ask(answers, "Delete")
    assert (answer["Status"], answer["PhysicalResourceId"]) == ("SUCCESS", "guard")
    assert door_is_closed()


@pytest.mark.usefixtures("account")
def test_a_living_target_keeps_the_deployment_and_is_named(answers: Answers) -> None:
    for name in ("plimsoll-run-r1", "something-else"):
        boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=TEMPLATE)
    answer = ask(answers, "Delete")
    assert answer["Status"] == "FAILED"
    assert "plimsoll-run-r1" in answer["Reason"]
    assert "something-else" not in answer["Reason"]
    assert not door_is_closed()


@pytest.mark.usefixtures("account")
def test_the_targets_of_another_deployment_are_its_own_matter(answers: Answers) -> None:
    for name, role in (("plimsoll-run-r1", OWN_ROLE), ("plimsoll-run-r2", f"{OWN_ROLE}-2")):
        boto3.client("cloudformation").create_stack(
            StackName=name, TemplateBody=TEMPLATE, RoleARN=role
        )
    answer = ask(answers, "Delete")
    assert answer["Status"] == "FAILED"
    assert "plimsoll-run-r1" in answer["Reason"]
    assert "plimsoll-run-r2" not in answer["Reason"]


@pytest.mark.usefixtures("account")
def test_a_run_under_way_keeps_the_deployment(answers: Answers) -> None:
    client = boto3.client("stepfunctions")
    (machine,) = client.list_state_machines()["stateMachines"]
    client.start_execution(stateMachineArn=machine["stateMachineArn"], name="r2", input="{}")
    answer = ask(answers, "Delete")
    assert answer["Status"] == "FAILED"
    assert "the runs r2" in answer["Reason"]
    assert not door_is_closed()


@pytest.mark.usefixtures("account")
@pytest.mark.parametrize("request_type", ["Create", "Update"])
def test_deploying_opens_the_door(answers: Answers, request_type: str) -> None:
    boto3.client("lambda").put_function_concurrency(
        FunctionName=CREATES, ReservedConcurrentExecutions=0
    )
    assert ask(answers, request_type)["Status"] == "SUCCESS"
    assert not door_is_closed()


@pytest.mark.usefixtures("account")
def test_what_fails_unforeseen_is_answered_too(answers: Answers) -> None:
    boto3.client("lambda").delete_function(FunctionName=CREATES)
    answer = ask(answers, "Delete")
    assert answer["Status"] == "FAILED"
    assert "ResourceNotFound" in answer["Reason"]
