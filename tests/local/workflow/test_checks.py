"""Checks on one machine: a schedule fires, the run runs, its history grows, a drop is told once."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, get_args

import jsonschema  # type: ignore[import-untyped]  # its types are a package of their own
import pytest

from plimsoll.aws.run_files import RESULT
from plimsoll.checks.runs import hash_measured
from plimsoll.checks.schedules import delete_check, put_check, read_check_history
from plimsoll.checks.series import read_figures
from plimsoll.checks.store import CheckStore
from plimsoll.local.deploying import topic_arn
from plimsoll.model.deployment.events import EVENTS
from plimsoll.model.deployment.functions import Setting
from plimsoll.model.deployment.rules import EVENTS_TOPIC
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.request.check import Check, Thresholds
from plimsoll.model.run.check_history import Figure, History, HistoryPoint, RunOfCheck
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import RunState
from tests.local.workflow.conftest import Bench, tiny, wait_until
from tests.support.every_setting import EverySetting
from tests.support.requested import REQUESTED
from tools.event_schemas import schema

TEAM = "default"
METRIC = "latency of read at 50 ops/s"
SCHEMAS = {event.detail_type: json.loads(schema(event)) for event in EVENTS}


class Inbox:
    """What a topic sends."""

    def __init__(self, twin: Any, topic_arn: str) -> None:
        self._sqs = twin.client("sqs")
        name = topic_arn.rsplit(":", maxsplit=1)[-1]
        self._url = self._sqs.create_queue(QueueName=name)["QueueUrl"]
        attributes = self._sqs.get_queue_attributes(QueueUrl=self._url, AttributeNames=["QueueArn"])
        subscribed = twin.client("sns").subscribe(
            TopicArn=topic_arn,
            Protocol="sqs",
            Endpoint=attributes["Attributes"]["QueueArn"],
            Attributes={"RawMessageDelivery": "true"},
            ReturnSubscriptionArn=True,
        )
        self._sns, self._subscription = twin.client("sns"), subscribed["SubscriptionArn"]
        self.messages: list[str] = []

    def look(self) -> list[str]:
        """Take in what has come."""
        answer = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10)
        for message in answer.get("Messages", []):
            self.messages.append(message["Body"])
            self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=message["ReceiptHandle"])
        return self.messages

    def close(self) -> None:
        self._sns.unsubscribe(SubscriptionArn=self._subscription)
        self._sqs.delete_queue(QueueUrl=self._url)


@pytest.fixture
def deployment(bench: Bench) -> EverySetting:
    return EverySetting.of_deployment(bench.twin.settings)


@pytest.fixture
def alarms(bench: Bench) -> Iterator[Inbox]:
    inbox = Inbox(bench.twin, bench.twin.settings[Setting.ALARM_TOPIC_ARN])
    yield inbox
    inbox.close()


@pytest.fixture
def events(bench: Bench) -> Iterator[Inbox]:
    inbox = Inbox(bench.twin, topic_arn(EVENTS_TOPIC))
    yield inbox
    inbox.close()


def check(name: str, **changes: Any) -> Check:
    search = {
        "strategy": "rate",
        "rate_first_ops_per_second": 50,
        "rate_max_ops_per_second": 50,
        "clients_max": 1,  # a client at its limit is told, not doubled
        "connections_per_client": 2,
    }
    limits = {"confirmation": None, "statistic": "mean", "audits_off": sorted(get_args(AuditName))}
    asked = {
        "search": search,
        "load__duration_s": 4,
        "limits": limits,
        "workload__name": "ycsb-c",  # seconds of writes may be what a log lends
    }
    request = tiny(name, **asked | changes)
    return Check.model_validate(
        {
            "name": name,
            "schedule": "rate(1 day)",  # fires when it is made, and each time it is put again
            "request": request.model_dump(mode="json"),
            # a loaded machine's runs may say nothing, which would be a message of its own
            "thresholds": {"missing_runs_max": 100},
            "compare": [{"kind": "latency", "operation": "read", "rate_ops_per_second": 50}],
        }
    )


def seed(deployment: EverySetting, seeded: Check, latencies_us: list[float]) -> None:
    """Put older runs into a check's history, a day apart, the last one yesterday."""
    store = CheckStore(deployment.service_table)
    for age_days, latency_us in enumerate(reversed(latencies_us), 1):
        run = RunOfCheck(
            run_id=f"seeded-{age_days}",
            comparable=hash_measured(seeded.request),
            state=RunState.SUCCEEDED,
            verdict="LOWER_BOUND",
            figures={METRIC: Figure(value=latency_us)},
        )
        at = datetime.now(UTC).replace(microsecond=0) - timedelta(days=age_days)
        assert store.open_point(TEAM, seeded.name, HistoryPoint(scheduled_at=at, target=run))


def settled(deployment: EverySetting, name: str, points: int) -> History:
    """Wait until a history has so many points, and the runs of all of them have ended."""

    def look() -> History:
        return read_check_history(deployment, TEAM, name)

    wait_until(lambda: len(look().points) == points, f"{points} points of {name}")
    run_id = look().points[-1].target.run_id
    assert run_id is not None, look().points[-1]

    def ended() -> bool:
        record = deployment.records.find(run_id)  # the point is there before the run's record
        return record is not None and record.state.ended

    wait_until(ended, f"the end of {run_id}")
    wait_until(lambda: all(point.settled for point in look().points), f"{name} is settled")
    return look()


def judged(deployment: EverySetting, name: str, times: int) -> bool:
    return CheckStore(deployment.service_table).judgement(TEAM, name)[0] >= times


def test_a_schedule_fires_and_its_run_is_a_point_and_every_event_fits_its_schema(
    bench: Bench, deployment: EverySetting, events: Inbox
) -> None:
    put_check(deployment, TEAM, check("fires"))
    history = settled(deployment, "fires", 1)
    [point] = history.points
    assert point.target.state is RunState.SUCCEEDED, point
    result = deployment.files(point.target.run_id or "").get(RESULT, RunResult)
    assert point.target.figures == read_figures(result, check("fires").compare)
    figure = point.target.figures[METRIC]
    # a loaded machine's clients may be the limit: then it is a gap, which says so
    assert (figure.value is None) == (figure.why_none is not None)
    assert figure.why_none in {None, "the clients were the limit at 50 ops/s offered"}

    def told() -> dict[str, list[dict[str, Any]]]:
        """Give what was told of the run by kind; the end of the run before may be told late."""
        kinds: dict[str, list[dict[str, Any]]] = {}
        for event in map(json.loads, events.look()):
            if event["detail"]["run_id"] == point.target.run_id:
                kinds.setdefault(event["detail-type"], []).append(event["detail"])
        return kinds

    def all_there() -> bool:
        steps = {step["step"] for step in told().get("Step Judged", [])}
        whole = {"Run Started", "Run Ended"} <= told().keys()
        return whole and steps == {step.plan.index for step in result.steps}

    wait_until(all_there, "the events of the run")
    for event in map(json.loads, events.messages):
        assert (event["source"], event["version"]) == ("plimsoll", "0")
        jsonschema.validate(event["detail"], SCHEMAS[event["detail-type"]])
    rates = {step.plan.index: step.plan.rate_ops_per_second for step in result.steps}
    assert {one["step"]: one["rate_ops_per_second"] for one in told()["Step Judged"]} == rates
    # the search begins there; a machine that stands still misses it, and is asked for less
    measured = [
        one
        for one in told()["Step Judged"]
        if one["rate_ops_per_second"] == 50 and one["throughput_ops_per_second"]
    ]
    assert measured
    assert all(one["latency_us"]["read"]["mean"] > 10 for one in measured)
    delete_check(deployment, TEAM, "fires")
    left = bench.twin.client("scheduler").list_schedules(GroupName="plimsoll-checks")
    assert left["Schedules"] == []


def test_a_seeded_history_with_a_rise_of_latency_gives_exactly_one_message(
    deployment: EverySetting, alarms: Inbox
) -> None:
    watched = check("drop")
    # eight runs after a rise beyond what a machine measures: its own runs then change nothing
    low = [1.0 + index % 3 / 1000 for index in range(10)]
    seed(deployment, watched, low + [1e9 + index % 3 for index in range(8)])
    put_check(deployment, TEAM, watched)
    settled(deployment, "drop", 19)
    wait_until(lambda: len(alarms.look()) == 1, "a message")
    history = read_check_history(deployment, TEAM, "drop")
    assert "drop (team default): latency of read at 50 ops/s rose by " in alarms.messages[0]
    assert "Before: 1 µs (mean of 10 runs" in alarms.messages[0]
    assert [announced.at for announced in history.announced] == [history.points[10].scheduled_at]
    put_check(deployment, TEAM, watched)  # fires again
    settled(deployment, "drop", 20)
    wait_until(lambda: judged(deployment, "drop", 2), "the second judgement")
    assert len(alarms.look()) == 1
    delete_check(deployment, TEAM, "drop")


@pytest.mark.whole  # a rise of latency is one message as well
def test_a_check_whose_database_fails_three_nights_long_is_one_message(
    deployment: EverySetting, alarms: Inbox
) -> None:
    refused = {**REQUESTED["target"], "parameters": {"no_such_parameter": 1}}
    watched = check("nights", target=refused).model_copy(update={"thresholds": Thresholds()})
    for night in range(1, 4):
        put_check(deployment, TEAM, watched)  # fires
        history = settled(deployment, "nights", night)
        assert history.points[-1].target.state is RunState.FAILED
        wait_until(partial(judged, deployment, "nights", night), "it is judged")
    [silence] = read_check_history(deployment, TEAM, "nights").silences
    assert silence.runs == 3
    wait_until(lambda: alarms.look() != [], "a message")
    [message] = alarms.look()
    assert "nights (team default): no answer for 2 runs in a row." in message
    assert "no_such_parameter" in message
    delete_check(deployment, TEAM, "nights")
