"""Differences between a canary's run and the same run on this machine's twin."""

from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.errors import PlimsollError
from plimsoll.local.home import make_twin_home
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.base import Model
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.report.folder import RESULT, read_model
from plimsoll.report.words import name_limit
from plimsoll.requests.checked_request import CheckedRequest
from plimsoll.trial.place import Teller


class Row(Model):
    """A field in which the runs differ, with both values."""

    field: str
    here: str
    there: str


def list_differences(here: RunResult, there: RunResult) -> tuple[Row, ...]:
    """Return the fields in which two runs of one request differ, formatted for people."""
    ours, theirs = dict(_list_fields(here)), dict(_list_fields(there))
    rows = (
        Row(
            field=field, here=ours.get(field, words.NOTHING), there=theirs.get(field, words.NOTHING)
        )
        for field in dict.fromkeys([*ours, *theirs])
    )
    return tuple(row for row in rows if row.here != row.there)


def _list_fields(result: RunResult) -> Iterator[tuple[str, str]]:
    yield "state", result.state
    for field, write in _ANSWER.items():
        yield field, write(result)
    for phase, begin, end in _PHASES:
        seconds = _count_seconds_between(
            getattr(result.moments, begin), getattr(result.moments, end)
        )
        yield f"time of {phase}", words.format_duration(seconds)
    first: dict[int, StepResult] = {}
    for step in result.steps:  # if a load was measured again, its first step
        first.setdefault(step.plan.clients, step)
    for count, step in first.items():
        load = words.format_count(count, "client")
        for field, write_step in _STEP.items():
            yield f"{load}: {field}", write_step(step)
        for operation, latency in sorted(step.step.latency_us.items()):
            statistic = result.request.limits.statistic
            yield f"{load}: {operation} {statistic}", words.format_latency(latency.get(statistic))
    yield "notes told", words.format_number(len(result.notes))


def _show_capacity(result: RunResult) -> str:
    capacity = result.capacity
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if capacity is None or figure is None:
        return words.NOTHING
    return words.prepend_bound(words.format_throughput(figure), capacity.bound)


def _show_load(result: RunResult) -> str:
    capacity = result.capacity
    return words.format_load(capacity.at, capacity.axis) if capacity else words.NOTHING


_ANSWER: dict[str, Callable[[RunResult], str]] = {
    "verdict": lambda result: result.capacity.verdict if result.capacity else words.NOTHING,
    "capacity": _show_capacity,
    "at": _show_load,
    "limited by": lambda result: name_limit(result.limiting),
    "server": lambda result: result.versions.server or words.NOTHING,
    "load engine": lambda result: result.versions.engine or words.NOTHING,
    "rows": lambda result: words.format_number(result.rows),
    "steps": lambda result: words.format_number(len(result.steps)),
}
_PHASES = (
    ("making the target", "provision", "target_ready"),
    ("loading and warming", "prepare", "step"),
    ("all steps", "step", "conclude"),
    ("deleting the target", "teardown", "deleted"),
)


def _show_iops(step: StepResult) -> str:
    return words.format_rate(None if step.target is None else step.target.iops)


def _show_cpu(step: StepResult) -> str:
    percent = step.target.cpu_percent if step.target else None
    return words.format_percent(None if percent is None else percent / 100)


_STEP: dict[str, Callable[[StepResult], str]] = {
    "throughput": lambda step: words.format_throughput(step.step.throughput_ops_per_second),
    "IOPS": _show_iops,
    "I/Os waiting": lambda step: words.format_rate(step.target.queue if step.target else None),
    "CPU": _show_cpu,
    "points of metrics": lambda step: words.format_number(
        step.target.points if step.target else None
    ),
    "errors": lambda step: words.format_number(step.step.errors),
    "clients late": lambda step: words.format_number(len(step.fleet.late)),
    "start spread": lambda step: words.format_duration(_to_seconds(step.fleet.start_spread_ms)),
    "cold starts": lambda step: words.format_number(step.fleet.cold_starts),
    "client CPU an operation": lambda step: words.format_latency(step.fleet.cpu_us_per_operation),
    "problems told": lambda step: words.format_number(len(step.problems)),
}


def _to_seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000


def _count_seconds_between(begin: datetime | None, end: datetime | None) -> float | None:
    return None if begin is None or end is None else (end - begin).total_seconds()


# The twin's run of the canary's request.


def run_on_twin(checked: CheckedRequest, folder: Path, teller: Teller) -> RunResult:
    """Run a request on one machine, as `plimsoll run --local` does, and save its files.

    Raises:
        PlimsollError: The run failed. Then deploying to AWS would be pointless.
    """
    try:
        with make_twin_home([checked]) as home, LocalTwin(home) as twin:
            run = LocalRun(twin, checked)
            run.wait(teller.show)
            run.save(folder)
    finally:
        clients.use_factory(None)
    result = read_model(folder / RESULT, RunResult)
    if result.capacity is None:
        why = result.failure.cause if result.failure else result.state
        raise PlimsollError(f"the run fails on this machine already: {why}")
    return result
