"""What Lambda says of an error becomes one sentence; so does a step that nothing answered."""

import json

import pytest

from plimsoll.fleet.failures import failed_clients, plain_cause, unanswered
from plimsoll.fleet.step import merged_step
from plimsoll.model.fleet import ClientResult
from tests.unit.fleet.test_merge import after, planned, result

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


def told(*results: ClientResult) -> str | None:
    return unanswered(merged_step(planned(), results, [], server_after=after(1100)), results)


def test_a_step_with_an_answer_to_each_operation_is_not_silent() -> None:
    assert told(result(0, [100]), result(1, [])) is None


def test_a_silent_step_says_how_late_its_clients_were() -> None:
    late = [result(client, [], late_ms=9_000, window=(5_000, 5_000)) for client in (0, 1)]
    assert told(*late) == (
        "no operation was answered in the window of step 1: 2 clients were late, at most by 9000 ms"
    )


def test_a_silent_step_says_what_its_operations_failed_with() -> None:
    failing = result(0, [], errors={"1146": 70, "connection_lost": 2})
    report = failing.report.model_copy(update={"error_examples": {"1146": "no such table"}})
    assert told(failing.model_copy(update={"report": report}), result(1, [])) == (
        "no operation was answered in the window of step 1:"
        " 70 failed with 1146 (no such table); 2 failed with connection_lost"
    )


def test_one_silent_operation_is_named() -> None:
    one = result(0, [100])
    reads = one.report.operations["read"]
    scans = reads.model_copy(
        update={"histogram": result(0, []).report.operations["read"].histogram}
    )
    report = one.report.model_copy(update={"operations": {"read": reads, "scan": scans}})
    sentence = told(one.model_copy(update={"report": report}), result(1, [100]))
    assert sentence == (
        "no scan was answered in the window of step 1: none was sent within its 4 s"
    )
