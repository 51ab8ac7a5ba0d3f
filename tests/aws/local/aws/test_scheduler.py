"""Schedules that fire, on a clock of the test's."""

import datetime as dt
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.local.account import REGION
from plimsoll.local.aws import scheduler
from tests.support.aws_resources import aws_account

LAMBDA = "arn:aws:lambda:us-east-1:123456789012:function:check"


class Deliveries:
    """What was delivered, and by which body."""

    def __init__(self) -> None:
        self.bodies: list[str] = []

    def deliver(self, arn: str, body: str) -> None:
        assert arn == LAMBDA
        self.bodies.append(body)


class Bench:
    """Schedules that are made at one moment, however long their making takes."""

    def __init__(self) -> None:
        self.client = clients.scheduler()
        self.deliveries = Deliveries()
        self.scheduler = scheduler.Scheduler(self.deliveries)  # type: ignore[arg-type]
        self.scheduler.close()  # time passes only in `after`
        self.made = dt.datetime.now(dt.UTC)

    def make(self, expression: str, **members: Any) -> None:
        target = {"Arn": LAMBDA, "RoleArn": "arn:aws:iam::123456789012:role/r", "Input": "{}"}
        self.client.create_schedule(
            Name="s",
            ScheduleExpression=expression,
            FlexibleTimeWindow={"Mode": "OFF"},
            Target=target | members.pop("Target", {}),
            **members,
        )

    def after(self, **passed: float) -> int:
        self.scheduler.fire(self.made + dt.timedelta(**passed))
        return len(self.deliveries.bodies)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    with aws_account(region=REGION):
        made = Bench()
        monkeypatch.setattr("moto.scheduler.models.unix_time", made.made.timestamp)
        yield made


def test_a_rate_fires_at_once_and_again(bench: Bench) -> None:
    bench.make("rate(10 minutes)")
    assert bench.after(seconds=0) == 1
    assert bench.after(seconds=599) == 1
    assert bench.after(seconds=600) == 2


def test_what_was_slept_through_fires_once(bench: Bench) -> None:
    bench.make("rate(10 minutes)")
    assert bench.after(days=1) == 1
    assert bench.after(days=1, minutes=11) == 2


def test_a_one_shot_schedule_fires_once_and_is_gone(bench: Bench) -> None:
    due = bench.made + dt.timedelta(hours=2)
    bench.make(f"at({due:%Y-%m-%dT%H:%M:%S})", ActionAfterCompletion="DELETE")
    assert bench.after(hours=1) == 0
    assert bench.after(hours=2) == 1
    assert bench.client.list_schedules()["Schedules"] == []


def test_one_that_stays_does_not_fire_again(bench: Bench) -> None:
    bench.make(f"at({bench.made:%Y-%m-%dT%H:%M:%S})")
    assert bench.after(hours=1) == 1
    assert bench.after(hours=2) == 1


def test_a_cron_schedule_fires_by_its_time_zone(bench: Bench) -> None:
    zone = "Asia/Kolkata"  # half an hour beside the others
    wall = (bench.made + dt.timedelta(hours=5, minutes=30 + 90)).replace(tzinfo=None)
    bench.make(f"cron({wall.minute} {wall.hour} * * ? *)", ScheduleExpressionTimezone=zone)
    assert bench.after(minutes=88) == 0
    assert bench.after(minutes=91) == 1


def test_a_disabled_schedule_is_silent_and_a_changed_one_starts_anew(bench: Bench) -> None:
    bench.make("rate(10 minutes)", State="DISABLED")
    assert bench.after(minutes=30) == 0
    told = bench.client.get_schedule(Name="s")
    bench.client.update_schedule(
        Name="s",
        FlexibleTimeWindow=told["FlexibleTimeWindow"],
        Target=told["Target"],
        ScheduleExpression="rate(1 day)",
    )
    assert bench.after(minutes=31) == 1
    assert bench.after(minutes=60) == 1


def test_it_keeps_to_its_start_and_its_end(bench: Bench) -> None:
    start, end = (bench.made + dt.timedelta(hours=hours) for hours in (1, 2.5))
    bench.make("rate(1 hour)", StartDate=start, EndDate=end)
    assert bench.after(seconds=3599) == 0
    assert bench.after(seconds=3601) == 1
    assert bench.after(seconds=7201) == 2
    assert bench.after(seconds=10801) == 2


def test_the_input_learns_when_it_was_due(bench: Bench) -> None:
    body = '{"at": "<aws.scheduler.scheduled-time>", "of": "<aws.scheduler.schedule-arn>"}'
    bench.make("at(2026-11-21T09:00:00)", Target={"Input": body})
    bench.after(seconds=1)
    arn = bench.client.get_schedule(Name="s")["Arn"]
    assert bench.deliveries.bodies == [f'{{"at": "2026-11-21T09:00:00Z", "of": "{arn}"}}']


@pytest.mark.parametrize(
    ("expression", "zone"), [("cron(0 8 * * * *)", "UTC"), ("rate(1 day)", "Mars/Olympus")]
)
def test_what_aws_refuses_is_refused(bench: Bench, expression: str, zone: str) -> None:
    with pytest.raises(ClientError, match="ValidationException"):
        bench.make(expression, ScheduleExpressionTimezone=zone)
    assert bench.client.list_schedules()["Schedules"] == []
