"""What Lambda says of an error becomes one sentence."""

import json

import pytest

from plimsoll.fleet.failures import describe_failures, extract_cause, extract_causes
from plimsoll.model.run.fleet import FailedClient

TOLD = json.dumps(
    {"errorMessage": "no route: \"db\"", "errorType": "EngineError", "stackTrace": ["x" * 400]}
)  # fmt: skip


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (TOLD, 'no route: "db"'),
        ('{"errorMessage": "cut", "errorType": "E", "stackTrace": ["  File', "cut"),
        ('{"errorType":"Sandbox.Timedout","errorMessage":"Task timed out"}', "Task timed out"),
        ("Task timed out after 900.00 seconds", "Task timed out after 900.00 seconds"),
        ("[1, 2]", "[1, 2]"),
        ("", ""),
    ],
)
def test_plain_cause(cause: str, sentence: str) -> None:
    assert extract_cause(cause) == sentence


def test_failed_clients_keep_their_number_and_error() -> None:
    written = FailedClient(client=3, error="Lambda.Unknown", cause=TOLD)
    (failed,) = extract_causes([written])
    assert (failed.client, failed.error, failed.cause) == (3, "Lambda.Unknown", 'no route: "db"')


def refused(client: int) -> FailedClient:
    return FailedClient(client=client, error="ClientTooLateError", cause="called 4.0 s after it")


def test_clients_that_failed_for_the_same_cause_are_told_together() -> None:
    killed = [
        FailedClient(client=n, error="Lambda.Unknown", cause="killed") for n in range(20, 980)
    ]
    failed = [refused(3), *killed, refused(1000), refused(7)]
    assert describe_failures(failed) == [
        "960 clients (20, 21, 22, 23, 24, 25, 26, 27, 28, 29, ...) failed: Lambda.Unknown: killed",
        "3 clients (3, 1000, 7) failed: called 4.0 s after it",
    ]
    assert describe_failures([refused(3)]) == ["client 3 failed: called 4.0 s after it"]


@pytest.mark.parametrize(
    ("error", "cause", "said"),
    [
        ("ClientRefusedError", "another one sends", "another one sends"),
        ("EngineError", "server gone (connection_lost)", "server gone (connection_lost)"),
        ("KeyError", "'window'", "KeyError: 'window'"),
        ("Sandbox.Timedout", "Task timed out", "Sandbox.Timedout: Task timed out"),
        ("Complaint", "of no error's name", "Complaint: of no error's name"),
        ("ClientTooLateError", "", "ClientTooLateError: "),
    ],
)
def test_an_error_of_ours_is_told_by_its_sentence(error: str, cause: str, said: str) -> None:
    failed = FailedClient(client=0, error=error, cause=cause)
    assert describe_failures([failed]) == [f"client 0 failed: {said}"]


def test_a_thousand_causes_are_not_all_told() -> None:
    failed = [FailedClient(client=n, error="E", cause=str(n)) for n in range(1000)]
    told = describe_failures(failed)
    assert len(told) == 11
    assert told[-1] == "990 more clients failed for other reasons"
