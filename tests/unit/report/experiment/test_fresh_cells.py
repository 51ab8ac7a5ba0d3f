"""Repeated cells: decided by the figures of fresh targets, and none of them is dropped silently."""

from typing import Any

import click
import pytest
from click.testing import CliRunner

from plimsoll.cli.experiment import print_experiment
from plimsoll.model.judging.capacity import Capacity, LoadRange
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.results import RunResult
from plimsoll.report.compare_page import render_comparison
from plimsoll.report.comparing.comparing import compare_runs
from plimsoll.report.comparing.fresh_targets import divide_fresh, make_fresh_table
from plimsoll.report.experiment.choice import build_matrix
from plimsoll.report.experiment.page import (
    draw_figures,
    make_gains_table,
    make_matrix_table,
    render_experiment,
)
from plimsoll.requests.cells import expand_cells
from tests.unit.report.experiment.test_experiment_summary import (
    RESULT,
    at_one_load,
    below_first,
    capacity,
    experiment,
    result_of,
)

RDS = {
    "kind": "rds", "engine": "mariadb", "engine_version": "11.4", "instance_class": "db.m5.large",
    "volume": {"type": "io1", "size_gib": 100},
}  # fmt: skip


def repeated(fresh: int = 3) -> Experiment:
    """Two volumes for one workload."""
    value = experiment().model_dump(mode="json")
    value["request"]["target"] = RDS
    volumes = {n: {"target": {"volume": {"iops": x}}} for n, x in (("low", 1000), ("high", 2000))}
    mixes = {"reads": {"workload": {"name": "ycsb-c"}}}
    changed: dict[str, Any] = {"axes": {"io": volumes, "mix": mixes}, "repeat": {"fresh": fresh}}
    return Experiment.model_validate({**value, **changed})


def concluded(low: list[Capacity | None], high: list[Capacity | None]) -> ExperimentResult:
    found = {f"low-reads-r{n}": each for n, each in enumerate(low, 1)}
    found |= {f"high-reads-r{n}": each for n, each in enumerate(high, 1)}
    return result_of(found, repeated(len(low)), {"low": 0.1, "high": 0.2})


def sharp(*figures: float) -> list[Capacity | None]:
    """Runs whose repetitions hardly scatter: all scatter is between targets."""
    return [capacity(figure, spread=0.0001) for figure in figures]


LOW, HIGH = sharp(1000, 1100, 900), sharp(1500, 1400, 1600)


def test_a_cell_has_a_mean_and_two_intervals_over_its_fresh_targets() -> None:
    low, high = concluded(LOW, HIGH).fresh
    assert (low.name, high.name) == ("low-reads", "high-reads")
    assert [run.name for run in low.runs] == ["low-reads-r1", "low-reads-r2", "low-reads-r3"]
    assert low.bound == "="
    assert low.mean_ops_per_second == pytest.approx((1000 * 1100 * 900) ** (1 / 3), rel=1e-3)
    assert low.mean_low_ops_per_second == pytest.approx(773, rel=0.01)
    assert low.next_low_ops_per_second == pytest.approx(602, rel=0.01)
    assert low.sentence.startswith("low-reads: 997 ops/s, the geometric mean over 3 fresh targets;")
    assert "prediction interval for the next fresh run's figure is 6" in low.sentence


def test_targets_are_chosen_by_fresh_targets_and_not_by_repetitions() -> None:
    """Repetitions within a run would tell 1,000 and 1,050 apart; targets scatter by 10 %."""
    result = concluded(LOW, HIGH)
    (decided,) = result.decisions
    assert (decided.outcome, decided.buy, decided.fresh_targets) == ("chosen", "high", (3, 3))
    assert decided.sentence.startswith("high: 1.50 times low (95 % 1.2")
    assert ", 3 fresh targets each)" in decided.sentence
    assert result.gains[0].outcome == "gain"
    assert result.answer.endswith("3 fresh targets, and the intervals are over these.")
    alike = concluded(LOW, sharp(1050, 1150, 940))
    assert alike.decisions[0].outcome == "not told apart"
    assert alike.gains[0].outcome == "not decided"
    assert alike.gains[0].sentence.endswith("; fresh targets scatter too much")


def test_a_run_without_a_figure_is_named_and_the_others_count() -> None:
    result = concluded([*LOW[:2], None], HIGH)
    low = result.fresh[0]
    assert [run.name for run in low.silent] == ["low-reads-r3"]
    assert low.silent[0].no_figure == "FAILED in its step phase: the target does not answer"
    assert "over 2 of 3 fresh targets" in low.sentence
    assert low.sentence.endswith("; no figure from low-reads-r3.")
    assert result.warnings == (
        "low-reads-r3: FAILED in its step phase: the target does not answer",
    )
    assert result.decisions[0].fresh_targets == (3, 2)


def test_one_figure_has_no_interval_whatever_its_own_repetitions_say() -> None:
    result = concluded([LOW[0], None, None], HIGH)
    assert result.fresh[0].method is None
    assert "no interval, since there is only one figure" in result.fresh[0].sentence
    assert result.decisions[0].outcome == "not told apart"
    assert (result.gains[0].outcome, result.gains[0].low) == ("not decided", None)


def test_a_fresh_target_that_fails_at_the_lightest_load_makes_the_mean_an_upper_bound() -> None:
    """The mean of the others would be too high, and the cell has no answer."""
    result = concluded([*LOW[:2], below_first(300)], HIGH)
    assert result.fresh[0].bound == "<"
    assert result.fresh[0].method is None
    assert result.decisions[0].unknown == ("low",)
    all_fail = concluded([below_first(300)] * 3, HIGH)
    assert all_fail.decisions[0].cannot == ("low",)


def test_at_one_load_the_throughput_there_is_the_figure() -> None:
    low: list[Capacity | None] = [at_one_load(x) for x in (1000, 1020, 980)]
    high: list[Capacity | None] = [at_one_load(x) for x in (2000, 2040, 1960)]
    result = concluded(low, high)
    assert result.fresh[0].load == "1 client"
    assert result.fresh[0].bound == "="
    assert result.decisions[0].buy == "high"
    assert result.decisions[0].low is not None


def test_equal_rates_have_the_uncertainty_of_their_edges_or_no_interval() -> None:
    """Rates lie on a grid: figures may be equal though the targets are not."""

    def offered(rate: float, edge: LoadRange | None) -> Capacity:
        changes: dict[str, object] = {"axis": "rate_ops_per_second", "edge": edge}
        changes["max_sustainable_throughput_ops_per_second"] = rate
        return capacity(rate).model_copy(update=changes)

    edges = {
        rate: LoadRange(
            low=rate * 0.95, high=rate * 1.05, confidence=0.9, windows=9, method="likelihood"
        )
        for rate in (1000.0, 1050.0)
    }
    slow, fast = ([offered(rate, edge)] * 3 for rate, edge in edges.items())
    ratio = divide_fresh("fast", fast, "slow", slow)
    assert ratio is not None
    assert ratio.differs is False
    without = divide_fresh("fast", [offered(1050, None)] * 3, "slow", [offered(1000, None)] * 3)
    assert without is not None
    assert (without.low, without.differs) == (None, None)


def test_the_page_and_the_terminal_show_each_cell_once_with_its_intervals() -> None:
    result = concluded([*LOW[:2], None], HIGH)
    assert [cell.text.split(" ")[0] for cell in make_matrix_table(result).rows[0]][1:3] == [
        "1,049", "1,498"
    ]  # fmt: skip
    table = make_fresh_table(result.fresh)
    assert table is not None
    assert table.rows[0][1].text == "1,000 · 1,100 · none (low-reads-r3)"
    page = render_experiment(result)
    assert "Over fresh targets" in page
    assert "95 % prediction interval for the next fresh run" in page
    gains = make_gains_table(result)
    assert gains is not None
    assert gains.rows[0][5].text.endswith(", 3 and 2 fresh targets")
    chart = draw_figures(result)
    assert chart is not None

    printed = CliRunner().invoke(
        click.Command("show", callback=lambda: print_experiment(result, as_json=False))
    )
    assert printed.exit_code == 0, printed.output
    assert "Over fresh targets" in printed.output
    assert ExperimentResult.model_validate_json(result.model_dump_json()) == result


def test_a_result_of_an_older_version_is_read_as_before() -> None:
    value = result_of({"low-reads": capacity(1000)}).model_dump(mode="json")
    del value["fresh"], value["experiment"]["repeat"]
    for cell in value["cells"]:
        del cell["fresh_target"]
    read = ExperimentResult.model_validate(value)
    assert read.fresh == ()
    assert "Over fresh targets" not in render_experiment(read)


def runs_of(found: dict[str, Capacity | None]) -> list[RunResult]:
    """The runs of a repeated experiment, as their folders hold them."""
    return [
        RESULT.model_copy(
            update={
                "run_id": cell.name, "name": cell.name, "request": cell.request,
                "capacity": found[cell.name],
            }
        )
        for cell in expand_cells(repeated())
    ]  # fmt: skip


def test_compare_takes_the_runs_of_a_cell_together() -> None:
    names = [f"{io}-reads-r{n}" for io in ("low", "high") for n in (1, 2, 3)]
    results = runs_of(dict(zip(names, [*LOW, *HIGH], strict=True)))
    found = compare_runs(results)
    assert [line.ratio for line in found.runs] == [None] * 6
    assert [cell.name for cell in found.fresh] == ["low-reads", "high-reads"]
    (ratio,) = found.fresh_ratios
    assert (ratio.of, ratio.to, ratio.fresh_targets) == ("high-reads", "low-reads", (3, 3))
    assert ratio.sentence in found.sentences
    assert "Over fresh targets" in render_comparison(results, found, build_matrix(results))
    alone = RESULT.model_copy(update={"run_id": "alone", "name": "alone"})
    warned = compare_runs([*results, alone]).warnings
    assert "Not compared with cells that were repeated on fresh targets: alone." in warned
