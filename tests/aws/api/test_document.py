"""docs/openapi.json is what the routes are."""

import json
from collections.abc import Iterator
from typing import Any

from aws_lambda_powertools.event_handler.openapi.models import OpenAPI

from plimsoll.api.app import OPEN_PATHS
from tools.openapi import FILE, text

DOCUMENT = json.loads(text())


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
            assert "schema" in next(iter(response["content"].values())), (path, method, status)
