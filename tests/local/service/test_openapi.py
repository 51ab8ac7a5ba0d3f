"""The service keeps to its own OpenAPI document, whatever it is sent: no violation, and no 5xx.

What the generated requests manage to start belongs to a team of its own, and is stopped.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from plimsoll.client.address import Address
from tests.local.service.conftest import HEADER, PATIENCE_S, Caller
from tests.local.workflow.pool import FUZZER

ROOT = Path(__file__).parents[3]


def _unsigned() -> dict[str, Any]:
    """The document without signatures: AWS checks them, and the service here has no token."""
    written: dict[str, Any] = json.loads((ROOT / "docs/openapi.json").read_bytes())
    del written["components"]["securitySchemes"]
    for operations in written["paths"].values():
        for operation in operations.values():
            operation.pop("security", None)
    return written


UNSIGNED = _unsigned()
# 2,300 to 2,900 requests, most of them variants of a run's body. `make test` sends those of an
# experiment's, to `/experiments`.
WHOLE = {
    ("post", "/runs"),
    ("post", "/quotes"),
    ("post", "/quotes/experiments"),
    ("put", "/schedules/{name}"),
}
OPERATIONS = [
    pytest.param(method, path, marks=pytest.mark.whole if (method, path) in WHOLE else ())
    for path, methods in UNSIGNED["paths"].items()
    for method in methods
]
# Rules beyond JSON Schema (a volume that AWS does not sell) make a 422 of what the document allows.
NOT_OURS = "positive_data_acceptance"


@pytest.fixture(scope="module")
def document() -> Any:
    import schemathesis

    return schemathesis.openapi.from_dict(UNSIGNED)


@pytest.fixture(scope="module")
def fuzzer(address: Address) -> Iterator[Caller]:
    """A caller of a team of its own, whose runs have ended when the tests have."""
    caller = Caller(address, principal=FUZZER, profile=None)
    yield caller
    for run in caller("GET", "/runs", query={"limit": 100}).body["runs"]:
        caller.end(run["run_id"])


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_it_keeps_to_its_document(method: str, path: str, document: Any, fuzzer: Caller) -> None:
    from schemathesis.checks import CHECKS
    from schemathesis.core.result import Ok
    from schemathesis.pytest.lazy import get_all_tests

    excluded: Any = [CHECKS.get_one(NOT_OURS)]

    def send(case: Any) -> None:
        response = case.call_and_validate(
            base_url=fuzzer.url,
            headers={HEADER: FUZZER},
            excluded_checks=excluded,
            timeout=PATIENCE_S,  # its own 10 s would be a measure of this machine
        )
        if case.method == "POST" and "Location" in response.headers:
            assert fuzzer("DELETE", response.headers["Location"][0]).status in {200, 202}
        if case.method == "PUT" and response.status_code in {200, 201}:
            assert fuzzer("DELETE", case.formatted_path).status == 204

    # Not `document.parametrize()`: it generates the requests where tests are collected, which took
    # each worker a third of its collection.
    (found,) = get_all_tests(
        schema=document.include(method=method.upper(), path=path),
        test_func=send,
        settings=settings(max_examples=10, suppress_health_check=list(HealthCheck)),
        given_kwargs={},
    )
    assert isinstance(found, Ok), found
    _, send_all = found.ok()
    send_all()
