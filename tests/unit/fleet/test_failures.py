"""What Lambda says of an error becomes one sentence."""

import json

import pytest

from plimsoll.fleet.failures import failed_clients, plain_cause

TOLD = json.dumps(
    {"errorMessage": "no route: \"db\"", "errorType": "EngineError", "stackTrace": ["x" * 400]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (TOLD, 'no route: "db"'),
        ('{"errorMessage": "cut", "errorType": "E", "stackTrace": ["  File', "cut"),
        ("Task timed out after 900.00 seconds", "Task timed out after 900.00 seconds"),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
    ],
)
def test_plain_cause(cause: str, sentence: str) -> None:
    assert plain_cause(cause) == sentence


def test_failed_clients_keep_their_number_and_error() -> None:
    (failed,) = failed_clients([{"client": 3, "error": "Lambda.Unknown", "cause": TOLD}])
    assert (failed.client, failed.error, failed.cause) == (3, "Lambda.Unknown", 'no route: "db"')
