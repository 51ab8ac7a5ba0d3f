"""EventBridge Scheduler: fires schedules, and refuses invalid ones.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html. A one-shot schedule with
`ActionAfterCompletion: DELETE` is deleted once its target has been called. Scheduler fires within
60 s of the time set, or within its flexible window; this stand-in fires within a second of it, at
the start of a window.
"""

import datetime as dt
import threading
import uuid
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

from moto.scheduler.exceptions import ValidationException
from moto.scheduler.models import EventBridgeSchedulerBackend, Schedule, scheduler_backends

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.aws.deliveries import Deliveries
from plimsoll.local.replacing import replace_members
from plimsoll.model.aws.schedule_expression import (
    Once,
    ScheduleExpression,
    parse_expression,
    parse_zone,
)


@dataclass
class _Plan:
    """The next firing of a schedule, for its present definition."""

    written: tuple[object, ...]
    expression: ScheduleExpression
    zone: ZoneInfo
    due: dt.datetime | None  # None if it never fires again


def plan_firing(schedule: Schedule) -> _Plan:
    """Read a schedule, and find its first firing."""
    expression = parse_expression(schedule.schedule_expression)
    zone = parse_zone(schedule.schedule_expression_timezone)
    made = _to_datetime(schedule.last_modified_date)
    start = made if schedule.start_date is None else max(made, _to_datetime(schedule.start_date))
    return _Plan(_make_definition_key(schedule), expression, zone, expression.first(start, zone))


def _make_definition_key(schedule: Schedule) -> tuple[object, ...]:
    zone = schedule.schedule_expression_timezone
    return schedule.last_modified_date, schedule.schedule_expression, zone, schedule.state


def _to_datetime(epoch_s: Any) -> dt.datetime:
    return dt.datetime.fromtimestamp(float(epoch_s), dt.UTC)


class Scheduler:
    """Fires the schedules that moto keeps."""

    def __init__(self, deliveries: Deliveries) -> None:
        _refuse_what_aws_refuses()
        self._deliveries = deliveries
        self._plans: WeakKeyDictionary[Schedule, _Plan] = WeakKeyDictionary()
        self._closed = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Stop firing."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(0.25):
            self.fire(dt.datetime.now(dt.UTC))

    def fire(self, now: dt.datetime) -> None:
        """Fire what is due."""
        for group in list(scheduler_backends[ACCOUNT][REGION].schedule_groups.values()):
            for schedule in list(group.schedules.values()):
                self._consider(schedule, group.schedules, now)

    def _consider(
        self, schedule: Schedule, siblings: dict[str, Schedule], now: dt.datetime
    ) -> None:
        known = self._plans.get(schedule)
        if known is None or known.written != _make_definition_key(schedule):
            known = self._plans[schedule] = plan_firing(schedule)
        due = known.due
        if due is None or now < due:
            return
        known.due = known.expression.after(due, known.zone)
        while (
            known.due is not None and known.due <= now
        ):  # after a standstill over several firings, fire once
            known.due = known.expression.after(known.due, known.zone)
        over = schedule.end_date is not None and due > _to_datetime(schedule.end_date)
        if schedule.state != "ENABLED" or over:
            return
        body = fill_context(schedule.target.get("Input", "{}"), schedule.arn, due)
        self._deliveries.deliver(schedule.target["Arn"], body)
        if isinstance(known.expression, Once) and schedule.action_after_completion == "DELETE":
            siblings.pop(schedule.name, None)


def fill_context(body: str, arn: str, due: dt.datetime) -> str:
    """Fill in the context attributes of a firing.

    https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
    """
    values = {
        "<aws.scheduler.schedule-arn>": arn,
        "<aws.scheduler.scheduled-time>": f"{due:%Y-%m-%dT%H:%M:%SZ}",
        "<aws.scheduler.execution-id>": str(uuid.uuid4()),
        "<aws.scheduler.attempt-number>": "1",
    }
    for name, value in values.items():
        body = body.replace(name, value)
    return body


def _refuse_what_aws_refuses() -> None:
    """Check schedules when they are created: moto accepts any text as an expression."""
    create = EventBridgeSchedulerBackend.create_schedule
    update = EventBridgeSchedulerBackend.update_schedule

    def check(members: dict[str, Any]) -> None:
        try:
            parse_expression(members["schedule_expression"])
            parse_zone(members["schedule_expression_timezone"] or "UTC")
        except ValueError as error:
            raise ValidationException(f"Invalid Schedule Expression: {error}") from None

    def create_schedule(self: EventBridgeSchedulerBackend, **members: Any) -> Schedule:
        check(members)
        return create(self, **members)

    def update_schedule(self: EventBridgeSchedulerBackend, **members: Any) -> Schedule:
        check(members)
        members["state"] = members["state"] or "ENABLED"  # AWS's default, which moto lacks
        return update(self, **members)

    replace_members(
        EventBridgeSchedulerBackend,
        create_schedule=create_schedule,
        update_schedule=update_schedule,
    )
