"""Of which seconds a target's figures are published: of each one, of none twice, of its own."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.local.resources.sampler import (
    HELD_UP_MAX,
    Seen,
    list_periods_to_publish,
    name_rds_metrics,
    wait_s,
)
from plimsoll.model.aws.volumes_seen import Escape, VolumeSample, rates
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.metric_periods import list_whole_periods
from plimsoll.targets.cloudwatch_metrics import summarize_samples


@pytest.mark.parametrize(
    ("published_s", "ended_ms", "expected"),
    [
        (0, 1001_003, [1000]),  # the first ones: nothing is known of earlier seconds
        (1000, 1002_003, [1001]),
        (1000, 1001_999, [1001]),  # looked too early: a second that has its points already
        (1001, 1001_003, [1002]),  # the clock was set back
        (1000, 1006_500, [1001, 1002, 1003, 1004, 1005]),  # the machine stood still
    ],
)
def test_every_second_that_has_ended_has_its_points_once(
    published_s: int, ended_ms: int, expected: list[int]
) -> None:
    assert list(list_periods_to_publish(published_s, ended_ms)) == expected


def test_a_machine_that_slept_for_hours_publishes_a_minute() -> None:
    seconds = list_periods_to_publish(1000, 1000 * (1001 + 8 * 3600))
    assert len(seconds) == HELD_UP_MAX == 60
    assert seconds[-1] == 1000 + 8 * 3600


@pytest.mark.parametrize(
    ("now_s", "waits_s"), [(10.0, 1.0), (10.2, 0.8), (10.5, 0.5), (10.6, 1.4), (10.99, 1.01)]
)
def test_a_look_is_where_a_second_ends(now_s: float, waits_s: float) -> None:
    assert wait_s(now_s) == pytest.approx(waits_s)


@given(
    began_s=st.floats(1000, 1001),
    late_s=st.lists(st.floats(0, 3.5), min_size=1, max_size=20),
)
def test_a_point_is_of_a_second_of_its_own_interval(began_s: float, late_s: list[float]) -> None:
    """However late the looks are: each second overlaps its interval, and none has a part to come.

    The first interval may have begun after its second did.
    """
    published, before = 0, began_s
    for late in late_s:
        after = before + wait_s(before) + late
        seconds = list_periods_to_publish(published, int(after * 1000))
        assert published == 0 or seconds[0] == published + 1 == math.floor(before)
        assert before < seconds[0] + 1
        assert seconds[-1] + 1 <= after
        published, before = seconds[-1], after


def test_a_steps_figures_are_those_of_its_window() -> None:
    """A volume that did 500 IOPS from 1010.3 s to 1015.6 s and nothing before and after.

    Looks come 4 ms after each second. Of the window, its whole seconds count: 1011 to 1014.
    """
    samples, published, before = [], 0, 1000.3

    def reads(until_s: float) -> float:
        return 500 * (min(max(until_s, 1010.3), 1015.6) - 1010.3)

    while before < 1020:
        after = before + wait_s(before) + 0.004
        rate = (reads(after) - reads(before)) / (after - before)
        for second in list_periods_to_publish(published, int(after * 1000)):
            samples.append(TargetSample(epoch_ms=1000 * second, read_iops=rate))
            published = second
        before = after
    found = summarize_samples(
        samples, list_whole_periods(1010_300, 1015_600, period_s=1), period_s=1
    )
    assert found is not None
    assert found.points == 4
    assert found.read_iops == pytest.approx(500)


def test_what_went_past_is_unknown_where_a_second_of_the_step_is() -> None:
    """A process that nobody watches begins in the middle: from then on nothing could be seen."""
    seen = TargetSample(epoch_ms=1_000, read_iops=10, escaped_iops=40, escaped_mib_s=1)
    unseen = TargetSample(epoch_ms=2_000, read_iops=30)
    found = summarize_samples([seen, unseen], range(1_000, 3_000, 1_000), period_s=1)
    assert found is not None
    assert (found.read_iops, found.escaped_iops, found.escaped_mib_s) == (20, None, None)


def test_what_went_past_the_volume_is_published_where_it_could_be_seen() -> None:
    def values(**later: object) -> dict[str, tuple[float | None, str]]:
        escape = Escape(program="sort", operations=40, ios=40, bytes=2**20)
        after = VolumeSample(epoch_ms=2_000, escapes=(escape,), **later)
        seen = Seen(1, rates(VolumeSample(epoch_ms=1_000), after), None, None)
        (points,) = name_rds_metrics("db")(seen)
        return {name: value for name, value in points.values.items() if "Escaped" in name}

    assert values() == {
        "EscapedIOPS": (40.0, "Count/Second"),
        "EscapedThroughput": (2**20, "Bytes/Second"),
    }
    assert {value for value, _ in values(unwatched=True).values()} == {None}
