"""A matrix whose boundary is sought: what was measured, what is predicted, and what is decided."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from plimsoll import words
from plimsoll.model.request.boundary import Boundary, BoundaryCell
from plimsoll.model.request.experiment import Cell
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.report.experiment.page import describe_boundary, make_boundary_table
from plimsoll.requests.cells import validate_experiment
from plimsoll.sizing.cheapest import Runs, Survey, sort_by_price, summarize_boundary
from plimsoll.sizing.from_run import Measured
from plimsoll.sizing.rank import Wish
from plimsoll.workflow.past import extract_measured
from tests.support.synthetic_cells import LIMITS_US, boundary_experiment, synthetic_cell

IOPS = (5000, 1000, 4000, 2000, 3000)


def cells(iops: Sequence[int] = IOPS) -> tuple[Cell, ...]:
    return validate_experiment(boundary_experiment(*iops, want=1)).cells


def ran(cell: Cell) -> Measured:
    return extract_measured(synthetic_cell(cell, "r"), "p99", LIMITS_US)


def survey(runs: Runs, want: float = 20_000, iops: Sequence[int] = IOPS) -> Survey:
    targets = {
        cell.name: cell.request.target
        for cell in cells(iops)
        if isinstance(cell.request.target, RdsTarget)
    }
    wish = Wish(want, LIMITS_US, 0.0, 1)
    return Survey(sort_by_price(targets, read_builtin_prices()), runs, wish, read_builtin_prices())


def sought(want: float, iops: Sequence[int] = IOPS) -> tuple[list[str], Boundary]:
    """Run cells until it is decided; gives their names in this order, and the answer."""
    runs: dict[int, Measured | str] = {}
    names = []
    while (chosen := survey(runs, want, iops).choose_next().to_measure) is not None:
        index = survey(runs, want, iops).cells[chosen].index
        names.append(cells(iops)[index].name)
        runs[index] = ran(cells(iops)[index])
    return names, summarize_boundary(survey(runs, want, iops), "p99")


def by_name(found: Boundary) -> dict[str, BoundaryCell]:
    return {cell.name: cell for cell in found.cells}


def test_the_order_is_that_of_prices_and_the_middle_of_it_is_run_first() -> None:
    found = survey({})
    assert [cell.name for cell in found.cells] == [f"io1-{n}" for n in sorted(IOPS)]
    assert found.choose_next().to_measure == 2
    assert {cell.status for cell in summarize_boundary(found, "p99").cells} == {"left out"}


def test_of_twelve_cells_close_together_few_are_run_and_the_answer_is_the_whole_matrix_s() -> None:
    iops = (1000, 1150, 1320, 1520, 1750, 2000, 2300, 2640, 3040, 3500, 4000, 4600)
    names, found = sought(28_000, iops)
    figures = {cell.name: synthetic_cell(cell, "r").capacity for cell in cells(iops)}
    carrying = [
        name
        for name, capacity in figures.items()
        if capacity and (capacity.max_sustainable_throughput_ops_per_second or 0) >= 28_000
    ]
    assert found.cell == carrying[0]  # cells are in the order of their prices
    assert found.outcome == "decided"
    assert len(names) == found.runs < 6


def test_a_cell_is_measured_or_predicted_and_never_both_in_one_figure() -> None:
    names, found = sought(30_000)
    told = by_name(found)
    assert names[0] == "io1-3000"
    assert found.cell == "io1-4000"
    for name, cell in told.items():
        assert (
            (cell.status == "measured")
            == (name in names)
            == (cell.measured_ops_per_second is not None)
        )
        assert cell.predicted is not None or name == names[0]
    second = told[names[1]]
    assert second.predicted is not None
    assert second.measured_ops_per_second is not None
    assert second.error == pytest.approx(
        second.predicted.ops_per_second / second.measured_ops_per_second - 1
    )
    # what was predicted of it before its run, from the first alone
    first = cells().index(next(c for c in cells() if c.name == names[0]))
    before = summarize_boundary(survey({first: ran(cells()[first])}, 30_000), "p99")
    assert second.predicted == by_name(before)[names[1]].predicted


def test_the_table_marks_what_was_not_measured() -> None:
    names, found = sought(20_000)
    rows = {row[2].text: row for row in make_boundary_table(found).rows}
    for name, row in rows.items():
        texts = [cell.text for cell in row]
        if name in names:
            assert texts[0] == "measured"
            assert not texts[3].startswith(("~", "-"))
            assert texts[-1] in {"yes", "no"}
            assert {cell.kind for cell in row} == {"strong"}
        else:
            assert texts[0] == "predicted"
            assert texts[3] == words.NOTHING
            assert texts[4].startswith("~")
            assert texts[-1] in {"~yes", "~no", "perhaps"}
            assert {cell.kind for cell in row} == {"predicted"}
    first, *assumed = describe_boundary(found)
    assert first.startswith("Asked: 20,000 ops/s within p99 read 5.00 ms, update 5.00 ms; a load")
    assert "~ is predicted, not measured" in first
    assert assumed


def test_what_no_cell_carries_is_said_with_what_is_known_of_them() -> None:
    names, found = sought(200_000)
    assert (found.outcome, found.cell) == ("none carries it", None)
    assert found.sentence == (
        "None of the 5 cells carries 200,000 ops/s: 1 measured, 4 predicted, even at the high end"
        " of the interval."
    )
    assert found.stopped == "Decided with 1 of 5 cells run."
    assert len(names) == 1


def test_a_run_without_an_answer_is_told_with_its_reason_and_others_go_on() -> None:
    first = survey({}).cells[2]
    found = survey({first.index: "the target does not answer"})
    assert found.choose_next().outcome == "measure"
    told = by_name(summarize_boundary(found, "p99"))[first.name]
    assert (told.status, told.carries, told.why) == (
        "no answer", None, "the target does not answer"
    )  # fmt: skip
    two = survey({first.index: "it failed", survey({}).cells[0].index: "it failed"})
    answer = summarize_boundary(two, "p99")
    assert (answer.outcome, answer.cell) == ("not decided", None)
    assert answer.stopped == (
        "Open with 2 of 5 cells run: what was measured of io1-1000 and io1-3000 does not show"
        " whether the load is carried."
    )


def test_a_noisy_run_is_ground_for_others_and_is_predicted_from_them() -> None:
    cell = next(c for c in cells() if c.name == "io1-3000")
    noisy = ran(cell)
    silent = noisy.capacity.model_copy(
        update={
            "verdict": "NOISY",
            "summary": "it scatters",
            "bound": None,
            "max_sustainable_throughput_ops_per_second": None,
        }
    )
    runs: dict[int, Measured | str] = {cell.index: replace(noisy, capacity=silent)}
    while (place := survey(runs, 30_000).choose_next().to_measure) is not None:
        chosen = survey(runs, 30_000).cells[place]
        assert chosen.name in {"io1-4000", "io1-5000"}  # from it the others are predicted not to
        runs[chosen.index] = ran(cells()[chosen.index])
    answer = summarize_boundary(survey(runs, 30_000), "p99")
    told = by_name(answer)["io1-3000"]
    assert (told.status, told.why) == ("no answer", "NOISY: it scatters")
    assert told.predicted is not None
    assert (answer.outcome, answer.cell) == ("decided", "io1-4000")


def test_each_cell_is_predicted_from_the_run_that_is_nearest_to_it_by_price() -> None:
    runs = {c.index: ran(c) for c in cells() if c.name in {"io1-5000", "io1-2000"}}
    both = by_name(summarize_boundary(survey(runs), "p99"))
    for name, nearest in (("io1-1000", "io1-2000"), ("io1-4000", "io1-5000")):
        one = {i: run for i, run in runs.items() if cells()[i].name == nearest}
        alone = by_name(summarize_boundary(survey(one), "p99"))[name].predicted
        other = {i: run for i, run in runs.items() if i not in one}
        assert both[name].predicted == alone
        assert alone != by_name(summarize_boundary(survey(other), "p99"))[name].predicted


def test_where_it_was_stopped_what_was_measured_is_said() -> None:
    cell = next(c for c in cells() if c.name == "io1-5000")
    found = summarize_boundary(survey({cell.index: ran(cell)}), "p99")
    assert (found.outcome, found.cell) == ("not decided", "io1-5000")
    assert "; whether a cheaper cell does is not decided." in found.sentence
    assert found.stopped == "The search ended before that was decided, with 1 of 5 cells run."
