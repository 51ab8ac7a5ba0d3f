"""Seconds and samples in bins."""

from plimsoll.console.series import bin_samples, bin_seconds
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.results import SecondTotals


def second(
    epoch_s: int, operation: str = "read", *, step: int = 1, **given: object
) -> SecondTotals:
    values = {"succeeded": 10, "errors": 0, "max_us": 900, "buckets": {500: 9, 1000: 1}, **given}
    return SecondTotals.model_validate(
        {"epoch_s": epoch_s, "step": step, "operation": operation, **values}
    )


def test_seconds_of_one_width_are_as_they_were_measured() -> None:
    series = bin_seconds([second(101), second(100, succeeded=4, errors=2)], 1)
    assert series.epoch_s == (100, 101)
    assert series.ops_per_second == (4.0, 10.0)
    assert series.errors_per_second == (2.0, 0.0)
    assert series.operations["read"].max_us == (900, 900)


def test_operations_of_a_second_are_added_up_and_told_apart() -> None:
    series = bin_seconds([second(100), second(100, "update", succeeded=3)], 1)
    assert series.ops_per_second == (13.0,)
    assert series.operations["update"].ops_per_second == (3.0,)


def test_percentiles_of_a_bin_come_from_added_histograms() -> None:
    """The mean of both seconds' p99 would be 5,500 us."""
    fast = second(100, buckets={1_000: 990})
    slow = second(101, buckets={10_000: 10})
    series = bin_seconds([fast, slow], 10)
    assert series.operations["read"].p99_us == (1_000,)
    assert series.operations["read"].p50_us == (1_000,)


def test_a_rate_is_over_the_seconds_that_have_load_not_over_the_width() -> None:
    series = bin_seconds([second(100), second(101, succeeded=20)], 10)
    assert (series.epoch_s, series.ops_per_second) == ((100,), (15.0,))


def test_a_bin_holds_one_step_alone() -> None:
    series = bin_seconds([second(103, step=1), second(107, step=2)], 10)
    assert (series.epoch_s, series.step) == ((100, 100), (1, 2))


def test_an_operation_that_did_nothing_in_a_bin_is_unknown_there_not_zero() -> None:
    series = bin_seconds([second(100), second(101), second(101, "update")], 1)
    assert series.operations["update"].ops_per_second == (None, 10.0)


def test_latencies_that_nobody_counted_are_unknown() -> None:
    series = bin_seconds([second(100, buckets={}, max_us=None)], 1)
    read = series.operations["read"]
    assert (read.p50_us, read.p99_us, read.max_us) == ((None,), (None,), (None,))


def test_of_a_bin_the_mean_of_rates_counts_and_the_least_of_balances() -> None:
    samples = [
        TargetSample(epoch_ms=100_000, read_iops=100, burst_balance_percent=50, queue=None),
        TargetSample(epoch_ms=101_000, read_iops=300, burst_balance_percent=40, queue=2.0),
    ]
    series = bin_samples(samples, 10)
    assert (series.every_s, series.epoch_s) == (10, (100,))
    assert series.read_iops == (200.0,)
    assert series.burst_balance_percent == (40.0,)
    assert series.queue == (2.0,)  # of the one sample that has it
    assert series.cpu_percent == (None,)


def test_nothing_gives_nothing() -> None:
    assert bin_seconds([], 1).epoch_s == ()
    assert bin_samples([], 1).read_iops == ()
