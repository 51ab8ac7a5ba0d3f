"""What functions log of their calls: enough to follow a run, and nothing secret."""

import json
from typing import Any

import pytest

from plimsoll.aws import function_log
from plimsoll.aws.function_log import find_fields, log_calls, log_line
from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from plimsoll.packaged import find_packaged_folder

SECRET = "hunter2"


class Context:
    """What Lambda gives besides the event."""

    aws_request_id = "call-1"


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "plimsoll-load-client")
    monkeypatch.delenv("LOG_LEVEL", raising=False)
    monkeypatch.setattr(function_log, "_cold", [True])


def test_a_call_is_one_line_with_the_run_its_step_and_its_client(
    capsys: pytest.CaptureFixture[str],
) -> None:
    handler = log_calls(lambda _event, _context: "answer")
    event = {"run_id": "run-1", "step": 3, "client": 7}
    assert [handler(event, Context()) for _ in range(2)] == ["answer", "answer"]
    first, second = lines(capsys)
    assert (
        first.items()
        >= {
            "level": "INFO",
            "message": "ended",
            "service": "plimsoll-load-client",
            "correlation_id": "run-1",
            "function_request_id": "call-1",
            "cold_start": True,
            **event,
        }.items()
    )
    assert first["duration_ms"] >= 0
    assert second["cold_start"] is False


def test_a_failure_is_logged_by_its_kind_and_raised(capsys: pytest.CaptureFixture[str]) -> None:
    @log_calls
    def handler(event: dict[str, Any], _context: Any) -> None:
        raise ValueError(f"password {event['password']} is wrong")

    with pytest.raises(ValueError, match=SECRET):
        handler({"run_id": "run-1", "password": SECRET}, None)
    (line,) = lines(capsys)
    assert (line["level"], line["message"], line["error"]) == ("ERROR", "failed", "ValueError")
    assert SECRET not in json.dumps(line)


@pytest.mark.parametrize(
    "event",
    [
        {"password": SECRET},
        {"run_id": "run-1", "target": {"password": SECRET}},
        {"run_id": {"password": SECRET}, "name": [SECRET]},
        {"detail": {"run_id": "run-1", "dsn": f"mysql://root:{SECRET}@db"}},
        {"ResourceProperties": {"Values": {"ALLOWED_ENDPOINTS": SECRET}}},
    ],
)
def test_nothing_of_an_event_but_ids_and_names_is_logged(event: dict[str, Any]) -> None:
    assert SECRET not in json.dumps(find_fields(event))


def test_an_event_of_the_bus_is_correlated_by_its_run() -> None:
    assert find_fields({"detail": {"run_id": "run-1"}})["correlation_id"] == "run-1"
    assert find_fields({"experiment_id": "e-1", "cell": 4})["correlation_id"] == "e-1"
    assert find_fields({}) == {}


def test_levels_are_configured(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for level, written in (("DEBUG", 4), ("INFO", 3), ("ERROR", 1), ("LOUD", 3)):
        monkeypatch.setenv("LOG_LEVEL", level)
        for each in function_log.LEVELS:
            log_line(each, "said")
        assert len(lines(capsys)) == written


def test_every_handler_but_the_apis_logs_its_calls() -> None:
    folder = find_packaged_folder("functions")
    for row in (*FUNCTIONS.values(), *OF_DEPLOYMENT):
        source = (folder / row.folder / "handler.py").read_text()
        assert ("@log_calls\ndef handler(" in source) == (row.name != "api"), row.name
