"""docs/openapi.json is what the routes are."""

import json
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # its types are a package of their own
import pytest
from aws_lambda_powertools.event_handler.openapi.models import OpenAPI

from plimsoll.api.app import OPEN_PATHS
from plimsoll.aws import clients
from plimsoll.local.deploying import state_machine_arn
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.check import CheckDefinition
from plimsoll.model.request.request import Request
from tests.aws.api.conftest import Api
from tests.support.aws_resources import make_state_machine
from tools.api_examples import requests
from tools.openapi import FILE, text

DOCUMENT = json.loads(FILE.read_text())  # the routes give the same, as the first test has it
JSON = "application/json"


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_the_file_is_what_the_routes_give() -> None:
    assert FILE.read_text() == text(), "run: make docs"


def test_it_is_an_openapi_document() -> None:
    assert OpenAPI.model_validate(DOCUMENT).openapi == "3.1.0"
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(names)) == len(names) >= 8


def test_every_refusal_is_a_problem_document() -> None:
    for path, method, operation in operations():
        refusals = {s: r for s, r in operation["responses"].items() if s >= "400"}
        assert {"429", "500", "503"} <= set(refusals), (path, method)
        for refusal in refusals.values():
            problem = refusal["content"]["application/problem+json"]["schema"]
            assert problem == {"$ref": "#/components/schemas/Problem"}, (path, method)


def test_all_that_is_sent_a_run_may_answer_that_it_exceeds_a_limit_of_the_team() -> None:
    # checks and quotes refuse what POST /runs refuses
    sent = {
        name["operationId"]: name["responses"] for *_, name in operations() if "requestBody" in name
    }
    assert {"start_run", "quote_run", "start_experiment", "quote_experiment", "put_schedule"} <= {
        *sent
    }
    assert [name for name, responses in sent.items() if "409" not in responses] == []


def test_every_call_but_that_for_health_is_signed() -> None:
    unsigned = {path for path, _, operation in operations() if "security" not in operation}
    assert unsigned == OPEN_PATHS


def test_everything_says_what_it_is() -> None:
    for path, method, operation in operations():
        assert operation["summary"], (path, method)
        for parameter in operation.get("parameters", []):
            assert parameter["description"], (path, parameter["name"])
        for status, response in operation["responses"].items():
            assert response["description"], (path, method, status)
            if status != "204":
                content = next(iter(response["content"].values()))
                assert "schema" in content, (path, method, status)


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Give what is sent and what is answered by each operation, and what that is called."""
    for _, _, operation in operations():
        name = operation["operationId"]
        if "requestBody" in operation:
            yield f"{name} body", operation["requestBody"]["content"][JSON]
        for status, response in operation["responses"].items():
            if status in {"200", "201", "202"}:
                yield f"{name} {status}", response["content"][JSON]


@pytest.mark.parametrize("name", dict(contents()))
def test_every_body_has_an_example_that_is_as_its_schema_says(name: str) -> None:
    content = dict(contents())[name]
    assert content["example"]
    schema = {**content["schema"], "components": DOCUMENT["components"]}
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    jsonschema.validate(
        content["example"], schema, jsonschema.Draft202012Validator, format_checker=checker
    )


def test_every_operation_that_takes_or_gives_a_body_has_an_example() -> None:
    found = {name.split()[0] for name, _ in contents()}
    every = {operation["operationId"] for _, _, operation in operations()}
    assert every - found == {"delete_schedule"}  # which neither takes nor gives one


def test_the_service_takes_each_example_of_a_body(api: Api) -> None:
    make_state_machine("experiment")
    paths = {operation["operationId"]: (method, path) for path, method, operation in operations()}
    for name, body in requests().items():
        method, path = paths[name]
        told = api(method.upper(), path.replace("{name}", "nightly"), body)
        assert told.status in {200, 201, 202}, (name, told)
    machine = state_machine_arn("experiment")
    clients.stepfunctions().delete_state_machine(stateMachineArn=machine)


def test_generators_find_one_schema_of_each_thing_under_one_name() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    titles = [schema["title"] for schema in schemas.values()]
    assert len(set(titles)) == len(titles) == len(schemas)
    assert all(name.isidentifier() for name in schemas)


def test_what_an_object_is_where_it_is_left_out_its_fields_say() -> None:
    """Generators drop what has an object as its default; so its fields' own defaults must do."""
    for schema in DOCUMENT["components"]["schemas"].values():
        for name, part in schema.get("properties", {}).items():
            assert not isinstance(part.get("default"), dict), name
    for model in (Request, Rules, CheckDefinition):
        defaults = [field.default for field in model.model_fields.values()]
        objects = [default for default in defaults if isinstance(default, Model)]
        assert objects == [type(default)() for default in objects] != []


def test_whoever_names_no_team_is_not_made_to_name_the_default_one() -> None:
    """Generated clients send defaults, and other teams are refused."""
    for name in ("Request", "Experiment"):
        assert "default" not in DOCUMENT["components"]["schemas"][name]["properties"]["team"]
