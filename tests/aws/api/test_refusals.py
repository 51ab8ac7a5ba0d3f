"""What the API refuses, and how it says so: nothing is made, and every field is named."""

import json
from typing import Any, get_args

import pytest

from plimsoll.api import app
from plimsoll.api.body_guards import BODY_MOST_BYTES, DEPTH_MOST
from plimsoll.complaints import Complaint
from plimsoll.model.engine.asked import Consistency
from tests.aws.api.conftest import ENDPOINT_SECRET, OTHER, Api, executions
from tests.support.requested import REQUESTED

STRANGER = "arn:aws:iam::999999999999:user/mallory"
RDS = REQUESTED["target"]
ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "db.example.internal",
    "secret_arn": ENDPOINT_SECRET,
}


WORKLOAD = {
    "about": "reads what is not its own",
    "tables": {
        "item": {
            "rows": "$records",
            "primary_key": ["id"],
            "columns": {"id": {"type": "int", "value": "row"}},
        }
    },
    "operations": {"read": {"weight": 1, "statements": [{"sql": "SELECT * FROM mysql.user"}]}},
}


@pytest.fixture(autouse=True)
def nothing_is_made(api: Api) -> Any:
    yield
    assert executions() == {}
    for answered in api.calls:
        if answered.status >= 400:
            assert answered.headers["Content-Type"] == "application/problem+json"
            assert answered.body["status"] == answered.status
            assert answered.body["request_id"] == "request-1"
            assert "Traceback" not in answered.text


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("change", "field", "said", "allowed"),
    [
        ({"foo": 1}, "foo", "unknown field 'foo'", "workload"),
        ({"name": "Not A Name"}, "name", "should match pattern", "^[a-z0-9]+(-[a-z0-9]+)*$"),
        ({"target": {**RDS, "engine": "oracle"}}, "target.engine", "'oracle'", "mariadb"),
        ({"target": {"kind": "ftp"}}, "target", "'ftp'", "endpoint"),
        ({"target": {}}, "target", "lacks the field 'kind'", None),
        ({"time_limit_s": 3}, "time_limit_s", "not 3", ">= 10"),
        ({"target": {**RDS, "engine_versio": "1"}}, "target.engine_versio", "did you mean", None),
        ({"workload": {"name": "ycsb-z", "records": 1}}, "workload.name", "ycsb-z", "ycsb-a"),
        (
            {"limits": {"limits_us": {"raed": 100}}},
            "limits.limits_us.raed",
            "did you mean 'read'",
            "update",
        ),
        (
            {"workload": {"definition": WORKLOAD, "records": 1}},
            "workload.definition.operations.read.statements[0].sql",
            "reaches beyond the workload's tables: another database, 'mysql'",
            None,
        ),
        (
            {
                "phases": [
                    {
                        "name": "batch",
                        "workload": {"name": "batch-2-validation"},
                        "to_completion": {"records": 100, "connections": [1]},
                    }
                ]
            },
            "phases[0].workload",
            "uses the dataset billing, but the run's own is ycsb",
            None,
        ),
        ({"search": {"strategy": "steps", "clients": [0]}}, "search.clients[0]", "not 0", ">= 1"),
        ({"faults": [{"step": 1, "volume": {}}]}, "faults", "", None),
        (
            {"target": {**ENDPOINT, "host": "db.elsewhere.example"}},
            "target.host",
            "not among the endpoints that this deployment allows",
            "db.example.internal:3306",
        ),
        (
            {"target": {**ENDPOINT, "secret_arn": f"{ENDPOINT_SECRET}-of-another"}},
            "target.secret_arn",
            "has another secret",
            ENDPOINT_SECRET,
        ),
    ],
)
def test_a_wrong_field_is_named_with_what_is_allowed(
    api: Api, change: dict[str, Any], field: str, said: str, allowed: str | None
) -> None:
    refused = api("POST", "/runs", {**REQUESTED, **change})
    assert refused.status == 422
    assert refused.body["type"] == "urn:plimsoll:problem:invalid-request"
    named = {path: error for path, error in refused.wrong.items() if path.startswith(field)}
    (error,) = named.values()
    assert said in error["detail"]
    assert allowed is None or allowed in error["allowed"]


def test_a_quote_is_of_a_request_that_could_run(api: Api) -> None:
    refused = api("POST", "/quotes", {**REQUESTED, "limits": {"limits_us": {"raed": 100}}})
    assert (refused.status, list(refused.wrong)) == (422, ["limits.limits_us.raed"])


@pytest.mark.parametrize(
    ("change", "field", "value", "allowed"),
    [
        ({"target": {**RDS, "volume": {"type": "io1", "size_gib": 100, "iops": 9}}},
         "target.volume.iops", 9, ["1,000 to 5,000"]),
        ({"search": {"strategy": "magic"}}, "search.strategy", "magic", ["steps", "ramp", "rate"]),
        ({"search": {"strategy": "steps", "clients": [1, 0]}}, "search.clients[1]", 0, [">= 1"]),
        ({"budget_usd": 0.01}, "budget_usd", 0.01, [">= 0.10"]),
        ({"time_limit_s": 100}, "time_limit_s", 100, [">= 150"]),
        ({"target": {**RDS, "instance_class": "db.m5.huge"}}, "target.instance_class", "db.m5.huge",
         [f"db.m5.{size}" for size in ("large", "xlarge", "2xlarge", "4xlarge", "8xlarge",
                                       "12xlarge", "16xlarge", "24xlarge")]),
        ({"target": {**ENDPOINT, "host": "db.elsewhere.example"}},
         "target.host", "db.elsewhere.example", ["db.example.internal:3306"]),
        ({"workload": {"name": "ycsb-a", "records": 1, "parameters": {"consistency": "ten"}}},
         "workload.parameters.consistency", "ten", sorted(get_args(Consistency))),
        ({"tags": {"a=b": "c"}}, "tags.a=b", "a=b", ["^[^=]+$"]),
        ({"tags": {"": "c"}}, "tags.", "", ["^[^=]+$"]),
        # what stands where nothing is known of is not repeated
        ({"limits": {"limits_us": {"raed": 100}}}, "limits.limits_us.raed", None,
         ["read", "update"]),
        ({"workload": {"name": "ycsb-a", "records": 1, "parameters": {"rows": "x"}}},
         "workload.parameters.rows", None, ["consistency"]),
    ],
)  # fmt: skip
def test_a_wrong_field_is_told_with_its_value_and_what_may_stand_there(
    api: Api, change: dict[str, Any], field: str, value: object, allowed: list[str]
) -> None:
    [error] = api("POST", "/runs", {**REQUESTED, **change}).body["errors"]
    assert (error["field"], error["value"], error["allowed"]) == (field, value, allowed)


def test_no_field_value_or_allowed_value_is_read_out_of_a_sentence(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    changes: list[dict[str, Any]] = [
        {"target": {**RDS, "volume": {"type": "io1", "size_gib": 100, "iops": 9}}},
        {"target": {**RDS, "engine": "oracle", "engine_versio": "1"}, "search": {"strategy": "x"}},
        {"target": {**ENDPOINT, "host": "db.elsewhere.example"}},
        {"workload": {"definition": WORKLOAD, "records": 1}},
        {"workload": {"name": "ycsb-a", "records": 1, "parameters": {"consistency": "ten"}}},
        {"limits": {"limits_us": {"raed": 100}}},
        {"budget_usd": 0.01},
        {"team": "other"},
    ]

    def told() -> list[Any]:
        refusals = [api("POST", "/runs", {**REQUESTED, **change}) for change in changes]
        refusals += [api("GET", "/runs", query=query) for query in ({"state": "X"}, {"foo": "1"})]
        errors = [error for refused in refusals for error in refused.body["errors"]]
        return [{name: error[name] for name in ("field", "value", "allowed")} for error in errors]

    before = told()
    monkeypatch.setattr(Complaint, "sentence", "something: else (allowed: nothing)")
    assert told() == before
    assert len(before) == 12
    assert sum(bool(error["allowed"]) for error in before) == 11  # all but the workload's statement


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ({"cursor": "abc"}, "abc"),
        ({"state": "DONE"}, "DONE"),
        ({"limit": "many"}, "many"),
        ({"secret": "hunter2"}, None),  # what stands where nothing is known of is not repeated
    ],
)
def test_a_wrong_parameter_is_told_with_its_value(
    api: Api, query: dict[str, str], value: str | None
) -> None:
    [error] = api("GET", "/runs", query=query).body["errors"]
    assert (error["field"], error["value"]) == (*query, value)


def test_every_wrong_field_is_told_at_once(api: Api) -> None:
    wrong = {**REQUESTED, "time_limit_s": 1, "name": "", "foo": None}
    assert set(api("POST", "/runs", wrong).wrong) == {"time_limit_s", "name", "foo"}


def test_what_stands_in_an_unknown_field_is_not_repeated(api: Api) -> None:
    refused = api("POST", "/runs", {**REQUESTED, "target": {**RDS, "password": "hunter2"}})
    assert refused.status == 422
    assert "hunter2" not in refused.text


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{", "is not JSON"),
        ('{"name": "a", "name": "b"}', "'name' is given twice"),
        ('{"name": NaN}', "NaN is not a number"),
        ('{"name": "\\ud800"}', "half a character"),
        ("1" * 5000, "a number is too long"),
        ("[" * 100_000, "nested deeper"),
        ('{"a":' * 50_000, "nested deeper"),
    ],
)
def test_what_is_no_json_is_400(api: Api, body: str, said: str) -> None:
    refused = api("POST", "/runs", body)
    assert (refused.status, refused.body["title"]) == (400, "Not json")
    assert said in refused.body["detail"]


def test_nesting_is_counted_outside_of_text(api: Api) -> None:
    assert api("POST", "/runs", nested(DEPTH_MOST)).status == 422
    assert api("POST", "/runs", nested(DEPTH_MOST + 1)).status == 400
    assert api("POST", "/runs", {"name": '"[{' * 1000}).status == 422


def test_a_body_has_a_largest_size(api: Api) -> None:
    assert api("POST", "/runs", " " * BODY_MOST_BYTES).status == 400
    refused = api("POST", "/runs", " " * (BODY_MOST_BYTES + 1))
    assert refused.status == 413
    assert str(BODY_MOST_BYTES) in refused.body["detail"]


def test_a_body_is_json(api: Api) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert api("POST", "/runs", "name=a", headers=form).status == 415
    nothing = api("POST", "/runs")
    assert (nothing.status, set(nothing.wrong)) == (422, {"body"})


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ({"tagg": "a=b"}, "tagg"),
        ({"limit": "1000"}, "limit"),
        ({"state": "GONE"}, "state"),
        ({"tag": "no-value"}, "tag"),
        ({"cursor": "bm9uc2Vuc2U="}, "cursor"),
        ({"cursor": "WyJhIiwgMV0="}, "cursor"),
        ({"cursor": "!"}, "cursor"),
    ],
)
def test_a_wrong_parameter_is_named(api: Api, query: dict[str, str], named: str) -> None:
    refused = api("GET", "/runs", query=query)
    assert (refused.status, set(refused.wrong)) == (422, {named})


@pytest.mark.parametrize("key", ["", "two words", "x" * 201, "é"])
def test_a_wrong_key_is_named(api: Api, key: str) -> None:
    refused = api("POST", "/runs", REQUESTED, headers={"Idempotency-Key": key})
    assert (refused.status, set(refused.wrong)) == (422, {"Idempotency-Key"})


def test_paths_and_methods_that_are_not_there(api: Api) -> None:
    assert api("GET", "/nothing").status == 404
    wrong = api("PUT", "/runs")
    assert (wrong.status, wrong.headers["Allow"]) == (405, "GET, POST")


@pytest.mark.parametrize("path", ["/runs", "/workloads", "/runs/20261121-140708-63d0ac", "/none"])
def test_who_belongs_to_no_team_is_refused_everywhere(api: Api, path: str) -> None:
    for principal in (STRANGER, "arn:aws:sts::123456789012:assumed-role/others/ci"):
        refused = api("GET", path, principal=principal)
        assert (refused.status, refused.body["title"]) == (403, "Unknown principal")
    api.principal = None
    assert api("GET", path).status == 403


def test_a_request_for_another_team_is_refused(api: Api) -> None:
    refused = api("POST", "/runs", {**REQUESTED, "team": "other"})
    assert (refused.status, refused.body["title"]) == (403, "Other team")
    assert (refused.wrong["team"]["value"], refused.wrong["team"]["allowed"]) == (
        "other",
        ["default"],
    )
    assert api("GET", "/runs", query={"team": "other"}).status == 403


def test_an_unexpected_error_is_told_without_its_words(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged: list[Any] = []

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the canary sings")

    monkeypatch.setattr("plimsoll.api.run_routes.submit_run", broken)
    monkeypatch.setattr(app.LOG, "error", lambda *_, **told: logged.append(told))
    refused = api("POST", "/runs", REQUESTED, principal=OTHER)
    assert (refused.status, refused.body["title"]) == (500, "Unexpected")
    assert "canary" not in refused.text
    assert logged[0]["extra"] == {"request_id": "request-1"}
    assert "canary" in str(logged[0]["exc_info"])


NUMBERS = [
    *(("target", "volume", name) for name in ("size_gib", "iops")),
    ("workload", "records"),
    ("search", "clients", 0),
    ("budget_usd",),
    ("time_limit_s",),
    ("load", "duration_s"),
    ("load", "timeout_ms"),
]


def body_with(path: tuple[str | int, ...], number: str) -> str:
    """Write the request of the tests with something else at one place, as JSON cannot be given."""
    request = json.loads(json.dumps(REQUESTED))
    part = request
    for name in path[:-1]:
        part = part[name] if isinstance(name, int) else part.setdefault(name, {})
    part[path[-1]] = "here"
    return json.dumps(request).replace('"here"', number)


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize("number", ["1e999", "-1e999", "1E400"])
def test_a_number_beyond_every_number_is_no_json(
    api: Api, path: tuple[str | int, ...], number: str
) -> None:
    answered = api("POST", "/runs", body_with(path, number))
    assert (answered.status, answered.body["type"]) == (400, "urn:plimsoll:problem:not-json")
    assert f"{number} is beyond every number" in answered.body["detail"]


@pytest.mark.parametrize("path", NUMBERS)
@pytest.mark.parametrize("value", ["true", '"1"', '"yes"', "[1]", "{}"])
def test_a_number_is_neither_text_nor_a_truth_value(
    api: Api, path: tuple[str | int, ...], value: str
) -> None:
    answered = api("POST", "/runs", body_with(path, value))
    assert answered.status == 422
    assert answered.body["errors"]
