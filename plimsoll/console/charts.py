"""The charts of the page in the browser, drawn by the process that serves the page. Pure.

The page sends what it knows of a run, in the documents of the API, and shows what comes back. So
each chart is drawn by the code of the report, whatever service the page shows.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import Field, ValidationError

from plimsoll.errors import NotFoundError, UsageError
from plimsoll.model.base import AnyModel, Model
from plimsoll.model.judging.capacity import Axis, Bound
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.run.check_history import History
from plimsoll.model.service.live import (
    LiveLoad,
    LiveSecond,
    ResourceSeries,
    SecondSeries,
    VolumeCaps,
)
from plimsoll.model.validation import describe_first_error
from plimsoll.report.charts import rows
from plimsoll.report.charts.chart import Chart, Rows
from plimsoll.report.charts.curve import draw_curve
from plimsoll.report.charts.history import draw_history
from plimsoll.report.charts.html import draw_chart, format_moment_data
from plimsoll.report.charts.overlay import draw_curves
from plimsoll.report.charts.panels import Panels
from plimsoll.report.charts.scale import choose_labels
from plimsoll.report.charts.target_panels import add_target_panels
from plimsoll.report.charts.timeline import add_operation_panels, add_phases


class KnownInterval(Model):
    """The ends of a figure's 95 % interval."""

    low_ops_per_second: float
    high_ops_per_second: float


class KnownCurve(Model):
    """One run's judged loads, as far as the page knows them."""

    statistic: Statistic
    axis: Axis
    loads: tuple[LiveLoad, ...]
    bracket: tuple[float | None, float | None] | None = None
    figure: float | None = None
    bound: Bound | None = None
    interval: KnownInterval | None = None


class NamedCurve(KnownCurve):
    """One of several curves."""

    name: str


class KnownCurves(Model):
    """Curves of several runs, of one operation."""

    operation: str
    runs: tuple[NamedCurve, ...]


class KnownStep(Model):
    """A step's number and window; null if it has none."""

    step: int
    clients: int | None = None
    window_start_epoch_ms: int | None
    window_end_epoch_ms: int | None


class KnownRun(Model):
    """When a run began and ended."""

    submitted_at: datetime
    ended_at: datetime | None


class KnownTimeline(Model):
    """A run over time, as far as the page knows it."""

    at: datetime
    every_s: int
    run: KnownRun
    plan: KnownStep | None = None
    steps: tuple[KnownStep, ...]
    seconds: SecondSeries
    resources: ResourceSeries
    caps: VolumeCaps | None = None
    fresh: tuple[LiveSecond, ...] = Field(
        (), description="Seconds of the step in progress, which are provisional."
    )


class KnownHistory(Model):
    """A check's history, of one metric."""

    metric: str
    history: History


def draw(kind: str, known: bytes) -> bytes:
    """Draw a chart of what the page knows, as JSON: its HTML, and its series for each moment.

    Raises:
        NotFoundError: There is no such kind of chart.
        UsageError: The document is not what the chart is drawn from.
    """
    match kind:
        case "curve":
            chart = draw_curve(_collect_curve(_read(KnownCurve, known)))
        case "curves":
            chart = _draw_curves(_read(KnownCurves, known))
        case "timeline":
            chart = draw_known_timeline(_read(KnownTimeline, known))
        case "history":
            asked = _read(KnownHistory, known)
            chart = draw_history(asked.history, asked.metric)
        case _:
            raise NotFoundError(f"there is no chart {kind!r}")
    drawn = [] if chart is None else [chart]
    html = "".join(map(draw_chart, drawn))
    return json.dumps({"html": html, "moments": format_moment_data(drawn)}, default=tuple).encode()


def _read(kind: type[AnyModel], known: bytes) -> AnyModel:
    """Read a document; fields that a newer service adds are left out."""
    try:
        return kind.model_validate_json(known, extra="ignore")
    except ValidationError as error:
        raise UsageError(describe_first_error(error, whole="the document")) from None


# Latency over throughput.


def _collect_curve(known: KnownCurve) -> rows.Curve:
    loads = [
        rows.Load(_load_row(load, known.axis), load.latency_us, load.limit_us)
        for load in known.loads
    ]
    points = rows.build_curve_rows(loads, known.bracket)
    limits = {name: us for load in known.loads for name, us in load.limit_us.items()}
    measured = {row["operation"] for row in points}
    ends = None
    if (interval := known.interval) is not None:
        ends = interval.low_ops_per_second, interval.high_ops_per_second
    return rows.Curve(
        statistic=known.statistic,
        axis=known.axis,
        points=points,
        repetitions=(),
        limits=[
            {"operation": name, "limit_us": us} for name, us in limits.items() if name in measured
        ],
        answer=None if known.figure is None else rows.AnswerLine(known.figure, known.bound, ends),
    )


def _load_row(load: LiveLoad, axis: Axis) -> rows.Row:
    return {
        "load": load.load,
        "clients": load.load if axis == "clients" else None,
        "connections": load.load if axis == "connections" else None,
        "throughput": load.throughput_ops_per_second,
        "repetitions": load.repetitions,
        "outcome": load.outcome,
        "why": "; ".join(load.explanations) or "within every limit",
    }


def _draw_curves(known: KnownCurves) -> Chart | None:
    curves = {one.name: _collect_curve(one) for one in known.runs}
    return draw_curves(curves, known.operation)


# A run over time.


def draw_known_timeline(known: KnownTimeline) -> Chart | None:
    """Draw a run over time, to now or to its end; None if nothing was measured yet."""
    begin_s = known.run.submitted_at.timestamp()
    length_s = max(1.0, (known.run.ended_at or known.at).timestamp() - begin_s)
    finished = _build_finished_rows(known.seconds, known.every_s, begin_s)
    series = [*finished, *_build_fresh_rows(known.fresh, begin_s)]
    if not series and not known.resources.epoch_s:
        return None
    panels = Panels(length_s, known.every_s, _build_step_rows(known, begin_s, length_s))
    add_phases(panels, [])
    add_operation_panels(panels, series, sorted({row["operation"] for row in series}))
    add_target_panels(
        panels,
        lambda fields: list(_build_target_rows(known.resources, fields, begin_s)),
        1.5 * known.resources.every_s,
        known.caps,
    )
    return panels.make_chart("timeline")


def _build_step_rows(known: KnownTimeline, begin_s: float, length_s: float) -> Rows:
    """Build a row for each measured window, that of the step in progress among them."""
    steps = {step.step: step for step in known.steps}
    if known.plan is not None:
        steps.setdefault(known.plan.step, known.plan)
    shown = choose_labels(len(steps))
    found = []
    for place, step in enumerate(steps.values()):
        if step.window_start_epoch_ms is None or step.window_end_epoch_ms is None:
            continue
        window = step.window_start_epoch_ms / 1000 - begin_s
        if window < length_s:
            found.append(
                {
                    "step": step.step,
                    "label": str(step.step) if place in shown else None,
                    "clients": step.clients,
                    "t": window,
                    "window": window,
                    "t2": min(length_s, step.window_end_epoch_ms / 1000 - begin_s),
                }
            )
    return found


def _build_finished_rows(
    seconds: SecondSeries, every_s: int, begin_s: float
) -> Iterator[dict[str, Any]]:
    for place, (epoch_s, step) in enumerate(zip(seconds.epoch_s, seconds.step, strict=True)):
        for name, series in seconds.operations.items():
            if series.ops_per_second[place] is None:
                continue
            yield {
                **_place_bin(epoch_s - begin_s, every_s),
                "step": step,
                "operation": name,
                "rate": series.ops_per_second[place],
                "errors": series.errors_per_second[place],
                "p50_us": series.p50_us[place],
                "p99_us": series.p99_us[place],
                "max_us": series.max_us[place],
            }


def _build_fresh_rows(fresh: Sequence[LiveSecond], begin_s: float) -> Iterator[dict[str, Any]]:
    for second in fresh:
        if second.clients_told < second.clients:
            continue  # the sum of some clients is not the step's throughput
        for name, done in second.operations.items():
            yield {
                **_place_bin(second.epoch_s - begin_s, 1),
                "step": second.step,
                "operation": name,
                "rate": done.succeeded,
                "errors": done.errors,
                "p50_us": None,
                "p99_us": done.p99_us,
                "max_us": None,
                "provisional": True,
            }


def _place_bin(t: float, width_s: int) -> dict[str, float]:
    return {"t": round(t, 3), "t2": t + width_s, "middle": t + width_s / 2}


def _build_target_rows(
    resources: ResourceSeries, fields: Mapping[str, str], begin_s: float
) -> Iterator[dict[str, Any]]:
    for field, title in fields.items():
        for epoch_s, value in zip(resources.epoch_s, getattr(resources, field), strict=True):
            if value is not None:
                yield {"t": round(epoch_s - begin_s, 3), "series": title, "value": value}
