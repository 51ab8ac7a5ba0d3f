"""Parses EventBridge Scheduler's `at()`, `rate()` and `cron()` and computes when they fire.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html. No I/O: the same code
refuses an invalid schedule before it is created, and fires schedules on one machine.
"""

import calendar
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Cron expressions of EventBridge Scheduler: six fields, with a year, `?`, `L`, `W` and `#`.


_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_FIELDS = "minutes hours day-of-month month day-of-week year"
_WEEKDAY = re.compile(r"^(\d{1,2})W$")
_LAST_OF_KIND = re.compile(r"^([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)L$")
_NTH = re.compile(r"^([1-7]|SUN|MON|TUE|WED|THU|FRI|SAT)#([1-5])$")


@dataclass(frozen=True)
class Field:
    """One field of a cron expression and the values that it allows."""

    name: str
    lowest: int
    highest: int
    names: tuple[str, ...] = ()  # names of the values, from `lowest` on
    steps: bool = True  # whether `/` is allowed

    def values(self, text: str) -> frozenset[int]:
        """Return the values that a list of numbers, ranges and steps selects.

        Raises:
            ValueError: The text is no such list, or a value is out of range.
        """
        numbers: set[int] = set()
        for part in text.split(","):
            base, slash, step = part.partition("/")
            first, dash, last = base.partition("-")
            if slash and (not self.steps or not step.isdecimal() or int(step) == 0):
                raise self._error(text)
            low = self.lowest if first == "*" else self._number(first, text)
            high = self.highest if first == "*" or (slash and not dash) else low
            if dash:
                high = self._number(last, text)
            if high < low or (dash and first == "*"):
                raise self._error(text)
            numbers.update(range(low, high + 1, int(step) if slash else 1))
        return frozenset(numbers)

    def _number(self, text: str, whole: str) -> int:
        if text in self.names:
            return self.lowest + self.names.index(text)
        if not (text.isascii() and text.isdecimal()):
            raise self._error(whole)
        if not self.lowest <= int(text) <= self.highest:
            raise self._error(whole)
        return int(text)

    def _error(self, text: str) -> ValueError:
        words = f" or {self.names[0]}-{self.names[-1]}" if self.names else ""
        return ValueError(f"cron: {self.name}: {self.lowest}-{self.highest}{words}, not {text!r}")


_MINUTES = Field("minutes", 0, 59)
_HOURS = Field("hours", 0, 23)
_DAY_OF_MONTH = Field("day-of-month", 1, 31)
_MONTH = Field("month", 1, 12, _MONTHS)
_DAY_OF_WEEK = Field("day-of-week", 1, 7, _DAYS, steps=False)
_YEAR = Field("year", 1970, 2199)


@dataclass(frozen=True)
class Cron:
    """A cron expression. Its times are wall-clock times; the caller knows the time zone."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    day_of_month: str  # `?` if `day_of_week` selects the days
    months: frozenset[int]
    day_of_week: str
    years: frozenset[int]

    def times_from(self, start: date) -> Iterator[datetime]:
        """Yield the times at which it fires, in order, from a day up to the year 2199."""
        day: date | None = start
        while day is not None and day.year <= _YEAR.highest:
            if day.year not in self.years:
                day = min((date(y, 1, 1) for y in self.years if y > day.year), default=None)
            elif day.month not in self.months:
                day = (day.replace(day=1) + timedelta(days=31)).replace(day=1)
            else:
                if self._holds(day):
                    yield from self._times_of(day)
                day += timedelta(days=1)

    def _times_of(self, day: date) -> Iterator[datetime]:
        for hour in self.hours:
            for minute in self.minutes:
                yield datetime(day.year, day.month, day.day, hour, minute)  # noqa: DTZ001

    def _holds(self, day: date) -> bool:
        if self.day_of_month != "?":
            return _matches_day_of_month(self.day_of_month, day)
        return _matches_day_of_week(self.day_of_week, day)


def _matches_day_of_month(text: str, day: date) -> bool:
    last = calendar.monthrange(day.year, day.month)[1]
    if text == "L":
        return day.day == last
    if text == "LW":
        return day == _find_nearest_weekday(day.replace(day=last))
    if match := _WEEKDAY.match(text):
        return int(match[1]) <= last and day == _find_nearest_weekday(
            day.replace(day=int(match[1]))
        )
    return day.day in _DAY_OF_MONTH.values(text)


def _find_nearest_weekday(day: date) -> date:
    """Return the weekday (Monday to Friday) nearest to a day, in the same month."""
    saturday, sunday = day.isoweekday() == 6, day.isoweekday() == 7
    shift = -1 if saturday else 1 if sunday else 0
    near = day + timedelta(days=shift)
    return near if near.month == day.month else day + timedelta(days=2 if saturday else -2)


def _matches_day_of_week(text: str, day: date) -> bool:
    number = day.isoweekday() % 7 + 1  # SUN = 1
    if text == "L":
        return number == 7
    if match := _LAST_OF_KIND.match(text):
        last = calendar.monthrange(day.year, day.month)[1]
        return _DAY_OF_WEEK.values(match[1]) == {number} and day.day > last - 7
    if match := _NTH.match(text):
        return _DAY_OF_WEEK.values(match[1]) == {number} and (day.day + 6) // 7 == int(match[2])
    return number in _DAY_OF_WEEK.values(text)


def parse_cron(text: str) -> Cron:
    """Parse what stands between the parentheses of `cron(...)`.

    Raises:
        ValueError: The expression is invalid; one line says why.
    """
    fields = text.upper().split()
    if len(fields) != 6:
        raise ValueError(f"cron: must have six fields ({_FIELDS}), not {len(fields)}")
    minutes, hours, day_of_month, month, day_of_week, year = fields
    if (day_of_month == "?") is (day_of_week == "?"):
        raise ValueError("cron: exactly one of day-of-month and day-of-week must be `?`")
    if match := _WEEKDAY.match(day_of_month):
        _DAY_OF_MONTH.values(match[1])
    elif day_of_month not in {"?", "L", "LW"}:
        _DAY_OF_MONTH.values(day_of_month)
    special = _LAST_OF_KIND.match(day_of_week) or _NTH.match(day_of_week)
    if day_of_week not in {"?", "L"} and not special:
        _DAY_OF_WEEK.values(day_of_week)
    return Cron(
        minutes=tuple(sorted(_MINUTES.values(minutes))),
        hours=tuple(sorted(_HOURS.values(hours))),
        day_of_month=day_of_month,
        months=_MONTH.values(month),
        day_of_week=day_of_week,
        years=_YEAR.values(year),
    )


_RATE = re.compile(r"rate\((\d{1,6}) (minute|hour|day)s?\)")
_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}
FORMS = "at(yyyy-mm-ddThh:mm:ss), rate(N minutes|hours|days) or cron(six fields)"


@dataclass(frozen=True)
class Once:
    """`at(...)`: fires once, at a wall-clock time in the schedule's time zone."""

    wall: datetime  # without a time zone

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the time to fire, in UTC. If it has passed, it is due at once."""
        del made
        return self.wall.replace(tzinfo=zone).astimezone(UTC)

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """Return None: it never fires again."""
        del fired, zone
        return None


@dataclass(frozen=True)
class Rate:
    """`rate(...)`: fires when it is created, then at regular intervals."""

    every: timedelta

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the time of creation. AWS fires at once too if a rate has no start date."""
        del zone
        return made

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the next time to fire."""
        del zone
        return fired + self.every


@dataclass(frozen=True)
class Recurring:
    """`cron(...)`: fires at wall-clock times in the schedule's time zone.

    When clocks go forward, a time that does not exist is skipped. When they go back, a time that
    occurs twice fires once. Source:
    https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time
    """

    cron: Cron

    def first(self, made: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the first time to fire after the schedule was created."""
        return self.after(made, zone)

    def after(self, fired: datetime, zone: ZoneInfo) -> datetime | None:
        """Return the next time to fire, in UTC; None if there is none."""
        for wall in self.cron.times_from(fired.astimezone(zone).date()):
            moment = wall.replace(tzinfo=zone).astimezone(UTC)
            skipped = moment.astimezone(zone).replace(tzinfo=None) != wall
            if moment > fired and not skipped:
                return moment
        return None


ScheduleExpression = Once | Rate | Recurring


def parse_expression(expression: str) -> ScheduleExpression:
    """Parse a schedule expression.

    Raises:
        ValueError: AWS would refuse the expression; one line says why.
    """
    if expression.startswith("at(") and expression.endswith(")"):
        return Once(_parse_wall_clock(expression))
    if match := _RATE.fullmatch(expression):
        if int(match[1]) < 1:
            raise ValueError(f"{expression}: the rate must be at least 1 {match[2]}")
        return Rate(int(match[1]) * _UNITS[match[2]])
    if expression.startswith("cron(") and expression.endswith(")"):
        return Recurring(parse_cron(expression[5:-1]))
    raise ValueError(f"{expression!r} is not a schedule: allowed are {FORMS}")


def parse_zone(name: str) -> ZoneInfo:
    """Return a time zone by its IANA name.

    Raises:
        ValueError: No time zone has this name.
    """
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f"{name!r} is not a time zone: give an IANA name, such as UTC or Europe/Berlin"
        ) from None


def _parse_wall_clock(expression: str) -> datetime:
    text = expression[3:-1]
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007 - its zone is beside it
    except ValueError:
        raise ValueError(
            f"{expression}: must be at(yyyy-mm-ddThh:mm:ss); its time zone is a field of its own"
        ) from None
