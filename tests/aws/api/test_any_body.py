"""Whatever a body holds, the API answers it: never with 500, and in words for each field."""

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.aws.api.conftest import Api
from tests.support.requested import REQUESTED

DEFINITION = {
    "about": "a test",
    "parameters": {"width": {"about": "bytes", "default": 20, "range": [1, 50]}},
    "tables": {
        "item": {
            "rows": "$records",
            "primary_key": ["id"],
            "columns": {
                "id": {"type": "bigint", "value": "row"},
                "name": {"type": "varchar(50)", "value": {"text": "$width"}},
            },
        }
    },
    "operations": {
        "read": {
            "weight": 1,
            "statements": [
                {
                    "sql": "SELECT * FROM {item} WHERE id = ?",
                    "cql": "SELECT * FROM {item} WHERE id = ?",
                    "binds": [{"key": "item"}],
                }
            ],
        }
    },
}
REQUEST = {
    **REQUESTED,
    "workload": {"definition": DEFINITION, "records": 1000, "parameters": {"width": 3}},
    "budget_usd": 5.0,
    "time_limit_s": 7200,
    "tags": {"a": "b"},
    "load": {"duration_s": 8},
    "limits": {"statistic": "p99"},
}
# as they stand in a body: JSON's reader is fuzzed, too
STRANGE = st.sampled_from(
    [
        "1e999",
        "-1e400",
        "NaN",
        "1" + "0" * 400,
        "1" * 5000,
        "true",
        "null",
        '""',
        '"\\u0000"',
        '"\\ud800"',
        "[]",
        "{}",
        "[[[[]]]]",
        "-0.0",
        "1e-400",
        '"1e999"',
        "2147483648",
        "-1",
        "0.5",
        '"\\u001b[2J"',
        "18446744073709551616",
        '"' + "x" * 5000 + '"',
        '"$records * 9"',
        '"{item}"',
    ]
)
ANY = st.one_of(
    STRANGE,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
        ),
        max_leaves=8,
    ).map(json.dumps),
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Name every part of a value."""
    found = [path] if path else []
    if isinstance(value, dict | list):
        for name, part in value.items() if isinstance(value, dict) else enumerate(value):
            found += places(part, (*path, name))
    return found


def with_raw(path: tuple[str | int, ...], raw: str) -> str:
    """Write the request with something else at a place."""
    copy = json.loads(json.dumps(REQUEST))
    part = copy
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = "here it is"
    return json.dumps(copy).replace('"here it is"', raw)


def test_the_request_itself_is_sound(api: Api) -> None:
    assert api("POST", "/runs", REQUEST).status == 202


@settings(
    max_examples=250,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.sampled_from(places(REQUEST)), ANY, st.sampled_from(["/runs", "/quotes"]))
def test_any_value_anywhere_is_answered(
    api: Api, path: tuple[str | int, ...], raw: str, route: str
) -> None:
    answered = api("POST", route, with_raw(path, raw))
    assert answered.status in {200, 202, 400, 409, 413, 422, 429}, answered.text
    json.loads(answered.text, parse_constant=_refuse)


def _refuse(name: str) -> None:
    raise AssertionError(f"JSON has no {name}")


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(st.one_of(ANY, st.text(max_size=60)), st.sampled_from(["/runs", "/quotes", "/experiments"]))
def test_any_body_is_answered(api: Api, body: str, route: str) -> None:
    answered = api("POST", route, body)
    assert answered.status in {400, 422}, answered.text
