"""The API's function over services that answer within this process (moto)."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest

from plimsoll.api.app import answer_call
from plimsoll.aws import clients
from plimsoll.local.account import REGION
from plimsoll.local.deploying import PRINCIPAL, Deployer, make_default_settings, state_machine_arn
from plimsoll.model.deployment.functions import Setting
from tests.support.aws_resources import aws_account, make_state_machine
from tests.support.every_setting import EverySetting

OTHER = "arn:aws:sts::123456789012:assumed-role/other/ci"
ENDPOINT_SECRET = "arn:aws:secretsmanager:us-east-1:123456789012:secret:db"
TEAMS = {
    "default": {"principals": [PRINCIPAL], "concurrent_runs": 100, "clients": 1000},
    "other": {
        "principals": ["arn:aws:iam::123456789012:role/other"],
        "concurrent_runs": 20,
        "clients": 200,
    },
}


@dataclass(frozen=True)
class Answered:
    """What came back."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)

    @property
    def wrong(self) -> dict[str, Any]:
        """What is said of each field that is wrong."""
        return {error["field"]: error for error in self.body["errors"]}


@dataclass
class Api:
    """Calls the function as API Gateway does."""

    deployment: EverySetting
    principal: str | None = PRINCIPAL
    calls: list[Answered] = field(default_factory=list)

    def __call__(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        principal: str | None = None,
    ) -> Answered:
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        event = proxy_event(
            method,
            path,
            body=text,
            headers=headers or {},
            query=query,
            principal=principal or self.principal,
        )
        made = answer_call(event, None, settings=self.deployment)
        given = {name: values[0] for name, values in made["multiValueHeaders"].items()}
        answered = Answered(made["statusCode"], given, made["body"])
        self.calls.append(answered)
        return answered


def proxy_event(
    method: str,
    path: str,
    *,
    body: str | None,
    headers: Mapping[str, str],
    query: Mapping[str, str] | None,
    principal: str | None,
) -> dict[str, Any]:
    return {
        "resource": "/{proxy+}",
        "path": path,
        "httpMethod": method,
        "headers": dict(headers),
        "multiValueHeaders": {name: [value] for name, value in headers.items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {k: [v] for k, v in query.items()} if query else None,
        "pathParameters": {"proxy": path[1:]},
        "stageVariables": None,
        "requestContext": {
            "accountId": "123456789012",
            "path": f"/v1{path}",
            "stage": "v1",
            "requestId": "request-1",
            "identity": {"userArn": principal},
        },
        "body": body,
        "isBase64Encoded": False,
    }


@pytest.fixture(scope="module")
def served() -> Iterator[EverySetting]:
    """Everything that the function needs; made once, since clients cost tenths of a second."""
    settings = make_default_settings() | {
        Setting.TEAMS: json.dumps(TEAMS),
        Setting.ALLOWED_ENDPOINTS: json.dumps({"db.example.internal:3306": ENDPOINT_SECRET}),
    }
    with aws_account(region=REGION):
        client: Any = boto3.client  # its types know a service's name only as a literal
        Deployer(client, settings).storage()
        yield EverySetting.of_deployment(settings)


@pytest.fixture
def api(served: EverySetting) -> Iterator[Api]:
    machine = make_state_machine("run")
    yield Api(served)
    clients.stepfunctions().delete_state_machine(stateMachineArn=machine)
    for item in clients.dynamodb().scan(TableName=served.runs_table)["Items"]:
        key = {"run_id": item["run_id"]}
        clients.dynamodb().delete_item(TableName=served.runs_table, Key=key)


def executions() -> dict[str, str]:
    """The state of each execution of the workflow, by run id."""
    found = clients.stepfunctions().list_executions(stateMachineArn=state_machine_arn("run"))
    return {one["name"]: one["status"] for one in found["executions"]}
