"""The whole run on one clock: counts add up, percentiles come from added histograms."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.results import Seconds, SecondTotals
from plimsoll.report.charts import clock as clocks
from plimsoll.report.charts import clock as phases
from tests.support.synthetic_run import START, start_epoch_s, synthetic_run

RESULT, SECONDS = synthetic_run()


def second(epoch_s: int, buckets: dict[int, int], step: int = 1) -> SecondTotals:
    return SecondTotals(
        epoch_s=epoch_s,
        step=step,
        operation="read",
        succeeded=sum(buckets.values()),
        errors=0,
        max_us=max(buckets, default=None),
        buckets=buckets,
    )


def clock_of(length_s: int) -> clocks.Clock:
    ended = START + timedelta(seconds=length_s)
    moments = RESULT.moments.model_copy(update={"ended": ended})
    none = Seconds(run_id="r", operations=(), target=())
    return clocks.Clock(RESULT.model_copy(update={"moments": moments}), none)


@pytest.mark.parametrize(
    ("length_s", "width_s"), [(60, 1), (480, 1), (481, 2), (2000, 5), (7200, 15), (86_400, 300)]
)
def test_a_long_run_is_drawn_in_wider_bins(length_s: int, width_s: int) -> None:
    assert clock_of(length_s).width_s == width_s


def test_a_bin_of_several_seconds_has_its_mean_rate_and_its_worst_latency() -> None:
    clock = clock_of(2000)
    start = start_epoch_s() + 10
    (row,) = clocks.build_operation_rows(
        clock, [second(start, {100: 99, 200: 1}), second(start + 1, {100: 90, 8000: 10})]
    )
    assert row["t"] == 10
    assert row["rate"] == 100
    assert (row["p50_us"], row["p99_us"], row["max_us"]) == (100, 8000, 8000)


def test_two_steps_in_one_bin_are_no_double_rate() -> None:
    start = start_epoch_s() + 10
    steps = [second(start, {100: 50}, step=1), second(start + 2, {100: 150}, step=2)]
    (row,) = clocks.build_operation_rows(clock_of(2000), steps)
    assert (row["t"], row["t2"], row["rate"]) == (10, 15, 100)


def test_series_lie_on_top_of_one_another() -> None:
    rows = [
        {"t": 1, "series": "writes", "value": 4.0},
        {"t": 1, "series": "reads", "value": 3.0},
        {"t": 2, "series": "writes", "value": 5.0},
    ]
    placed = clocks.stack_rows(rows, "series", "value", ["reads", "writes"])
    found = {(row["t"], row["series"]): (row["from"], row["to"]) for row in placed}
    assert found == {(1, "reads"): (0, 3), (1, "writes"): (3, 7), (2, "writes"): (0, 5)}


def test_a_second_without_operations_has_no_latency() -> None:
    (row,) = clocks.build_operation_rows(clock_of(60), [second(start_epoch_s(), {})])
    assert (row["rate"], row["p50_us"], row["p99_us"], row["max_us"]) == (0, None, None, None)


def test_no_line_crosses_a_gap() -> None:
    rows = [{"t": t, "operation": "read"} for t in (0, 1, 2, 5, 6, 20)]
    found = clocks.number_segments(rows, ("operation",), 1.5)
    assert [row["segment"] for row in found] == [0, 0, 0, 1, 1, 2]


def test_a_sample_that_cloudwatch_lacks_is_no_row() -> None:
    samples = [TargetSample(epoch_ms=start_epoch_s() * 1000, read_iops=5.0)]
    names = {"read_iops": "reads", "write_iops": "writes"}
    assert clocks.build_target_rows(clock_of(60), samples, names) == [
        {"t": 0, "series": "reads", "value": 5.0}
    ]


def test_the_phases_are_those_of_the_moments_and_the_warming_ends_with_the_first_step() -> None:
    clock = clocks.Clock(RESULT, SECONDS)
    found = {row["phase"]: (row["t"], row["t2"]) for row in phases.build_phase_rows(clock, RESULT)}
    ended = RESULT.moments.ended
    assert ended is not None
    length = (ended - START).total_seconds()
    assert found == {
        "provision": (2, 7),
        "prepare": (8, 18),
        "warming": (18, 20),
        "teardown": (length - 4, length - 1),
    }
    no_warming = RESULT.request.prepare.model_copy(update={"warm_s": 0})
    request = RESULT.request.model_copy(update={"prepare": no_warming})
    cold = phases.build_phase_rows(clock, RESULT.model_copy(update={"request": request}))
    assert "warming" not in {row["phase"] for row in cold}


def test_the_heat_map_holds_every_operation_in_its_latency() -> None:
    clock = clocks.Clock(RESULT, SECONDS)
    rows = clocks.build_heat_rows(clock, SECONDS.operations)
    assert sum(row["count"] for row in rows) == sum(
        sum(s.buckets.values()) for s in SECONDS.operations
    )
    for upper_us in (100, 117, 1024, 4871):
        (row,) = clocks.build_heat_rows(clock, [second(start_epoch_s(), {upper_us: 3})])
        assert row["from_us"] < upper_us <= row["to_us"] * 1.02
        assert row["to_us"] / row["from_us"] == pytest.approx(2**0.25, rel=0.01)


@given(st.lists(st.integers(1, 10**7), min_size=1, max_size=40))
def test_every_count_has_its_class(counts: list[int]) -> None:
    rows, classes = clocks.classify_cells([{"count": count} for count in counts])
    assert len(classes) <= clocks.HEAT_CLASSES
    for row in rows:
        first, _, last = row["class"].replace(",", "").partition(" to ")
        assert int(first) <= row["count"] <= int(last or first)
