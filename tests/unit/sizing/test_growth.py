"""Until when a load that grows is carried."""

from datetime import date

import pytest

from plimsoll.errors import UsageError
from plimsoll.sizing.rank import parse_growth, project_growth

TODAY = date(2026, 11, 23)


@pytest.mark.parametrize(
    ("text", "times"),
    [("2x/year", 2), ("1.5x/year", 1.5), ("30%/year", 1.3), ("3%/month", 1.03**12)],
)
def test_a_growth_is_read(text: str, times: float) -> None:
    assert parse_growth(text, "--growth") == pytest.approx(times)


@pytest.mark.parametrize("text", ["2", "2x", "x/year", "1x/year", "0%/year", "0.5x/year", "2x/day"])
def test_what_is_none_is_refused_by_its_option(text: str) -> None:
    with pytest.raises(UsageError, match=r"^--growth: "):
        parse_growth(text, "--growth")


def test_a_line_of_four_times_the_load_lasts_two_doublings_less_the_headroom() -> None:
    found = project_growth(4000, 1000, headroom=0.5, times_a_year=2, today=TODAY)
    assert (found.years, found.years_without_headroom) == pytest.approx((1, 2))
    assert found.until == date(2027, 11, 23)


def test_a_line_below_the_load_lasts_no_time() -> None:
    found = project_growth(900, 1000, headroom=0.3, times_a_year=2, today=TODAY)
    assert (found.years, found.until) == (0, TODAY)


def test_beyond_a_century_no_day_is_named() -> None:
    assert project_growth(4000, 1, headroom=0, times_a_year=1.01, today=TODAY).until is None
