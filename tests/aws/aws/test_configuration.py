"""What functions read from the table is what CloudFormation was told to write there."""

from collections.abc import Iterator
from importlib import util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.configuration import (
    delete_configuration,
    name_configuration,
    read_environment,
    store_configuration,
)
from plimsoll.errors import PlimsollError
from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.deployment import read_deployment
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.settings import STORED, Setting
from plimsoll.targets import custom_resource
from tests.support.aws_resources import SERVICE_TABLE, aws_account, make_tables

HANDLER = Path(__file__).parents[3] / "functions" / "configure_deployment" / "handler.py"


@pytest.fixture(autouse=True)
def account() -> Iterator[None]:
    with aws_account():
        make_tables()
        yield


def environment(name: str) -> dict[str, str]:
    return {"SERVICE_TABLE": SERVICE_TABLE, "CONFIGURATION": name}


def test_what_is_stored_is_read_as_if_it_were_in_the_environment() -> None:
    values = read_deployment({"teams": {"payments": {"clients": 7}}}).stored
    store_configuration(SERVICE_TABLE, "one", values)
    assert read_environment(environment("one")) == {**environment("one"), **values}
    assert set(values) == {setting.name for setting in STORED}


def test_an_item_that_is_not_there_is_named() -> None:
    with pytest.raises(PlimsollError, match="has no configuration gone"):
        read_environment(environment("gone"))


def test_an_environment_that_names_no_item_is_whole() -> None:
    assert read_environment({"CONFIGURATION": "", "TEAMS": "{}"})["TEAMS"] == "{}"


@pytest.mark.parametrize("row", FUNCTIONS.values(), ids=lambda row: str(row.name))
def test_a_function_on_aws_reads_the_settings_of_its_row(row: Any) -> None:
    values = make_default_settings()
    stored = {setting.name: values[setting] for setting in STORED}
    store_configuration(SERVICE_TABLE, "one", stored)
    told = {**values, Setting.SERVICE_TABLE: SERVICE_TABLE, Setting.CONFIGURATION: "one"}
    given = row.variables_on_aws(told)
    assert not set(given) & set(stored)
    assert row.settings.read(read_environment(given)) == row.settings.of_deployment(told)


def load_handler(monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, list[dict[str, str]]]:
    """Import the function; gives what it answers, too."""
    answers: list[dict[str, str]] = []

    def send(event: dict[str, Any], physical_id: str, status: str, reason: str) -> None:
        del event
        answers.append({"id": physical_id, "status": status, "reason": reason})

    monkeypatch.setenv("SERVICE_TABLE", SERVICE_TABLE)
    monkeypatch.setattr(custom_resource, "_send_answer", send)
    spec = util.spec_from_file_location("configure_deployment", HANDLER)
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, answers


def test_an_update_writes_the_new_values_before_it_deletes_the_former_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module, answers = load_handler(monkeypatch)
    old, new = {"TEAMS": "{}"}, {"TEAMS": '{"payments":{}}'}
    names = [name_configuration(values) for values in (old, new)]

    def event(kind: str, values: dict[str, str], physical_id: str | None) -> dict[str, Any]:
        properties = {"Name": name_configuration(values), "Values": values}
        known = {"PhysicalResourceId": physical_id} if physical_id else {}
        return {
            "RequestType": kind,
            "ResourceType": "Custom::Configuration",
            "ResourceProperties": properties,
            **known,
        }

    module.handler(event("Create", old, None), None)
    module.handler(event("Update", new, names[0]), None)
    for name, values in zip(names, (old, new), strict=True):
        assert read_environment(environment(name))["TEAMS"] == values["TEAMS"]
    module.handler(event("Delete", old, names[0]), None)  # after the functions were updated
    with pytest.raises(PlimsollError):
        read_environment(environment(names[0]))
    assert read_environment(environment(names[1]))["TEAMS"] == new["TEAMS"]
    assert [answer["id"] for answer in answers] == [names[0], names[1], names[0]]
    assert {answer["status"] for answer in answers} == {"SUCCESS"}


def test_deleting_twice_is_as_deleting_once() -> None:
    delete_configuration(SERVICE_TABLE, "never-there")


def test_a_log_role_of_others_is_not_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    module, _ = load_handler(monkeypatch)
    answered: list[tuple[str, str]] = []
    monkeypatch.setattr(
        custom_resource, "_send_answer", lambda *given: answered.append((given[2], given[3]))
    )
    names = ("Plimsoll-LogRole-1A2B", "Plimsoll-LogRole-9Z8Y", "others")
    own, left, others = (f"arn:aws:iam::123456789012:role/{name}" for name in names)

    def ask(kind: str) -> tuple[str, str]:
        module.handler(
            {
                "RequestType": kind,
                "ResourceType": "Custom::ApiLogRole",
                "ResourceProperties": {"RoleArn": own},
                "LogicalResourceId": "LogRoleIsFree",
                "PhysicalResourceId": "LogRoleIsFree",
            },
            None,
        )
        return answered[-1]

    def set_role(arn: str) -> None:
        change: Any = {"op": "replace", "path": "/cloudwatchRoleArn", "value": arn}
        clients.apigateway().update_account(patchOperations=[change])

    assert ask("Create") == ("SUCCESS", "")  # the account has none
    set_role(own)
    assert ask("Update") == ("SUCCESS", "")
    set_role(left)
    assert ask("Create") == ("SUCCESS", "")  # an earlier deployment of this stack left it
    set_role(others)
    status, reason = ask("Create")
    assert status == "FAILED"
    assert f"as {others}" in reason
    assert "makes_log_role to false" in reason
    assert ask("Delete") == ("SUCCESS", "")
