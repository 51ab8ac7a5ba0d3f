"""When a schedule fires: EventBridge Scheduler's `at()`, `rate()` and `cron()`, read and computed.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html; cron's fields are in
`plimsoll.model.cron`. Pure: the same code refuses a wrong schedule before it is made and lets the
local twin's schedules fire.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from plimsoll.model.cron import Cron, parse_cron

_RATE = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)")
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
FORMS = "at(yyyy-mm-ddThh:mm:ss), rate(N minutes|hours|days) or cron(six fields)"


@dataclass(frozen=True)
class Once:
    """`at(...)`: one moment, as a clock on the wall of the schedule's time zone shows it."""

    wall: datetime  # without a time zone

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Give the moment; one that has passed is due at once."""
        del made
        return self.wall.replace(tzinfo=zone).astimezone(UTC)

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """There is no second time."""
        del fired, zone
        return None


@dataclass(frozen=True)
class Rate:
    """`rate(...)`: at once when it is made, then again and again."""

    every: timedelta

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Fire at once: AWS does so where no start date is given."""
        del zone
        return made

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """Give the next moment."""
        del zone
        return fired + self.every


@dataclass(frozen=True)
class Recurring:
    """`cron(...)`: at moments of a time zone's calendar.

    A time that a clock set forward leaves out is skipped, and one that a clock set back shows twice
    fires once: https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
    """

    cron: Cron

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Give the first moment after it was made."""
        return self.after(made, zone)

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """Give the next moment after another, in UTC; None: never again."""
        for wall in self.cron.times_from(fired.astimezone(zone).date()):
            moment = wall.replace(tzinfo=zone).astimezone(UTC)
            skipped = moment.astimezone(zone).replace(tzinfo=None) != wall
            if moment > fired and not skipped:
                return moment
        return None


ScheduleExpression = Once | Rate | Recurring


def parse_expression(expression: str) -> ScheduleExpression:
    """Read a schedule expression.

    Raises:
        ValueError: AWS would refuse it; one line that says why.
    """
    if expression.startswith("at(") and expression.endswith(")"):
        return Once(_wall(expression))
    if match := _RATE.fullmatch(expression):
        if int(match[1]) < 1:
            raise ValueError(f"{expression}: the rate must be at least 1 {match[2]}")
        return Rate(int(match[1]) * _UNITS[match[2]])
    if expression.startswith("cron(") and expression.endswith(")"):
        return Recurring(parse_cron(expression[5:-1]))
    raise ValueError(f"{expression!r} is no schedule: allowed are {FORMS}")


def parse_zone(name: str) -> ZoneInfo:
    """Find a time zone by its IANA name.

    Raises:
        ValueError: There is none.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is no time zone: give an IANA name, such as UTC or Europe/Berlin"
        ) from None


def _wall(expression: str) -> datetime:
    text = expression[3:-1]
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007 - its zone is beside it
    except ValueError:
        raise ValueError(
            f"{expression}: must be at(yyyy-mm-ddThh:mm:ss); its time zone is a field of its own"
        ) from None
