"""EventBridge Scheduler's part: schedules that fire.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html: `at(...)` in UTC, once,
and `rate(n minutes)`; a one-shot schedule with `ActionAfterCompletion: DELETE` is deleted once its
target has been called. Scheduler fires within 60 s of the time set, this one within one second.
"""

import datetime as dt
import re
import threading

from moto.scheduler.models import Schedule, scheduler_backends

from plimsoll.local.aws.deliveries import Deliveries
from plimsoll.local.aws.names import ACCOUNT, REGION

_RATE = re.compile(r"rate\((\d+) (second|minute|hour|day)s?\)")  # seconds: here alone, for tests
_UNIT_S = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}


def next_firing(expression: str, after: dt.datetime) -> dt.datetime:
    """Tell when a schedule that was made, or last fired, at `after` fires next.

    Raises:
        ValueError: A kind of schedule that is not carried out here.
    """
    if expression.startswith("at(") and expression.endswith(")"):
        return dt.datetime.fromisoformat(expression[3:-1]).replace(tzinfo=dt.UTC)
    if rate := _RATE.fullmatch(expression):
        return after + dt.timedelta(seconds=int(rate[1]) * _UNIT_S[rate[2]])
    raise ValueError(f"the schedule expression {expression} is not carried out here")


class Scheduler:
    """Fires the schedules that moto keeps."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self._fired: dict[Schedule, dt.datetime] = {}
        self._closed = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def close(self) -> None:
        """Fire nothing any more."""
        self._closed.set()

    def _run(self) -> None:
        while not self._closed.wait(0.25):
            self.fire(dt.datetime.now(dt.UTC))

    def fire(self, now: dt.datetime) -> None:
        """Fire what is due."""
        for group in list(scheduler_backends[ACCOUNT][REGION].schedule_groups.values()):
            for schedule in list(group.schedules.values()):
                if schedule.state == "ENABLED":
                    self._consider(schedule, group.schedules, now)

    def _consider(
        self, schedule: Schedule, siblings: dict[str, Schedule], now: dt.datetime
    ) -> None:
        once = schedule.schedule_expression.startswith("at(")
        if once and schedule in self._fired:
            return
        made = dt.datetime.fromtimestamp(schedule.creation_date, dt.UTC)
        last = self._fired.get(schedule, made)
        if next_firing(schedule.schedule_expression, last) > now:
            return
        self._fired[schedule] = now
        self._deliveries.deliver(schedule.target["Arn"], schedule.target.get("Input", "{}"))
        if once and schedule.action_after_completion == "DELETE":
            siblings.pop(schedule.name, None)
