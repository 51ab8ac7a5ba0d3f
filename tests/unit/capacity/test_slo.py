"""An SLO is about operations: all windows of a load together decide, and not most of them."""

from pathlib import Path

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.readers.tables import read_csv
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step
from tests.unit.capacity.samples import step

TABLES = Path(__file__).parent / "tables"
ONCE = Rules(limits_us={"read": 20_000}, confirmation=None)
SEARCHED = Rules(limits_us={"read": 20_000})


def table(name: str) -> list[Step]:
    return read_csv((TABLES / name).read_text(), name, "mean")


def test_windows_of_80_ms_are_part_of_the_slo_though_most_windows_are_fast() -> None:
    """It was KNEE 3,500 at 4 clients: 7, 8, 9, 80 and 82 ms have a median of 9."""
    found = judge(table("slo-bad-windows.csv"), ONCE)
    assert (found.verdict, found.at, found.bracket) == ("LOWER_BOUND", 1, (1, 8))
    assert found.cause == "undecided:read"
    assert found.summary == (
        "sustains at least 1,000 ops/s at 1 client, and possibly more: at 4 clients, windows with"
        " 40 % of the operations had a p99 of read beyond its limit of 20.0 ms, so whether all"
        " operations together keep it is not known"
    )


@pytest.mark.parametrize("rules", [ONCE, Rules(confirmation=None)])
def test_waves_give_no_knee_and_no_figure_outside_its_interval(rules: Rules) -> None:
    """It was KNEE 3,400 with an interval of 3,189 to 3,391."""
    found = judge(table("slo-wave.csv"), rules)
    assert (found.verdict, found.at, found.bracket) == ("LOWER_BOUND", 1, (1, 8))


def window(clients: int, beyond: int, count: int = 1000) -> Step:
    """A window in which so many of its reads took 100 ms and the others 10."""
    p99_us = 100_000 if beyond > count / 100 else 10_000
    return Step(
        clients=clients,
        throughput_ops_per_second=1000 * clients,
        latency_us={"read": {"p99": p99_us}},
        latency_counts={"read": {10_000: count - beyond, 100_000: beyond}},
    )


@pytest.mark.parametrize(
    ("beyond", "passes"),
    [
        ((0, 0, 0, 0, 40), True),
        ((0, 0, 0, 0, 60), False),
        ((15, 15, 0, 0, 0), True),
        ((2, 2, 2, 2, 50), False),
    ],
)
def test_with_histograms_the_percentile_is_that_of_all_operations(
    beyond: tuple[int, ...], passes: bool
) -> None:
    steps = [window(1, 0), *[window(2, each) for each in beyond], window(3, 900)]
    found = judge(steps, ONCE)
    assert (found.verdict, found.at) == ("KNEE", 2 if passes else 1)
    assert (found.steps[1].latency_us["read"] <= 20_000) is passes


@pytest.mark.parametrize(("slow", "passes"), [(40, True), (60, False)])
def test_a_search_confirms_a_load_by_all_of_its_operations(slow: int, passes: bool) -> None:
    """Eight windows of ten pass; the other two decide by how many of their operations are slow."""
    tried = [*[window(2, 0)] * 8, *[window(2, slow)] * 2]
    steps = [*[window(1, 0)] * 3, *tried, *[window(3, 900)] * 2]
    found = judge(steps, SEARCHED)
    assert found.bracket == ((2, 3) if passes else (1, 2))
    assert (found.at == 2) is passes


def test_a_table_says_that_a_load_is_undecided_and_why() -> None:
    rules = Rules(limits_us={"update": 300}, confirmation=None)
    found = judge([step(1, 1000), *[step(2, 2000)] * 2, step(2, 2000, 900)], rules)
    (load,) = [each for each in found.steps if each.load == 2]
    assert load.reasons == ("undecided:update",)
    assert not load.passed
