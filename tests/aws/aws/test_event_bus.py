"""What a run and the janitor tell the bus: it fits its schema, and fails nobody."""

import json
from datetime import UTC, datetime
from typing import Any

import boto3
import jsonschema  # type: ignore[import-untyped]  # its types are a package of their own
import pytest

from plimsoll.aws import clients
from plimsoll.checks.judging import find_regressions
from plimsoll.model.deployment.events import EVENTS, Event, RegressionFound
from plimsoll.model.run.run_record import RunState
from plimsoll.targets.janitor import sweep_stacks
from plimsoll.workflow.end import end_run
from plimsoll.workflow.history import judge_so_far
from plimsoll.workflow.judge_step import build_judged_event
from plimsoll.workflow.start_and_stop import record_run
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run
from tests.unit.checks.histories import check, history
from tools.event_schemas import FOLDER, file_name, schema

SCHEMAS = {event.detail_type: json.loads(schema(event)) for event in EVENTS}


@pytest.fixture
def told(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What is put on the bus; each fits its schema."""
    assert deployment.event_bus == "plimsoll"
    put = clients.events().put_events
    seen: list[dict[str, Any]] = []

    def put_events(**members: Any) -> Any:
        answer = put(**members)
        assert answer["FailedEntryCount"] == 0
        for entry in members["Entries"]:
            assert (entry["Source"], entry["EventBusName"]) == ("plimsoll", "plimsoll")
            detail = json.loads(entry["Detail"])
            jsonschema.validate(detail, SCHEMAS[entry["DetailType"]])
            seen.append({"kind": entry["DetailType"], **detail})
        return answer

    monkeypatch.setattr(clients.events(), "put_events", put_events)
    return seen


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: str(event.detail_type))
def test_the_schemas_in_the_docs_are_those_of_the_models(event: type[Event]) -> None:
    path = FOLDER / file_name(event)
    assert path.read_text() == schema(event), "run: .venv/bin/python -m tools.event_schemas"


def test_the_docs_name_every_event_and_no_other() -> None:
    page = (FOLDER.parent / "events.md").read_text()
    assert {path.name for path in FOLDER.iterdir()} == {file_name(event) for event in EVENTS}
    for event in EVENTS:
        assert f"`{event.detail_type}`" in page
        assert f"(events/{file_name(event)})" in page


def test_a_run_tells_of_its_start_once(
    deployment: EverySetting, told: list[dict[str, Any]]
) -> None:
    recorded(deployment)
    record_run(deployment, RUN)
    record_run(deployment, RUN)  # the workflow repeats a call
    [event] = told
    assert (event["kind"], event["run_id"], event["name"]) == ("Run Started", RUN, "small")
    assert event["expires_at"] > event["started_at"]


def test_a_run_tells_of_its_end_once_and_how_it_ended(
    deployment: EverySetting, told: list[dict[str, Any]]
) -> None:
    recorded(deployment, state=RunState.STOPPING)
    failure = {"phase": "provision", "error": "TargetError", "cause": "no such class"}
    end_run(deployment, RUN, failure=failure)
    end_run(deployment, RUN, ended="FAILED")
    [event] = told
    assert (event["kind"], event["state"]) == ("Run Ended", "FAILED")
    assert event["failure"]["cause"] == "no such class"
    assert event["capacity_ops_per_second"] is None
    assert event["results"] == f"s3://results/runs/{RUN}/"


def test_the_janitor_tells_of_each_target_past_its_limit(
    deployment: EverySetting, told: list[dict[str, Any]]
) -> None:
    del deployment
    boto3.client("cloudformation").create_stack(
        StackName=f"plimsoll-run-{RUN}",
        TemplateBody=json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}),
        Tags=[{"Key": "plimsoll:expires-at", "Value": "2026-01-01T00:00:00+00:00"}],
    )
    topic = boto3.client("sns").create_topic(Name="alarms")["TopicArn"]
    sweep_stacks(topic, "plimsoll", at=datetime(2026, 1, 1, 0, 15, tzinfo=UTC))
    [event] = told
    assert (event["kind"], event["run_id"]) == ("Target Leaked", RUN)
    assert event["expired_at"] == "2026-01-01T00:00:00Z"


def test_a_step_tells_whether_it_passed_beside_those_before_it(deployment: EverySetting) -> None:
    record = recorded(deployment)
    result, _ = synthetic_run()
    finished = [step.step for step in result.steps]
    judged = [
        build_judged_event(record, step, judge_so_far(finished[: index + 1], result.request))
        for index, step in enumerate(result.steps)
    ]
    by_load = {event.clients: event for event in judged}
    assert (by_load[1].passed, by_load[1].reasons) == (True, ())
    assert by_load[4].passed is False
    assert by_load[4].reasons[0].startswith("latency:")
    for event in judged:
        jsonschema.validate(event.model_dump(mode="json"), SCHEMAS["Step Judged"])


def test_a_regression_fits_its_schema() -> None:
    points = history([1001, 998, 1003, 997, 1002, 999, 1004, 996, 800, 802])
    [found] = find_regressions(check(), points, ())
    event = RegressionFound(
        team="payments", check="nightly", change=found.change, cause=found.cause,
        results=None, text="words",
    )  # fmt: skip
    jsonschema.validate(json.loads(event.model_dump_json()), SCHEMAS["Regression"])


def test_a_bus_that_is_not_there_fails_nothing_and_is_told_of(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    clients.events().delete_event_bus(Name="plimsoll")
    recorded(deployment)
    record_run(deployment, RUN)
    assert deployment.records.get(RUN).state is RunState.RUNNING
    (line,) = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert (line["message"], line["correlation_id"]) == ("the event Run Started was not sent", RUN)
