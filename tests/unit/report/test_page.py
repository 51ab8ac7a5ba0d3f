"""The page: self-contained, safe, small, and empty where nothing was measured."""

import json
import re

import pytest
import yaml

from plimsoll.model.request.request import Request
from plimsoll.model.run.results import Seconds
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.report.charts.chart import Bars, Label, Line, Panel, Point
from plimsoll.report.charts.curve import draw_curve, label_limits
from plimsoll.report.charts.rows import collect_curve
from plimsoll.report.charts.timeline import draw_timeline
from plimsoll.report.page import join_units, render_run, write_content_security_policy
from tests.support.synthetic_run import synthetic_run

RESULT, SECONDS = synthetic_run()
EMPTY = Seconds(run_id=RESULT.run_id, operations=(), target=())
MOST_BYTES = 400_000


@pytest.fixture(scope="module")
def drawn() -> str:
    return render_run(RESULT, SECONDS)


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def charts_in(page: str) -> set[str]:
    return set(re.findall(r'<figure[^>]* id="(.*?)"', without_scripts(page)))


def panel(seconds: Seconds, name: str) -> Panel | None:
    """A panel of the time line."""
    chart = draw_timeline(RESULT, seconds)
    assert chart is not None
    return next((panel for panel in chart.panels if panel.id == name), None)


def spread(times: int, seconds: Seconds = SECONDS) -> Seconds:
    """The same seconds again and again, one after another."""
    length = seconds.operations[-1].epoch_s - seconds.operations[0].epoch_s + 1
    operations = tuple(
        second.model_copy(update={"epoch_s": second.epoch_s + n * length})
        for n in range(times // length)
        for second in seconds.operations
    )
    samples = tuple(
        sample.model_copy(update={"epoch_ms": sample.epoch_ms + n * length * 1000})
        for n in range(times // length)
        for sample in seconds.target
    )
    return seconds.model_copy(update={"operations": operations, "target": samples})


def test_the_page_asks_for_nothing_from_outside(drawn: str) -> None:
    assert not re.findall(r'(?:src|href|action)="(?!data:)', without_scripts(drawn))
    assert "url(" not in without_scripts(drawn)
    assert "default-src 'none'" in drawn


def test_every_chart_is_drawn_without_a_script(drawn: str) -> None:
    expected = {"curve", "throughput", "latency-read", "latency-update", "timeline", "heat-map"}
    assert charts_in(drawn) == expected
    figures = re.findall(r"<figure.*?</figure>", without_scripts(drawn), re.DOTALL)
    for figure in figures:
        assert re.search(r'<svg [^>]*role="img" aria-label="[^"]{20,}"', figure)
        assert re.search(r'<path [^>]*d="[Mm]', figure)


def test_what_does_not_see_a_chart_is_told_every_point_of_the_curve(drawn: str) -> None:
    assert RESULT.capacity is not None
    label = re.search(r'aria-label="(p99 latency.*?)"', drawn)
    assert label is not None
    for judged in RESULT.capacity.steps:
        for name, latency_us in judged.latency_us.items():
            assert f"operation {name}, p99 latency, µs {latency_us:,.0f}" in label[1]


def test_the_page_runs_and_styles_nothing_but_its_own(drawn: str) -> None:
    """Under a policy without `unsafe-inline`: by hashes; no attribute is code or style."""
    stated = re.search(r'http-equiv="Content-Security-Policy" content="(.*?)"', drawn)
    assert stated is not None
    assert stated[1] == write_content_security_policy(drawn)
    assert "unsafe" not in stated[1]
    assert stated[1].count("'sha256-") == 2
    assert not re.findall(r"<[^>]*\s(?:on\w+|style)=", without_scripts(drawn))


def test_the_curve_holds_the_figures_of_the_result() -> None:
    assert RESULT.capacity is not None
    expected = {
        (judged.throughput_ops_per_second, latency_us)
        for judged in RESULT.capacity.steps
        for latency_us in judged.latency_us.values()
    }
    chart = draw_curve(collect_curve(RESULT.capacity))
    assert chart is not None
    points = [m for m in chart.panels[0].marks if isinstance(m, Point) and not m.hollow]
    assert {(point.x, point.y) for point in points} == expected


def test_the_request_on_the_page_asks_for_the_same_run(drawn: str) -> None:
    shown = re.findall(r"<pre><code>(.*?)</code></pre>", drawn, re.DOTALL)[-1]
    text = shown.replace("&#39;", "'").replace("&#34;", '"').replace("&amp;", "&")
    assert Request.model_validate_json(json.dumps(yaml.safe_load(text))) == RESULT.request


def test_paper_has_the_name_on_each_page_and_no_name_is_a_style(drawn: str) -> None:
    assert '@page { @top-left { content: "r1\\2d demo' in drawn
    hostile = RESULT.model_copy(update={"name": '"; } </style><b>'})
    page = render_run(hostile, SECONDS)
    style = page[page.index("<style>") : page.index("</style>")]
    assert "<b>" not in style
    assert style.rstrip().endswith("}")


def test_the_line_of_the_answer_says_that_it_is_the_lower_end_of_its_interval() -> None:
    capacity = RESULT.capacity
    assert capacity is not None
    assert capacity.interval is not None
    low = capacity.interval.low_ops_per_second
    for figure, told in ((low, True), (low * 1.02, False)):
        changed = {"max_sustainable_throughput_ops_per_second": figure}
        chart = draw_curve(collect_curve(capacity.model_copy(update=changed)))
        assert chart is not None
        labels = [m.text for m in chart.panels[0].marks if isinstance(m, Label) and m.bold]
        assert [text.endswith("the lower end of the interval") for text in labels] == [told]


def test_a_hostile_name_stays_text() -> None:
    hostile = "</script><script>alert(1)</script>"
    notes = RESULT.model_copy(update={"notes": (hostile,)})
    renamed = tuple(
        second.model_copy(update={"operation": hostile}) for second in SECONDS.operations
    )
    page = render_run(notes, SECONDS.model_copy(update={"operations": renamed}))
    assert hostile not in page
    assert "&lt;/script&gt;" in page


def test_steps_shorter_than_a_bin_are_drawn_all_the_same() -> None:
    """Of a run of a day, a step of 15 s is one bin: no line, so each has a block and a point."""
    apart = tuple(
        second.model_copy(update={"epoch_s": second.epoch_s + second.step * 7200})
        for second in SECONDS.operations
    )
    drawn = SECONDS.model_copy(update={"operations": apart})
    rate, latency = panel(drawn, "rate"), panel(drawn, "latency")
    assert rate is not None
    assert latency is not None
    bars = [bar for mark in rate.marks if isinstance(mark, Bars) for bar in mark.bars]
    assert all(t2 - t == 300 and high > low for t, t2, low, high in bars)
    assert len(bars) == len(RESULT.steps) * 2
    stretches = [one for mark in latency.marks if isinstance(mark, Line) for one in mark.stretches]
    assert {len(one) for one in stretches} == {1}


@pytest.mark.parametrize(
    ("update_us", "labels"),
    [
        (5100, [(5100, "limit of update: 5.10 ms, of read: 5.00 ms")]),
        (9000, [(9000, "limit of update: 9.00 ms"), (5000, "limit of read: 5.00 ms")]),
    ],
)
def test_limits_too_close_for_a_label_each_share_one(
    update_us: float, labels: list[tuple[float, str]]
) -> None:
    limits_us = [
        {"operation": "read", "limit_us": 5000},
        {"operation": "update", "limit_us": update_us},
    ]
    found = label_limits(limits_us, [1000, 10_000])
    assert [(row["limit_us"], row["label"]) for row in found] == labels


def test_the_caption_names_only_what_is_drawn(drawn: str) -> None:
    assert RESULT.capacity is not None
    none = {"max_sustainable_throughput_ops_per_second": None, "bracket": None, "bound": None}
    page = without_scripts(
        render_run(
            RESULT.model_copy(update={"capacity": RESULT.capacity.model_copy(update=none)}), EMPTY
        )
    )
    for told in ("Ringed", "Vertical line", "Horizontal line: the answer", "Shaded: the bracket"):
        assert told not in page
        assert told in without_scripts(drawn)


def test_a_run_without_series_has_no_chart_over_time() -> None:
    page = render_run(RESULT, EMPTY)
    assert charts_in(page) == {"curve", "throughput", "latency-read", "latency-update"}
    assert "second by second" not in page


def test_a_run_that_measured_nothing_draws_nothing() -> None:
    failed = RESULT.model_copy(
        update={
            "state": RunState.FAILED,
            "failure": Failure(phase="provision", error="E", cause="no such engine version"),
            "capacity": None,
            "limiting": None,
            "steps": (),
        }
    )
    page = render_run(failed, EMPTY)
    assert "no such engine version" in page
    assert "<figure" not in page


def test_a_volume_without_credits_has_no_panel_of_credits() -> None:
    assert panel(SECONDS, "balance") is None
    credited = tuple(
        sample.model_copy(update={"burst_balance_percent": 80.0}) for sample in SECONDS.target
    )
    found = panel(SECONDS.model_copy(update={"target": credited}), "balance")
    assert found is not None
    assert found.readout is not None
    assert set(found.readout.series["volume's burst balance"]) == {80.0}


def test_the_page_of_an_hour_is_under_400_kb_and_says_how_its_seconds_are_thinned() -> None:
    operations = tuple(
        second.model_copy(update={"operation": f"{second.operation}-{kind}"})
        for second in SECONDS.operations
        for kind in range(3)
    )
    hour = spread(3600, SECONDS.model_copy(update={"operations": operations}))
    page = render_run(RESULT, hour)
    assert len(page.encode()) < MOST_BYTES
    assert "stacked (mean of 15 s)" in page


def test_a_page_links_to_dashboards_by_their_own_names() -> None:
    links = {"grafana": "https://grafana.example/d/a?var-run=x&from=1&to=2"}
    page = render_run(RESULT.model_copy(update={"links": links}), EMPTY)
    shown = (
        'href="https://grafana.example/d/a?var-run=x&amp;from=1&amp;to=2" rel="noopener noreferrer"'
    )
    assert f"<a {shown}>On the dashboard in Grafana</a>" in page


def test_no_line_breaks_between_a_figure_and_its_unit() -> None:
    gap = "\N{NO-BREAK SPACE}"
    assert (
        join_units("1.84 ms at 4,000 IOPS for 3 s") == f"1.84{gap}ms at 4,000{gap}IOPS for 3{gap}s"
    )
    assert join_units("the 95 % interval of 3 steps") == f"the 95{gap}% interval of 3 steps"
