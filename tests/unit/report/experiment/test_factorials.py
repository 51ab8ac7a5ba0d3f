"""What storage gains depends on the instance: the sentence says no more than was measured."""

from typing import Any

import pytest

from plimsoll.model.judging.capacity import Capacity, LoadRange
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.experiment_record import Factorial
from plimsoll.model.run.results import LimitingResource, PhaseLoad, PhaseResult
from plimsoll.model.run.run_record import RunState
from plimsoll.report.experiment.factorials import compute_factorials
from plimsoll.report.experiment.page import make_factorials_table, render_experiment
from plimsoll.report.experiment.summary import CellRun
from plimsoll.report.phase_tables import make_phases_table
from plimsoll.requests.cells import expand_cells
from tests.unit.capacity.simulators import World, collapse, slow_down
from tests.unit.capacity.trials import run, search_for
from tests.unit.report.experiment.test_experiment_summary import (
    RESULT,
    at_one_load,
    capacity,
    result_of,
)

CPU = LimitingResource(
    resource="cpu", reached=True, share=0.97, host_bound=False, step=3, evidence=()
)
FIGURES = {
    "small-slow": 1000.0, "small-fast": 1005.0, "large-slow": 2000.0, "large-fast": 2800.0
}  # fmt: skip


def experiment(**more: Any) -> Experiment:
    shared = RESULT.request.model_dump(mode="json", exclude={"name", "team", "tags"})
    del shared["target"]["volume"]["iops"]
    axes = {
        "storage": {
            "slow": {"target": {"volume": {"iops": 1000}}},
            "fast": {"target": {"volume": {"iops": 4000}}},
        },
        "instance": {
            "small": {"target": {"instance_class": "db.m6i.large"}},
            "large": {"target": {"instance_class": "db.m6i.4xlarge"}},
        },
        **more,
    }
    return Experiment.model_validate({"name": "e", "request": shared, "axes": axes, "seed": 3})


def cells(
    found: dict[str, Capacity | None],
    asked: Experiment,
    phases: dict[str, PhaseResult] | None = None,
) -> list[CellRun]:
    """Cells by `instance-storage`, with what their runs came to; the limit is the CPU."""
    runs = []
    for cell in expand_cells(asked):
        name = f"{cell.variants['instance']}-{cell.variants['storage']}"
        update = {
            "capacity": found.get(name),
            "limiting": CPU,
            "request": cell.request,
            "phases": (phases[name],) if phases else (),
        }
        result = RESULT.model_copy(update=update)
        runs.append(CellRun(cell, cell.name, RunState.SUCCEEDED, result))
    return runs


def only(found: dict[str, Capacity | None]) -> Factorial:
    asked = experiment()
    (factorial,) = compute_factorials(asked, cells(found, asked))
    return factorial


def test_storage_gains_nothing_on_the_small_instance_and_a_lot_on_the_large_one() -> None:
    """The axis of the volume is the one whose gain is told, wherever it stands."""
    found = only({name: capacity(figure) for name, figure in FIGURES.items()})
    assert (found.question, found.axis, found.beside) == ("all", "storage", "instance")
    assert (found.levels, found.beside_levels) == (("slow", "fast"), ("small", "large"))
    assert found.gain_on is not None
    small, large = found.gain_on
    assert (small.ratio, large.ratio) == pytest.approx((1.005, 1.4), abs=1e-6)
    assert found.interaction is not None
    assert found.interaction.ratio == pytest.approx(1.4 / 1.005)
    assert found.beside_main is not None
    assert found.beside_main.ratio == pytest.approx((2 * 2.8 / 1.005) ** 0.5)
    assert found.repetitions == (4, 4, 4, 4)
    assert found.sentence.startswith(
        "slow to fast: nothing (1.00 times, 95 % 0.97 to 1.04) on small"
    )
    assert "on small, where CPU set the limit, 1.40 times (95 % " in found.sentence
    assert "storage gains more on large than on small (1.39 times, 95 % " in found.sentence


def test_what_gains_more_on_the_first_variant_is_told_that_way_round() -> None:
    figures = {
        "small-slow": 1000.0,
        "small-fast": 2000.0,
        "large-slow": 4000.0,
        "large-fast": 4010.0,
    }
    found = only({name: capacity(figure) for name, figure in figures.items()})
    assert "storage gains more on small than on large (2.0" in found.sentence
    assert found.interaction is not None
    assert found.interaction.ratio == pytest.approx(4010 / 4000 / 2)


def test_repetitions_that_scatter_show_no_difference() -> None:
    close = {**FIGURES, "large-fast": 2300.0}
    found = only({name: capacity(figure, spread=0.07) for name, figure in close.items()})
    assert "not decided" in found.sentence
    assert "that storage gains more on one of them cannot be shown" in found.sentence


def test_without_repetitions_nothing_is_sure() -> None:
    found = only({name: capacity(figure, repeats=1) for name, figure in FIGURES.items()})
    assert found.interaction is not None
    assert found.interaction.low is None
    assert "without repetitions it is not known whether that differs" in found.sentence


def test_a_cell_without_an_exact_figure_decides_nothing() -> None:
    figures: dict[str, Capacity | None] = {n: capacity(f) for n, f in FIGURES.items()}
    missing = only({**figures, "large-fast": None})
    assert (missing.interaction, missing.gain_on, missing.repetitions) == (None, None, None)
    assert missing.sentence == "slow to fast: not decided: no exact figure of fast-large"
    bound = only({**figures, "large-fast": at_one_load(2800)})  # at least so much, at another load
    assert bound.sentence.endswith("no exact figure of fast-large")
    assert make_factorials_table([missing]) is None


def test_at_one_load_throughput_is_compared() -> None:
    found = only({name: at_one_load(figure) for name, figure in FIGURES.items()})
    assert found.gain_on is not None
    assert found.gain_on[1].ratio == pytest.approx(1.4, abs=1e-6)


def test_every_other_axis_makes_a_table_of_its_own() -> None:
    mixes = {"reads": {"limits": {"statistic": "p99"}}, "both": {"limits": {"statistic": "p95"}}}
    three = mixes | {"all-mixes": {"limits": {"statistic": "p50"}}}
    found: dict[str, Capacity | None] = {name: capacity(f) for name, f in FIGURES.items()}
    asked = experiment(mix=three)
    assert [one.question for one in compute_factorials(asked, cells(found, asked))] == list(three)
    asked = experiment(mix=mixes)  # two variants: then there are three pairs of axes
    squares = compute_factorials(asked, cells(found, asked))
    assert [(one.beside, one.axis, one.question) for one in squares] == [
        ("instance", "storage", "reads"), ("instance", "storage", "both"),
        ("mix", "storage", "small"), ("mix", "storage", "large"),
        ("instance", "mix", "slow"), ("instance", "mix", "fast"),
    ]  # fmt: skip


def test_axes_that_change_no_target_are_not_laid_against_each_other() -> None:
    shared = experiment().request
    axes = {
        "mix": {"a": {"limits": {"statistic": "p99"}}, "b": {"limits": {"statistic": "p95"}}},
        "load": {"a": {"load": {"warmup_s": 1}}, "b": {"load": {"warmup_s": 2}}},
    }
    shared["target"]["volume"]["iops"] = 1000
    asked = Experiment.model_validate({"name": "e", "request": shared, "axes": axes})
    runs = [CellRun(cell, cell.name, None, None) for cell in expand_cells(asked)]
    assert compute_factorials(asked, runs) == ()


def phase(one: float, many: float, *, reached: bool) -> PhaseResult:
    def load(connections: int, rate: float) -> PhaseLoad:
        return PhaseLoad(
            connections=connections, clients=1, steps=(1, 2, 3),
            records_per_second=(rate * 0.99, None, rate, rate * 1.01),
            low_records_per_second=None, high_records_per_second=None, unfinished=0, errors=0,
            resource="cpu", reached=reached and connections > 1, limit="CPU set the limit",
        )  # fmt: skip

    return PhaseResult(
        name="charge", workload="w", records=100, loads=(load(1, one), load(16, many)), sentence=""
    )


def test_each_phase_at_each_of_its_loads_has_a_table_of_its_own() -> None:
    """As published: nothing is gained until the client pushes hard enough."""
    asked = experiment()
    phases = {
        name: phase(100, figure, reached=name.startswith("small"))
        for name, figure in FIGURES.items()
    }
    pushed = [*compute_factorials(asked, cells({}, asked, phases))]
    assert [one.question for one in pushed] == [
        "charge, 1 connection", "charge, 16 connections", "all, the search"
    ]  # fmt: skip
    assert "nothing (1.00 times" in pushed[0].sentence
    assert "cannot be shown" in pushed[0].sentence
    assert "storage gains more on large than on small" in pushed[1].sentence
    assert pushed[1].repetitions == (3, 3, 3, 3)  # a pass that says nothing is none


def test_the_page_shows_phases_and_effects() -> None:
    asked = experiment()
    result = result_of({}, None)
    phases = {name: phase(100, f, reached=name.startswith("small")) for name, f in FIGURES.items()}
    runs = cells({}, asked, phases)
    outcomes = [
        cell.model_copy(update={"phases": run.result.phases if run.result else ()})
        for cell, run in zip(result.cells, runs, strict=False)
    ]
    shown = result.model_copy(
        update={
            "cells": (*outcomes, *result.cells[4:]),
            "factorials": compute_factorials(asked, runs),
        }
    )
    table = make_phases_table(shown)
    assert table is not None
    assert [cell.text for cell in table.rows[1]][:3] == [
        "charge, 16 connections, records/s",
        "1,000 (CPU)",
        "2,000",
    ]
    page = render_experiment(shown)
    assert ">Phases</h2>" in page
    assert "storage gains more on large than on small" in page
    assert make_phases_table(result) is None


# What noise chose is no effect: as in `compare`.


def search_four(strategy: str, seed: int, slower: str = "", noise: float = 0.02) -> Factorial:
    """Four searches on one simulated database; cells with a name in theirs are 10 % slower."""
    found: dict[str, Capacity | None] = {}
    for n, name in enumerate(FIGURES):
        target = slow_down(collapse()) if slower and slower in name else collapse()
        search = search_for(strategy, collapse())
        found[name] = run(search, target, World(noise=noise), seed + n).capacity
    return only(found)


def significant(found: Factorial) -> list[bool]:
    """Whether each effect, the interaction and both gains are told to be there."""
    effects = (found.main, found.beside_main, found.interaction, *(found.gain_on or ()))
    known = [each for each in effects if each and each.low and each.high]
    return [each.low > 1 or each.high < 1 for each in known if each.low and each.high]


@pytest.mark.parametrize("strategy", ["ramp", "rate", "steps"])
def test_alike_cells_have_no_effects(strategy: str) -> None:
    """By their repetitions alone a quarter of such squares had one; rates had no intervals."""
    told = [significant(search_four(strategy, seed)) for seed in (20, 30)]
    assert [len(one) for one in told] == [5, 5]
    assert not any(map(any, told))


def test_a_variant_that_is_slower_has_an_effect_in_each_strategy() -> None:
    for strategy in ("ramp", "rate"):
        found = search_four(strategy, 40, slower="fast")
        main, _, interaction, *_ = significant(found)
        assert (main, interaction) == (True, False)
        assert found.main is not None
        assert found.main.high is not None
        assert found.main.high < 1


def edged(figure: float, width: float | None) -> Capacity:
    """An answer of an open loop, whose four repetitions all had the offered rate."""
    edge = None
    if width is not None:
        low, high = figure / width, figure * width
        edge = LoadRange(low=low, high=high, confidence=0.9, windows=9, method="")
    update = {"axis": "rate_ops_per_second", "at": figure, "edge": edge}
    return capacity(figure, spread=0).model_copy(update=update)


def test_open_loops_have_the_intervals_of_their_edges() -> None:
    found = only({name: edged(figure, 1.02) for name, figure in FIGURES.items()})
    assert found.gain_on is not None
    assert found.gain_on[1].ratio == pytest.approx(1.4)
    assert found.gain_on[1].high == pytest.approx(1.4 * 1.02 ** (2**0.5 * 1.959964 / 1.644854))
    assert "storage gains more on large than on small" in found.sentence


def test_what_is_not_decided_says_what_would_decide() -> None:
    found = only({name: edged(figure, 1.3) for name, figure in FIGURES.items()})
    assert "not decided (1.40 times, 95 % " in found.sentence
    assert found.sentence.endswith("`pairs` of an experiment, `plimsoll experiment`")
    at_one = only({name: at_one_load(figure, spread=0.2) for name, figure in FIGURES.items()})
    assert "not decided" in at_one.sentence
    assert "`pairs`" not in at_one.sentence  # it is at one load


def test_an_older_result_of_an_open_loop_has_no_interval() -> None:
    found = only({name: edged(figure, None) for name, figure in FIGURES.items()})
    assert "1.40 times (no interval without the edges) on large" in found.sentence
    assert "without the edges it is not known whether that differs" in found.sentence


def test_the_page_says_what_the_intervals_of_an_older_result_leave_out() -> None:
    found = only({name: capacity(figure) for name, figure in FIGURES.items()})
    written = found.model_dump(exclude={"covers_choice"})
    for factorial, told in (
        (found, "that choice."),
        (Factorial(**written), "they are too narrow."),
    ):
        result = result_of({}, None).model_copy(update={"factorials": (factorial,)})
        assert told in render_experiment(result)
