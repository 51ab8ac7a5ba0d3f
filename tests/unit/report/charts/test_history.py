"""The chart of a check: figures, bounds and gaps, and where they changed."""

from datetime import UTC, datetime
from typing import Any

from plimsoll.model.run.check_history import History
from plimsoll.report.charts.chart import Label, Line, Panel, Point, Rule
from plimsoll.report.charts.history import draw_history


def run(**figure: Any) -> dict[str, Any]:
    figures = {"capacity": figure} if figure else {}
    return {"run_id": "r", "comparable": "ab", "figures": figures}


def history(*targets: dict[str, Any], **changes: Any) -> History:
    points = [
        {"scheduled_at": f"2026-03-{day:02d}T02:30:00Z", "target": target}
        for day, target in enumerate(targets, 1)
    ]
    return History.model_validate({"points": points, **changes})


def drawn(found: History) -> Panel:
    chart = draw_history(found, "capacity")
    assert chart is not None
    return chart.panels[0]


def test_without_a_figure_there_is_no_chart() -> None:
    assert draw_history(history(run(), run(value=None, why_none="NOISY")), "capacity") is None
    assert draw_history(history(), "capacity") is None


def test_a_figure_is_a_dot_with_its_interval_and_a_bound_another_shape() -> None:
    figures = [run(value=900.0, low=880.0, high=920.0), run(value=None, at_least=950.0)]
    panel = drawn(history(*figures, run(value=None, below=100.0), run(value=None)))
    points = [mark for mark in panel.marks if isinstance(mark, Point)]
    assert [(point.y, point.shape) for point in points] == [
        (900, "circle"),
        (950, "triangle"),
        (100, "diamond"),
    ]
    assert [dict(point.tip)["capacity"] for point in points] == ["900", "≥ 950", "< 100"]
    spans = [mark for mark in panel.marks if isinstance(mark, Line)][1]
    assert [[y for _, y in stretch] for stretch in spans.stretches] == [[880, 920]]


def test_days_are_labeled_in_utc_and_not_crowded() -> None:
    panel = drawn(history(*(run(value=1.0) for _ in range(28))))
    texts = [text for _, text in panel.x.ticks]
    assert len(texts) <= 9
    assert texts[:2] == ["03-01", "03-05"]
    assert panel.x.low < datetime(2026, 3, 1, 2, 30, tzinfo=UTC).timestamp()


def test_a_change_has_its_means_on_both_sides() -> None:
    segment = {"runs": 2, "standard_deviation": 1.0, "bound": "="}
    change = {
        "metric": "capacity",
        "unit": "ops/s",
        "at": "2026-03-03T02:30:00Z",
        "run_id": "r",
        "before": {**segment, "mean": 1000.0},
        "after": {**segment, "mean": 800.0},
        "change_share": -0.2,
        "p_value": 0.001,
        "regression": True,
    }
    panel = drawn(history(run(value=1000.0), run(value=1000.0), run(value=800.0), changes=[change]))
    (rule,) = [mark for mark in panel.marks if isinstance(mark, Rule)]
    assert rule.color == "var(--fail)"
    (label,) = [mark for mark in panel.marks if isinstance(mark, Label)]
    assert label.text == "regression \N{MINUS SIGN}20 %"
    before, after, *_ = [mark for mark in panel.marks if isinstance(mark, Line)]
    assert [line.stretches[0][0][1] for line in (before, after)] == [1000, 800]
