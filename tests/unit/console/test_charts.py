"""The page's charts are those of the report, drawn of the documents that the page has."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from plimsoll.console import charts
from plimsoll.console.live import Cursor, show_live
from plimsoll.errors import NotFoundError, UsageError
from plimsoll.report.charts.chart import Bars, Panel
from plimsoll.report.charts.curve import draw_curve
from plimsoll.report.charts.html import draw_chart
from plimsoll.report.charts.rows import collect_curve
from plimsoll.report.charts.timeline import draw_timeline
from plimsoll.workflow.past import rebuild_record
from tests.support.live_run import running_look, whole_steps
from tests.support.synthetic_run import OPERATIONS, START, synthetic_run

RESULT, SECONDS = synthetic_run()


def ended() -> dict[str, Any]:
    """The run as the page knows it."""
    look = running_look(
        8,
        record=rebuild_record(RESULT, past=False),
        result=RESULT,
        steps=whole_steps(RESULT, SECONDS),
        capacity=RESULT.capacity,
        seconds=SECONDS.operations,
        samples=SECONDS.target,
    )
    return show_live(look, Cursor()).model_dump(mode="json")


def timeline_document(live: dict[str, Any], **changes: Any) -> dict[str, Any]:
    names = ("at", "every_s", "run", "plan", "steps", "seconds", "resources", "caps")
    return {name: live[name] for name in names} | changes


def drawn(kind: str, known: dict[str, Any]) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(charts.draw(kind, json.dumps(known).encode()))
    return document


def curve_document(live: dict[str, Any]) -> dict[str, Any]:
    run = live["run"]
    return {
        **{name: live[name] for name in ("statistic", "axis", "loads", "bracket")},
        "figure": run["capacity_ops_per_second"],
        "bound": run["bound"],
        "interval": run["interval"],
    }


def test_the_curve_is_that_of_the_report() -> None:
    """But for what the page does not know: the single repetitions, and the connections."""
    assert RESULT.capacity is not None
    made = draw_curve(replace(collect_curve(RESULT.capacity), repetitions=()))
    assert made is not None
    wanted = without_tips(draw_chart(made))
    found = without_tips(drawn("curve", curve_document(ended()))["html"])
    assert marks(found) <= marks(wanted)
    assert len(marks(found)) > len(OPERATIONS) * len(RESULT.capacity.steps)


def without_tips(html: str) -> str:
    return re.sub(r"<title>.*?</title>|aria-label=\"[^\"]*\"", "", html, flags=re.DOTALL)


def marks(html: str) -> set[str]:
    return set(re.findall(r"<(?:rect|line|text)[^>]*>[^<]*|<svg x=[^>]*><path[^>]*>", html))


def test_the_timeline_has_the_panels_of_the_report() -> None:
    made = draw_timeline(RESULT, SECONDS)
    assert made is not None
    moments = drawn("timeline", timeline_document(ended()))["moments"]["timeline"]
    assert list(moments["panels"]) == [panel.id for panel in made.panels]
    of_the_report = {panel.id: panel.readout for panel in made.panels if panel.readout}
    for name, readout in of_the_report.items():
        assert moments["panels"][name]["series"] == {
            title: list(values) for title, values in readout.series.items()
        }


def live_second(told: int, epoch_s: int, **operations: int) -> dict[str, Any]:
    done = {
        name: {"succeeded": count, "errors": 0, "p99_us": 900} for name, count in operations.items()
    }
    return {"step": 9, "epoch_s": epoch_s, "clients": 2, "clients_told": told, "operations": done}


def rate_panel(known: dict[str, Any]) -> Panel:
    document = charts.KnownTimeline.model_validate_json(json.dumps(known), extra="ignore")
    chart = charts.draw_known_timeline(document)
    assert chart is not None
    return next(panel for panel in chart.panels if panel.id == "rate")


def test_a_second_of_the_step_in_progress_is_paler_and_one_that_lacks_a_client_is_not_drawn() -> (
    None
):
    begin = int(START.timestamp())
    fresh = [live_second(2, begin + 10, read=7), live_second(1, begin + 11, read=3)]
    panel = rate_panel(timeline_document(ended(), fresh=fresh))
    pale = [mark for mark in panel.marks if isinstance(mark, Bars) and mark.opacity == 0.4]
    assert [bar for mark in pale for bar in mark.bars] == [(10, 11, 0, 7)]
    assert panel.readout is not None
    assert 11 not in panel.readout.moments


def test_the_window_of_the_step_in_progress_is_shaded_as_far_as_it_has_come() -> None:
    live = show_live(running_look(4), Cursor()).model_dump(mode="json")
    known = charts.KnownTimeline.model_validate_json(
        json.dumps(timeline_document(live)), extra="ignore"
    )
    chart = charts.draw_known_timeline(known)
    assert chart is not None
    assert chart.length_s is not None
    assert [step[0] for step in chart.steps] == [1, 2, 3, 4, 5]
    assert chart.steps[-1][3] <= chart.length_s


def test_nothing_measured_is_no_chart() -> None:
    live = show_live(running_look(0, samples=(), plan=None), Cursor())
    known = live.model_dump(mode="json")
    assert drawn("timeline", timeline_document(known)) == {"html": "", "moments": {}}
    assert drawn("curve", curve_document(known)) == {"html": "", "moments": {}}


def test_what_runs_bring_is_text() -> None:
    hostile = '<img src=x onerror="alert(1)">'
    text = json.dumps(timeline_document(ended())).replace('"update"', json.dumps(hostile))
    html = drawn("timeline", json.loads(text))["html"]
    assert "<img" not in html
    assert "&lt;img" in html


@pytest.mark.parametrize("known", [b"", b"[]", b"{}", b'{"statistic": "p98"}', b"\xff"])
def test_what_is_no_document_of_the_page_is_refused(known: bytes) -> None:
    for kind in ("curve", "curves", "timeline", "history"):
        with pytest.raises(UsageError):
            charts.draw(kind, known)


def test_a_chart_of_no_kind_is_not_there() -> None:
    with pytest.raises(NotFoundError, match="'pie'"):
        charts.draw("pie", b"{}")


def test_a_field_of_a_newer_service_is_left_out() -> None:
    known = curve_document(ended())
    known["loads"][0]["of_a_newer_service"] = 1
    assert drawn("curve", known | {"also": None})["html"]


def test_runs_are_laid_over_each_other_by_name() -> None:
    curve = curve_document(ended())
    runs = [curve | {"name": name} for name in ("first", "second")]
    html = drawn("curves", {"operation": "update", "runs": runs})["html"]
    assert re.findall(r"</svg> (\w+)</li>", html)[:2] == ["first", "second"]
