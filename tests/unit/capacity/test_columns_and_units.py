"""A column is read as what it says, or refused by its name: statistics and units."""

import json

import pytest

from plimsoll.capacity.readers.tables import check_units, read_csv, read_table
from plimsoll.capacity.steps.step_figures import read_column
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step


@pytest.mark.parametrize(
    ("column", "operation", "statistic"),
    [
        ("update", "update", "mean"),
        ("update.p99", "update", "p99"),
        ("update.p99.9", "update", "p999"),
        ("update.p999", "update", "p999"),
        ("update.avg", "update", "mean"),
        ("update.average", "update", "mean"),
        ("update.median", "update", "p50"),
        ("update.P95", "update", "p95"),
        ("shop.buy.p100", "shop.buy", "max"),
        ("scan_max.p99", "scan_max", "p99"),  # it says its statistic, so its name may be anything
        ("map2", "map2", "mean"),
        ("remap", "remap", "mean"),
    ],
)
def test_a_column_names_its_operation_and_statistic(
    column: str, operation: str, statistic: Statistic
) -> None:
    assert read_column(f"latency_us.{column}", "a.csv row 2", "mean") == (operation, statistic)


@pytest.mark.parametrize(
    "column",
    ["update.p90", "update.p99.99", "update.99th", "update.min", "update_p99", "update-avg",
     "update.stddev", "update.p(90)", "update p95", "update.p9999"],
)  # fmt: skip
def test_a_statistic_that_is_not_judged_is_no_operation(column: str) -> None:
    text = f"clients,throughput_ops_per_second,latency_us.{column}\n1,5,9\n"
    with pytest.raises(UsageError, match="is not a statistic that can be judged") as caught:
        read_csv(text, "a.csv", "mean")
    assert f"a.csv row 2: column 'latency_us.{column}'" in str(caught.value)


@pytest.mark.parametrize("column", ["", "p90", "99th", "p99", "p99.9"])
def test_a_column_without_an_operation(column: str) -> None:
    with pytest.raises(UsageError, match="names no operation"):
        read_column(f"latency_us.{column}", "a.csv row 2", "mean")


def test_a_nested_statistic_that_is_not_judged_is_refused_too() -> None:
    row = '[{"clients": 1, "throughput_ops_per_second": 5, "latency_us": {"read": {"p90": 7}}}]'
    with pytest.raises(UsageError, match=r"a.json row 1: column 'latency_us.read.p90'"):
        read_table(json.loads(row), "a.json", "mean")


def table(*rows: tuple[int, float, float], connections: bool = True) -> list[Step]:
    """Rows of connections (or clients), ops/s and mean latency."""
    return [
        Step(
            source=f"a.csv row {number}",
            connections=load if connections else None,
            clients=None if connections else load,
            throughput_ops_per_second=throughput,
            latency_us={"update": {"mean": mean}},
        )
        for number, (load, throughput, mean) in enumerate(rows, 2)
    ]


MILLISECONDS = ((1, 200, 5.0), (2, 390, 5.2), (4, 600, 6.6))


@pytest.mark.parametrize("connections", [True, False])
def test_milliseconds_are_found_by_littles_law(connections: bool) -> None:
    with pytest.raises(UsageError, match="milliseconds, not microseconds") as caught:
        check_units(table(*MILLISECONDS, connections=connections))
    assert "a.csv row 2: latency_us.update:" in str(caught.value)
    assert "--without-audit littles_law" in str(caught.value)
    check_units(table(*MILLISECONDS, connections=connections), by_littles_law=False)


def test_seconds_are_found_by_littles_law() -> None:
    with pytest.raises(UsageError, match=r"a.csv row 2: .* seconds, not microseconds"):
        check_units(table((1, 0.5, 1.9), (2, 0.8, 2.4)))


@pytest.mark.parametrize(
    "rows",
    [
        tuple((load, x, mean * 1000) for load, x, mean in MILLISECONDS),
        ((1, 200, 5.0), (2, 390, 2600.0)),  # not in every row
        ((10, 90.0, 1000.0), (20, 180.0, 1100.0)),  # clients that wait 0.1 s between operations
    ],
)
def test_what_may_be_microseconds_is_believed(rows: tuple[tuple[int, float, float], ...]) -> None:
    check_units(table(*rows))


def test_an_open_loop_says_nothing_of_units() -> None:
    steps = [s.model_copy(update={"rate_ops_per_second": 600}) for s in table(*MILLISECONDS)]
    check_units(steps)


def test_a_load_that_mostly_fails_says_nothing_of_units() -> None:
    failing = {"errors": 190, "operations": 10}
    check_units([step.model_copy(update=failing) for step in table(*MILLISECONDS)])
    with pytest.raises(UsageError, match="milliseconds"):
        check_units([s.model_copy(update=failing | {"errors": 1}) for s in table(*MILLISECONDS)])


def test_less_than_a_microsecond_is_another_unit() -> None:
    with pytest.raises(UsageError, match=r"row 2: latency_us.update \(mean\) is 0.42, under a mic"):
        check_units(table((1, 2300, 0.42)), by_littles_law=False)
