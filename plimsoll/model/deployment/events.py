"""What Plimsoll tells of itself: events on its bus. docs/events.md explains them.

`docs/events/*.json` are the JSON schemas of these models, written by `tools/event_schemas.py`.
"""

from datetime import datetime
from typing import ClassVar, Literal

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Verdict
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.run.check_history import Cause, Change, Silence
from plimsoll.model.run.run_record import Failure, RunState

SOURCE = "plimsoll"


class Event(Model):
    """The detail of an event on the bus."""

    detail_type: ClassVar[str]

    schema_version: Literal[1] = 1


class RunStarted(Event):
    """A run's workflow has begun."""

    detail_type: ClassVar[str] = "Run Started"

    run_id: str
    name: str
    team: str
    local: bool  # on one machine, not on AWS
    started_at: datetime
    expires_at: datetime | None  # when its target is deleted, whatever happens


class StepJudged(Event):
    """A step has been measured, and judged beside the steps before it."""

    detail_type: ClassVar[str] = "Step Judged"

    run_id: str
    name: str
    team: str
    step: int  # its number in the run
    clients: int
    connections: int
    rate_ops_per_second: float | None  # offered; null: closed loop
    throughput_ops_per_second: float | None  # of successful operations; null: none was measured
    errors: int | None  # failed operations in the window
    latency_us: dict[str, dict[Statistic, float]]  # {operation: {statistic: microseconds}}
    passed: bool | None  # null: it cannot be told, or an audit disputes it
    reasons: tuple[str, ...]  # why not, worst first
    problems: tuple[str, ...]  # what a reader has to know of it


class RunEnded(Event):
    """A run has ended, its target seen to be gone or told to be left behind."""

    detail_type: ClassVar[str] = "Run Ended"

    run_id: str
    name: str
    team: str
    local: bool
    state: RunState
    failure: Failure | None
    verdict: Verdict | None  # null: it did not get as far
    capacity_ops_per_second: float | None  # null: the verdict has no figure
    bound: Bound | None  # what the figure is: "=" the capacity, ">=" or "<" a bound of it
    summary: str | None  # the verdict in one sentence
    ended_at: datetime
    results: str  # s3:// address of its files; result.json and report.html are among them


class TargetLeaked(Event):
    """The janitor found a target past its run's time limit, and asked for its deletion."""

    detail_type: ClassVar[str] = "Target Leaked"

    run_id: str
    stack_name: str
    expired_at: datetime
    found_at: datetime


class RegressionFound(Event):
    """A check's history has changed for the worse: told once."""

    detail_type: ClassVar[str] = "Regression"

    team: str
    check: str
    change: Change
    cause: Cause
    results: str | None  # s3:// address of the first run after the change
    text: str  # the message to people


class CheckSilent(Event):
    """The latest runs of a check say nothing of a metric: told once."""

    detail_type: ClassVar[str] = "Check Silent"

    team: str
    check: str
    silences: tuple[Silence, ...]
    text: str  # the message to people


class CheckAnswered(Event):
    """A check that was told to be silent has a figure again: told once."""

    detail_type: ClassVar[str] = "Check Answered"

    team: str
    check: str
    silences: tuple[Silence, ...]  # that have ended, as they were when last judged
    text: str  # the message to people


EVENTS: tuple[type[Event], ...] = (
    RunStarted,
    StepJudged,
    RunEnded,
    TargetLeaked,
    RegressionFound,
    CheckSilent,
    CheckAnswered,
)
