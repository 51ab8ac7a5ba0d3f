"""Histories as tests write them: a list of figures, one a day; None is a run without a figure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.model.request.check import Check
from plimsoll.model.run.check_history import Figure, HistoryPoint, RunOfCheck
from plimsoll.model.run.run_record import RunState
from tests.support.requested import REQUESTED

FIRST = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
REQUEST: dict[str, Any] = {
    **REQUESTED,
    "name": "nightly",
    "search": {
        "strategy": "rate",
        "rate_first_ops_per_second": 500,
        "rate_max_ops_per_second": 4000,
    },
}
CHECK: dict[str, Any] = {"name": "nightly", "schedule": "rate(1 day)", "request": REQUEST}
CAPACITY = "capacity"
FigureGiven = Figure | float | None


def check(**changes: Any) -> Check:
    return Check.model_validate(CHECK | changes)


def day(number: int) -> datetime:
    """The scheduled time of a run, by its index in the list."""
    return FIRST + timedelta(days=number)


def history(
    figures: Sequence[FigureGiven] | Mapping[str, Sequence[FigureGiven]],
    control: Sequence[float | None] | None = None,
    *,
    comparable: str = "same",
) -> list[HistoryPoint]:
    by_metric = figures if isinstance(figures, Mapping) else {CAPACITY: figures}
    length = len(next(iter(by_metric.values())))
    return [
        HistoryPoint(
            scheduled_at=day(index),
            target=_run(
                f"run-{index}",
                {name: values[index] for name, values in by_metric.items()},
                comparable,
            ),
            control=(
                _run(f"control-{index}", {CAPACITY: control[index]}, comparable)
                if control
                else None
            ),
        )
        for index in range(length)
    ]


def below(limit: float) -> Figure:
    """Of a run whose lightest load, of so many ops/s, was too much."""
    return Figure(value=None, below=limit, why_none="BELOW_FIRST_STEP: nothing passed")


def at_least(limit: float) -> Figure:
    """Of a run whose heaviest load, of so many ops/s, was not too much."""
    return Figure(value=None, at_least=limit, why_none="LOWER_BOUND: nothing failed")


def _run(run_id: str, values: Mapping[str, FigureGiven], comparable: str = "same") -> RunOfCheck:
    return RunOfCheck(
        run_id=run_id,
        comparable=comparable,
        state=RunState.SUCCEEDED,
        verdict="KNEE",
        figures={name: _figure(value) for name, value in values.items()},
    )


def _figure(given: FigureGiven) -> Figure:
    if isinstance(given, Figure):
        return given
    return Figure(value=given, why_none="NOISY: it varied" if given is None else None)
