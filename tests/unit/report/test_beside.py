"""A report has what ran beside: apart, on the same clock, and what it takes on top."""

from typing import Any

from plimsoll.model.judging.closing import BackgroundCost, Closing, PairedRatio
from plimsoll.model.request.background import Background
from plimsoll.model.run.results import BackgroundResult, OperationTotals, RunResult, Seconds
from plimsoll.report.charts.timeline import draw_timeline
from plimsoll.report.comparing.comparing import compare_runs
from plimsoll.report.headline import build_headline
from plimsoll.report.page import render_run
from plimsoll.report.tables import describe_backgrounds, make_background_table
from tests.support.synthetic_run import synthetic_run

PLAIN, SECONDS = synthetic_run()
NIGHTLY = Background.model_validate(
    {
        "name": "nightly",
        "workload": {"name": "batch-full-scan", "records": 5000},
        "every_s": 6,
        "for_s": 2,
    }
)
DETAIL = "nightly costs 38 % of the throughput (95 % interval [33, 43] %)"


def totals(step: int) -> OperationTotals:
    latency = PLAIN.steps[0].operations["read"].latency_us
    return OperationTotals(
        succeeded=40 * step, records=40_000 * step, errors={}, latency_us=latency, histogram=""
    )


def with_background() -> tuple[RunResult, Seconds]:
    steps = tuple(
        step.model_copy(
            update={
                "background": (
                    BackgroundResult(
                        name="nightly", spans_s=((0, 2), (6, 8)), clients=1, clients_ran=1,
                        connections=1, ran_s=4, throughput_ops_per_second=10.0 * step.plan.index,
                        records_per_second=10_000.0 * step.plan.index, errors=0, unanswered=0,
                        operations={"scan": totals(step.plan.index)},
                    ),
                )
            }
        )
        for step in PLAIN.steps[:3]
    )  # fmt: skip
    ratio = PairedRatio(ratio=0.62, low=0.57, high=0.67, pairs=4)
    cost = BackgroundCost(
        names=("nightly",), connections=8, rate_ops_per_second=None, throughput=ratio,
        latency={}, detail=DETAIL,
    )  # fmt: skip
    capacity = PLAIN.capacity
    assert capacity is not None
    update: dict[str, Any] = {
        "steps": steps,
        "request": PLAIN.request.model_copy(update={"background": (NIGHTLY,)}),
        "capacity": capacity.model_copy(update={"closing": Closing(background=cost)}),
    }
    beside = tuple(
        second.model_copy(update={"operation": "scan"})
        for second in SECONDS.operations
        if second.operation == "read"
    )
    seconds = SECONDS.model_copy(update={"background": {"nightly": beside}})
    return PLAIN.model_copy(update=update), seconds


def test_what_it_takes_stands_in_the_answers_sentence_and_facts() -> None:
    found = build_headline(with_background()[0])
    assert DETAIL in found.sentence
    assert dict(found.facts)["Background"] == DETAIL


def test_a_comparison_of_runs_ends_in_what_it_takes() -> None:
    told = compare_runs([with_background()[0], PLAIN]).sentences
    assert told[-1].endswith(f": {DETAIL}.")


def test_a_line_says_when_it_runs_and_what_it_did() -> None:
    (line,) = describe_backgrounds(with_background()[0])
    assert line.startswith(
        "background nightly: batch-full-scan, every 6 s of each step for 2 s; 20.0 ops/s while it"
        " runs, scan p99 "
    )
    assert line.endswith("(median of 3 steps; no part of the answer)")


def test_a_table_has_a_row_for_each_step() -> None:
    table = make_background_table(with_background()[0])
    assert table is not None
    assert [row[0].text for row in table.rows] == ["1", "2", "3"]
    assert [cell.text for cell in table.rows[0][1:6]] == [
        "nightly",
        "scan",
        "4 s",
        "10.0",
        "10,000",
    ]
    assert make_background_table(PLAIN) is None


def test_both_workloads_are_on_one_clock() -> None:
    result, seconds = with_background()
    chart, plain = draw_timeline(result, seconds), draw_timeline(PLAIN, SECONDS)
    assert chart is not None
    assert plain is not None
    found = {panel.id: panel.readout for panel in chart.panels}
    beside, own = found["background"], found["rate"]
    assert beside is not None
    assert own is not None
    assert set(beside.series) == {"nightly: scan ops/s"}
    assert set(own.series) == {"read ops/s", "update ops/s"}
    without = {panel.id: panel.readout for panel in plain.panels}
    assert own == without["rate"], "it is in no throughput of the answer"
    assert "background" not in without


def test_the_page_has_a_section_for_it_only_where_it_ran() -> None:
    assert "<h2>Beside it</h2>" in render_run(*with_background())
    assert "<h2>Beside it</h2>" not in render_run(PLAIN, SECONDS)
