"""An experiment's decision: what to buy, what IOPS gained, and nothing beyond what was measured."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from plimsoll import words
from plimsoll.aws.run_records import now
from plimsoll.capacity.judge import judge
from plimsoll.experiments.conclude_experiment import build_result
from plimsoll.experiments.records import make_cell_run_id
from plimsoll.model.judging.capacity import Capacity, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.experiment_record import ExperimentRecord, ExperimentResult
from plimsoll.model.run.quote import RunCost
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.report.experiment.page import (
    make_cells_table,
    make_gains_table,
    make_matrix_table,
    render_experiment,
)
from plimsoll.report.experiment.summary import CellRun
from plimsoll.report.page import join_units
from plimsoll.requests.cells import expand_cells
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
VOLUMES = {"low": 1000, "mid": 2000, "high": 4000}


def capacity(throughput: float, *, spread: float = 0.01, repeats: int = 4) -> Capacity:
    """A knee at two clients with a throughput, and so much from one repetition to the next."""
    made = [
        Step(
            clients=clients,
            connections=clients * 100,
            throughput_ops_per_second=throughput * share * (1 + spread * (n - (repeats - 1) / 2)),
            latency_us={"read": {"p99": p99}},
        )
        for clients, share, p99 in ((1, 0.55, 500.0), (2, 1.0, 600.0), (4, 1.01, 5000.0))
        for n in range(repeats)
    ]
    return judge(made, Rules(limits_us={"read": 1000}, confirmation=None))


def at_one_load(throughput: float, *, spread: float = 0.01, repeats: int = 4) -> Capacity:
    """Throughput at 250 connections and at no other load, as reference experiment R2 has it."""
    made = [
        Step(
            clients=1,
            connections=250,
            throughput_ops_per_second=throughput * (1 + spread * (n - (repeats - 1) / 2)),
            latency_us={"read": {"p99": 900.0}},
        )
        for n in range(repeats)
    ]
    return judge(made, Rules(confirmation=None))


def experiment(targets: dict[str, dict[str, Any]] | None = None) -> Experiment:
    shared = RESULT.request.model_dump(mode="json", exclude={"name", "team", "tags", "workload"})
    shared["workload"] = {"records": 1000}
    del shared["target"]["volume"]["iops"]
    volumes = {n: {"target": {"volume": {"iops": iops}}} for n, iops in VOLUMES.items()}
    mixes = {"reads": {"workload": {"name": "ycsb-c"}}, "both": {"workload": {"name": "ycsb-a"}}}
    value = {"name": "matrix", "request": shared, "axes": {"io": targets or volumes, "mix": mixes}}
    return Experiment.model_validate({**value, "seed": 3})


def result_of(
    found: dict[str, Capacity | None],
    asked: Experiment | None = None,
    usd_per_hour: Mapping[str, float] = MappingProxyType({}),
) -> ExperimentResult:
    """Conclude an experiment: each cell came to a capacity, to nothing (None), or never began."""
    asked = asked or experiment()
    measured = []
    for cell in expand_cells(asked):
        run_id = make_cell_run_id("e", cell)
        if cell.name not in found:
            measured.append(CellRun(cell, run_id, None, None))
            continue
        came_to = found[cell.name]
        failed = Failure(phase="step", error="E", cause="the target does not answer")
        result = RESULT.model_copy(
            update={
                "run_id": run_id,
                "request": cell.request,
                "capacity": came_to,
                "state": RunState.SUCCEEDED if came_to else RunState.FAILED,
                "failure": None if came_to else failed,
                "cost": cost(usd_per_hour.get(cell.variants["io"])),
            }
        )
        measured.append(CellRun(cell, run_id, result.state, result))
    record = ExperimentRecord(
        experiment_id="e",
        name=asked.name,
        team=asked.team,
        state=RunState.SUCCEEDED,
        experiment_sha256="0" * 64,
        cells=len(measured),
        seed=3,
        submitted_at=now(),
        ended_at=now(),
    )
    return build_result(record, asked, measured)


def cost(usd_per_hour: float | None) -> RunCost:
    """A target's price by the hour."""
    return RunCost(
        basis="as-if-on-aws",
        usd=None,
        items=(),
        target_usd_per_hour=usd_per_hour,
        usd_per_million_operations=None,
        region="us-east-1",
        as_of=None,
        method="",
    )


WHOLE: dict[str, Capacity | None] = {
    "low-reads": capacity(1000), "mid-reads": capacity(1900), "high-reads": capacity(1930),
    "low-both": capacity(500), "mid-both": capacity(490), "high-both": None,
}  # fmt: skip


def test_each_question_has_its_choice() -> None:
    result = result_of(WHOLE)
    reads, both = result.decisions
    assert (reads.question, reads.best, reads.like) == ("reads", "high", ("mid",))
    assert reads.sentence == (
        "high or mid: they differ by too little to matter (1.02 times, 95 % 0.98 to 1.06);"
        " what they cost is not known"
    )
    assert (both.question, both.best, both.like) == ("both", "low", ("mid",))
    assert both.sentence.endswith("no answer from high")
    assert (reads.outcome, both.outcome) == ("alike", "partial")
    assert reads.cheapest is None  # no price is known


@pytest.mark.parametrize(
    ("question", "lower", "outcome", "says"),
    [
        ("reads", "low", "gain", "low to mid (1,000 to 2,000 IOPS): gain: 1.90 times the through"),
        ("reads", "mid", "no gain", "mid to high (2,000 to 4,000 IOPS): no gain: 1.02 times the"),
        ("both", "low", "no gain", "low to mid (1,000 to 2,000 IOPS): no gain: 0.98 times the th"),
        ("both", "mid", "not decided", "mid to high (2,000 to 4,000 IOPS): not decided: no answe"),
    ],
)
def test_each_step_up_in_iops_is_a_gain_none_or_undecided(
    question: str, lower: str, outcome: str, says: str
) -> None:
    (gain,) = [g for g in result_of(WHOLE).gains if (g.question, g.lower) == (question, lower)]
    assert gain.outcome == outcome
    assert gain.sentence.startswith(says)
    if outcome == "no gain":
        assert gain.low is not None
        assert gain.high is not None
        assert gain.low < 1 < gain.high < 1.1


@pytest.mark.parametrize(
    ("mid", "outcome"),
    [
        (capacity(1100, spread=0.2), "not decided"),  # 1.1 times, somewhere between 0.7 and 1.8
        (capacity(1900, repeats=1), "not decided"),  # no interval
        (capacity(700), "loss"),
        (capacity(1050, spread=0.001), "gain"),  # small, and sure
    ],
)
def test_no_gain_is_not_claimed_of_what_is_not_known(mid: Capacity, outcome: str) -> None:
    low = capacity(1000, spread=0.001)
    found: dict[str, Capacity | None] = {"low-reads": low, "mid-reads": mid}
    gain = result_of(found).gains[0]
    assert (gain.lower, gain.higher, gain.outcome) == ("low", "mid", outcome)


def test_a_gain_over_a_lower_bound_is_one_itself() -> None:
    """Nothing failed with more IOPS: at least so much more, and the table says at least."""
    open_end = judge(
        [
            Step(
                clients=clients,
                connections=clients * 100,
                throughput_ops_per_second=figure,
                latency_us={"read": {"p99": 500.0}},
            )
            for clients, figure in ((1, 1100.0), (2, 2000.0))
        ],
        Rules(limits_us={"read": 1000}, confirmation=None),
    )
    result = result_of({"low-reads": capacity(1000, repeats=1), "mid-reads": open_end})
    assert result.gains[0].sentence.endswith("gain: at least 2.00 times the throughput")
    table = make_gains_table(result)
    assert table is not None
    assert [cell.text for cell in table.rows[0]][4:] == ["≥ 2.00", words.NOTHING, "gain"]


def test_at_one_load_throughput_is_compared_and_no_bound_stands_in_the_way() -> None:
    found: dict[str, Capacity | None] = {
        "low-reads": at_one_load(1000), "mid-reads": at_one_load(2000)
    }  # fmt: skip
    result = result_of(found)
    assert result.cells[0].bound == ">="
    assert result.decisions[0].sentence.startswith("mid: 2.00 times low (95 % 1.9")
    assert result.gains[0].outcome == "gain"


def test_the_most_per_dollar_is_told_where_every_price_is_known() -> None:
    """At ten times the price, twice the throughput is no bargain."""
    prices = {"low": 0.1, "mid": 1.0, "high": 5.0}
    result = result_of(WHOLE, usd_per_hour=prices)
    reads, both = result.decisions
    assert (reads.best, reads.cheapest) == ("high", "low")
    assert reads.sentence.endswith("cheapest an operation: low at $0.0278 per million")
    assert reads.buy == "mid"  # as good as high, and cheaper
    assert both.cheapest == "low"
    costs = {c.name: c.usd_per_million for c in result.cells}
    assert costs["low-reads"] == pytest.approx(0.1 / (1000 * 3600) * 1e6, rel=1e-3)
    assert costs["high-both"] is None
    one_price = result_of(WHOLE, usd_per_hour={"low": 0.1})
    assert one_price.decisions[0].cheapest is None
    assert "low costs $0.0278 per million; no price is known of high and mid" in (
        one_price.decisions[0].sentence
    )


def test_targets_whose_price_is_known_are_ranked_though_another_has_none() -> None:
    reads, _ = result_of(WHOLE, usd_per_hour={"low": 0.1, "mid": 1.0}).decisions
    assert reads.cheapest == "low"
    assert reads.sentence.endswith("low at $0.0278 per million; no price is known of high")


def test_a_cell_without_dollars_says_why() -> None:
    cells = {cell.name: cell for cell in result_of(WHOLE, usd_per_hour={"low": 0.1}).cells}
    assert (cells["low-reads"].usd_per_hour, cells["low-reads"].usd_unknown) == (0.1, None)
    assert cells["mid-reads"].usd_per_hour is None
    assert cells["mid-reads"].usd_unknown == "the price of an endpoint is not known"


def test_one_measured_target_among_unknown_ones_is_no_answer() -> None:
    """Neither by its name nor by the exit code."""
    reads = result_of({"low-reads": capacity(1000), "mid-reads": None}).decisions[0]
    assert (reads.outcome, reads.best, reads.buy) == ("partial", None, None)
    assert reads.unknown == ("mid", "high")
    assert reads.sentence == (
        "not decided: of mid and high nothing is known, low (1,000 ops/s) alone was measured"
    )


def below_first(throughput: float) -> Capacity:
    """Half of the operations fail at the only load."""
    step = at_one_load(throughput, repeats=1).steps[0].steps[0]
    failed = step.model_copy(update={"errors": 500, "operations": 500})
    return judge([failed], Rules(confirmation=None))


def test_a_target_that_fails_at_the_lightest_load_has_answered() -> None:
    found: dict[str, Capacity | None] = {
        "low-reads": below_first(300), "mid-reads": at_one_load(1000), "high-reads": below_first(20)
    }  # fmt: skip
    result = result_of(found)
    reads = result.decisions[0]
    assert (reads.outcome, reads.buy, reads.cannot) == ("chosen", "mid", ("low", "high"))
    assert "only mid (1,000 ops/s) passes it: low and high fail at the lightest load" in (
        reads.sentence
    )
    assert (result.gains[0].outcome, result.gains[0].low) == ("gain", None)  # at least so much


def test_targets_that_differ_beyond_their_volume_make_no_step_in_iops() -> None:
    other = {
        "a": {"target": {"volume": {"iops": 1000}, "instance_class": "db.m6i.large"}},
        "b": {"target": {"volume": {"iops": 2000}, "instance_class": "db.m6i.xlarge"}},
    }
    names = {"a-reads": capacity(1000), "b-reads": capacity(2000)}
    assert result_of(dict(names), experiment(other)).gains == ()


def test_a_cell_without_an_answer_says_why() -> None:
    told = dict(zip((c.name for c in result_of(WHOLE).cells), result_of(WHOLE).cells, strict=True))
    assert told["high-both"].no_answer == "FAILED in its step phase: the target does not answer"
    assert told["low-reads"].no_answer is None
    missing = result_of({}).cells[0]
    assert (missing.state, missing.no_answer) == (None, "it was not started")
    assert len(result_of(WHOLE).warnings) == 1


def test_the_page_and_its_tables_hold_every_cell() -> None:
    result = result_of(WHOLE)
    page = render_experiment(result)
    for told in (
        "What to buy",
        "high or mid: they differ by too little to matter",
        join_units(result.answer),
    ):
        assert told in page
    table = make_matrix_table(result)
    assert table.columns[1:] == ("low", "mid", "high", "which")
    limit = result.cells[0].limited_by
    assert limit
    assert [cell.text for cell in table.rows[1]][1:4] == [
        f"500 · {limit}", f"490 · {limit}", words.NOTHING
    ]  # fmt: skip
    assert [row[0].text for row in make_cells_table(result).rows] == list(result.order)


def test_an_experiment_without_any_answer_decides_nothing() -> None:
    result = result_of({"low-reads": None})
    assert {decision.best for decision in result.decisions} == {None}
    assert [gain.outcome for gain in result.gains] == ["not decided"] * 4
    assert "No cell has an answer" in render_experiment(result)
