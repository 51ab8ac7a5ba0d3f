"""When schedules fire. Expected times of cron are read off a calendar."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.aws.schedule_expression import parse_expression, parse_zone

MADE = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)  # a Saturday
BERLIN = ZoneInfo("Europe/Berlin")


def _next(expression: str, after: datetime = MADE, zone: ZoneInfo | None = None) -> str:
    moment = parse_expression(expression).after(after, zone or ZoneInfo("UTC"))
    return "never" if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}"


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("rate(15 minutes)", "2026-11-21T09:15:00"),
        ("rate(1 hour)", "2026-11-21T10:00:00"),
        ("rate(2 days)", "2026-11-23T09:00:00"),
        ("at(2026-11-22T10:30:05)", "never"),  # its only time is its first
        ("cron(0 8 * * ? *)", "2026-11-22T08:00:00"),
        ("cron(0/20 * * * ? *)", "2026-11-21T09:20:00"),
        ("cron(30 9,18 ? * MON-FRI *)", "2026-11-23T09:30:00"),
        ("cron(0 10 ? * 1 *)", "2026-11-22T10:00:00"),  # 1 is Sunday
        ("cron(0 10 ? * L *)", "2026-11-21T10:00:00"),  # the week ends on Saturday
        ("cron(15 10 ? * 6L *)", "2026-11-27T10:15:00"),  # the last Friday
        ("cron(15 10 ? * TUE#1 *)", "2026-12-01T10:15:00"),
        ("cron(0 0 L * ? *)", "2026-11-30T00:00:00"),
        ("cron(0 0 LW 1 ? *)", "2027-01-29T00:00:00"),  # the 31st is a Sunday
        ("cron(0 0 1W AUG ? *)", "2027-08-02T00:00:00"),  # the 1st is a Sunday
        ("cron(0 0 15W MAY ? *)", "2027-05-14T00:00:00"),  # the 15th is a Saturday
        ("cron(0 0 31 FEB-APR ? *)", "2027-03-31T00:00:00"),
        ("cron(0 0 29 2 ? *)", "2028-02-29T00:00:00"),
        ("cron(0 0 1 1 ? 2030/10)", "2030-01-01T00:00:00"),
        ("cron(0 0 1 1 ? 2020)", "never"),
    ],
)
def test_it_tells_when_it_fires_next(expression: str, due: str) -> None:
    assert _next(expression) == due


@pytest.mark.parametrize(
    ("expression", "first"),
    [
        ("at(2026-11-22T10:30:05)", datetime(2026, 11, 22, 9, 30, 5, tzinfo=UTC)),
        ("rate(15 minutes)", MADE),  # at once
        ("cron(0 8 * * ? *)", datetime(2026, 11, 22, 7, 0, tzinfo=UTC)),
    ],
)
def test_its_first_time_is_of_its_time_zone(expression: str, first: datetime) -> None:
    assert parse_expression(expression).first(MADE, BERLIN) == first


def test_a_clock_that_is_set_forward_skips_what_it_leaves_out() -> None:
    before = datetime(2027, 3, 27, 12, 0, tzinfo=UTC)  # 02:30 is not there on the 28th
    assert _next("cron(30 2 * * ? *)", before, BERLIN) == "2027-03-29T00:30:00"


def test_a_clock_that_is_set_back_fires_once() -> None:
    first = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30, for the first time that night
    assert _next("cron(30 2 * * ? *)", first - timedelta(hours=1), BERLIN) == "2026-10-25T00:30:00"
    assert _next("cron(30 2 * * ? *)", first, BERLIN) == "2026-10-26T01:30:00"


@given(
    minute=st.integers(0, 59),
    hour=st.integers(0, 23),
    after=st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001
)
def test_a_daily_time_comes_within_a_day_and_never_at_once(
    minute: int, hour: int, after: datetime
) -> None:
    found = parse_expression(f"cron({minute} {hour} * * ? *)").after(after, ZoneInfo("UTC"))
    assert found is not None
    assert timedelta(0) < found - after <= timedelta(days=1)
    assert (found.hour, found.minute) == (hour, minute)


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("tomorrow", "allowed are at"),
        ("rate(0 minutes)", "at least 1 minute"),
        ("rate(5 seconds)", "is not a schedule"),
        ("at(2026-11-22)", "yyyy-mm-ddThh:mm:ss"),
        ("at(2026-11-22T10:30:05Z)", "yyyy-mm-ddThh:mm:ss"),
        ("cron(0 8 * * ?)", "six fields"),
        ("cron(0 8 * * * *)", "exactly one of"),
        ("cron(0 8 ? * ? *)", "exactly one of"),
        ("cron(60 8 * * ? *)", "minutes: 0-59, not '60'"),
        ("cron(0 8-5 * * ? *)", "hours: 0-23, not '8-5'"),
        ("cron(0/0 8 * * ? *)", "minutes: 0-59, not '0/0'"),
        ("cron(0 8 32W * ? *)", "day-of-month: 1-31, not '32'"),
        ("cron(0 8 * NOP ? *)", "month: 1-12 or JAN-DEC, not 'NOP'"),
        ("cron(0 8 ? * 2/2 *)", "day-of-week: 1-7 or SUN-SAT, not '2/2'"),
        ("cron(0 8 ? * 2#6 *)", "day-of-week"),
        ("cron(0 8 * * ? 1969)", "year: 1970-2199, not '1969'"),
    ],
)
def test_what_aws_refuses_is_refused_in_one_line(expression: str, told: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]*$") as error:
        parse_expression(expression)
    assert told in str(error.value)


@pytest.mark.parametrize("name", ["", "Mars/Olympus", "../etc/passwd", "Europe"])
def test_a_time_zone_is_one_of_ianas(name: str) -> None:
    with pytest.raises(ValueError, match="is not a time zone"):
        parse_zone(name)
