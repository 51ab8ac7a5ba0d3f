"""The chart of a check: one metric over time, the target's and the control's, with its changes."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from plimsoll import words
from plimsoll.model.run.check_history import Change, Figure, History, RunOfCheck
from plimsoll.report.charts import theme
from plimsoll.report.charts.chart import Chart, Key, Label, Line, Mark, Panel, Point, Rule, Shape
from plimsoll.report.charts.scale import ROOM, Scale, round_ticks

HEIGHT_PX = 240
DAY_S = 86_400
DAYS_LABELED_MOST = 9
MEAN_SHARE = 0.06  # length of a mean's line beside a change, as a share of the axis
COLORS = {"target": theme.SERIES[0], "control": theme.SERIES[5]}


@dataclass(frozen=True)
class _Dot:
    """A figure of one run, or its bound where it has no figure."""

    at_s: float
    value: float
    figure: Figure

    @property
    def shape(self) -> Shape:
        if self.figure.value is not None:
            return "circle"
        return "triangle" if self.figure.at_least is not None else "diamond"


def draw_history(history: History, metric: str) -> Chart | None:
    """Draw a metric of a check's runs; None if no run has a figure of it."""
    targets = list(
        _find_dots([(p.scheduled_at.timestamp(), p.target) for p in history.points], metric)
    )
    controls = [(p.scheduled_at.timestamp(), p.control) for p in history.points if p.control]
    dots = {"target": targets, "control": list(_find_dots(controls, metric))}
    series = {name: own for name, own in dots.items() if own}
    if not series:
        return None
    x = _scale_days([point.scheduled_at.timestamp() for point in history.points])
    ends = [
        value
        for own in series.values()
        for dot in own
        for value in (dot.value, dot.figure.low, dot.figure.high)
        if value is not None
    ]
    y = _scale_metric(metric, ROOM * max(ends))
    marks: list[Mark] = []
    for change in history.changes:
        if change.metric == metric:
            marks += _mark_change(change, x)
    for name, own in series.items():
        marks += _mark_series(metric, name, own, hollow=name == "control")
    told = [f"{name} {format_metric(metric, own[-1].value)}" for name, own in series.items()]
    changes = sum(change.metric == metric for change in history.changes)
    panel = Panel(
        id=metric,
        x=x,
        y=y,
        marks=marks,
        height_px=HEIGHT_PX,
        keys=[Key(name, COLORS[name]) for name in series],
        summary=f"latest: {', '.join(told)}; {words.format_count(changes, 'change')}",
    )
    return Chart(f"history-{metric}", [panel])


def format_metric(metric: str, value: float) -> str:
    """Format a value of a check's metric, whose name tells its unit."""
    return words.format_latency(value) if metric.startswith("latency") else words.format_rate(value)


def _find_dots(runs: Sequence[tuple[float, RunOfCheck]], metric: str) -> Iterator[_Dot]:
    for at_s, run in runs:
        figure = run.figures.get(metric)
        if figure is None:
            continue
        bound = figure.at_least if figure.at_least is not None else figure.below
        value = figure.value if figure.value is not None else bound
        if value is not None:
            yield _Dot(at_s, value, figure)


def _scale_days(times_s: Sequence[float]) -> Scale:
    """Return an axis of days, in UTC, with room beside the first and the last time."""
    first, last = min(times_s), max(times_s)
    room = 0.02 * max(last - first, DAY_S)
    low, high = first - room, last + room
    days = range(math.ceil(low / DAY_S), math.floor(high / DAY_S) + 1)
    every = math.ceil(len(days) / DAYS_LABELED_MOST) or 1
    labeled = [float(day * DAY_S) for day in days[::every]] or [first]
    ticks = [(at_s, f"{datetime.fromtimestamp(at_s, UTC):%m-%d}") for at_s in labeled]
    return Scale(low, high, "scheduled, UTC", ticks=ticks)


def _scale_metric(metric: str, high: float) -> Scale:
    high = high or 1.0
    title = metric if metric.startswith("latency") else f"{metric}, ops/s"
    ticks = [(value, format_metric(metric, value)) for value in round_ticks(high, 5)]
    return Scale(0, high, title, ticks=ticks)


def _mark_series(metric: str, name: str, dots: Sequence[_Dot], *, hollow: bool) -> list[Mark]:
    color = COLORS[name]
    known = [(dot.at_s, dot.value) for dot in dots if dot.figure.value is not None]
    spans = [
        [(dot.at_s, dot.figure.low), (dot.at_s, dot.figure.high)]
        for dot in dots
        if dot.figure.low is not None and dot.figure.high is not None
    ]
    points = [
        Point(
            dot.at_s,
            dot.value,
            color,
            dot.shape,
            radius_px=4,
            hollow=hollow,
            tip=[("run", name), (metric, _format_figure(metric, dot))],
        )
        for dot in dots
    ]
    return [Line([known], color, opacity=0.75), Line(spans, color, width_px=1.5), *points]


def _format_figure(metric: str, dot: _Dot) -> str:
    text = format_metric(metric, dot.value)
    return text if dot.shape == "circle" else f"{'≥' if dot.shape == 'triangle' else '<'} {text}"


def _mark_change(change: Change, x: Scale) -> list[Mark]:
    """Mark a change, with the means before and after it."""
    at_s, reach_s = change.at.timestamp(), MEAN_SHARE * (x.high - x.low)
    color = "var(--fail)" if change.regression else "var(--pass)"
    late = x.at(at_s) > 0.5  # the text stands on the side with room
    sign = "+" if change.change_share > 0 else "\N{MINUS SIGN}"
    word = "regression" if change.regression else "change"
    return [
        Rule(color, x=at_s),
        Line(
            [[(at_s - reach_s, change.before.mean), (at_s, change.before.mean)]], color, dash="2 3"
        ),
        Line([[(at_s, change.after.mean), (at_s + reach_s, change.after.mean)]], color, dash="2 3"),
        Label(
            f"{word} {sign}{words.format_percent(abs(change.change_share))}",
            x=at_s,
            shift_px=(-5 if late else 5, 11),
            anchor="end" if late else "start",
        ),
    ]
