"""Histories as tests write them: a list of figures, one a day; None is a run without a figure."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from plimsoll.model.check import Check, Figure, HistoryPoint, RunOfCheck
from plimsoll.model.run_record import RunState
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


def check(**changes: Any) -> Check:
    return Check.model_validate(CHECK | changes)


def day(number: int) -> datetime:
    """The scheduled time of a run, by its index in the list."""
    return FIRST + timedelta(days=number)


def history(
    figures: Sequence[float | None] | Mapping[str, Sequence[float | None]],
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


def _run(run_id: str, values: Mapping[str, float | None], comparable: str = "same") -> RunOfCheck:
    figures = {
        name: Figure(value=value, why_none=None if value is not None else "LOWER_BOUND")
        for name, value in values.items()
    }
    return RunOfCheck(
        run_id=run_id,
        comparable=comparable,
        state=RunState.SUCCEEDED,
        verdict="KNEE",
        figures=figures,
    )
