"""A run's phases and steps on its clock, as rows."""

from datetime import UTC, datetime

from plimsoll.model.results import RunResult
from plimsoll.report import ticks
from plimsoll.report.clock import Clock, Row


def phase_rows(clock: Clock, result: RunResult) -> list[Row]:
    """The phases before and after the steps, as far as they came."""
    moments = result.moments
    starts = [done.plan.start_at_epoch_ms / 1000 for done in result.steps]
    warmed = datetime.fromtimestamp(min(starts), UTC) if starts else moments.teardown
    edges = [
        ("provision", moments.provision, moments.target_ready or moments.teardown),
        ("prepare", moments.prepare, moments.step or moments.teardown),
        ("warming", moments.step if result.request.prepare.warm_s else None, warmed),
        ("teardown", moments.teardown, moments.deleted or moments.ended),
    ]
    return [
        {"phase": name, "t": clock.at(a.timestamp()), "t2": clock.at(b.timestamp())}
        for name, a, b in edges
        if a is not None and b is not None
    ]


def step_rows(clock: Clock, result: RunResult) -> list[Row]:
    """The steps' loads: warm-up and window."""
    rows = []
    shown = ticks.named(len(result.steps))
    for place, done in enumerate(result.steps):
        start = done.plan.start_at_epoch_ms / 1000
        window = (done.window_start_epoch_ms or done.plan.window_start_epoch_ms) / 1000
        end = (done.window_end_epoch_ms or done.plan.window_end_epoch_ms) / 1000
        rows.append(
            {
                "step": done.plan.index,
                "label": str(done.plan.index) if place in shown else None,
                "clients": done.plan.clients,
                "t": clock.at(start),
                "window": clock.at(window),
                "t2": clock.at(end),
            }
        )
    return rows
