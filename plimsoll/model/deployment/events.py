"""Events that Plimsoll puts on its event bus. See docs/events.md.

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
    """The detail of an event."""

    detail_type: ClassVar[str]

    schema_version: Literal[1] = 1


class RunStarted(Event):
    """A run has started."""

    detail_type: ClassVar[str] = "Run Started"

    run_id: str
    name: str
    team: str
    local: bool  # on one machine, not on AWS
    started_at: datetime
    expires_at: datetime | None  # when its target is deleted regardless of the run's state


class StepJudged(Event):
    """A step has been measured, and judged together with the steps before it."""

    detail_type: ClassVar[str] = "Step Judged"

    run_id: str
    name: str
    team: str
    step: int  # number of the step in the run
    clients: int
    connections: int
    rate_ops_per_second: float | None  # offered load; null for a closed loop
    throughput_ops_per_second: float | None  # successful operations; null if none was measured
    errors: int | None  # failed operations in the window
    latency_us: dict[str, dict[Statistic, float]]  # {operation: {statistic: microseconds}}
    passed: bool | None  # null if undecided, or if an audit disputes the step
    reasons: tuple[str, ...]  # why it failed, worst first
    problems: tuple[str, ...]  # remarks for the reader


class RunEnded(Event):
    """A run has ended. Its target is deleted, or was left behind as the event reports."""

    detail_type: ClassVar[str] = "Run Ended"

    run_id: str
    name: str
    team: str
    local: bool
    state: RunState
    failure: Failure | None
    verdict: Verdict | None  # null if the run did not get that far
    capacity_ops_per_second: float | None  # null if the verdict has no figure
    bound: Bound | None  # "=" if the figure is the capacity, ">=" or "<" if it is a bound of it
    summary: str | None  # the verdict in one sentence
    ended_at: datetime
    results: str  # s3:// address of the run's files, including result.json and report.html


class TargetLeaked(Event):
    """The janitor found a target past the time limit of its run, and requested its deletion."""

    detail_type: ClassVar[str] = "Target Leaked"

    run_id: str
    stack_name: str
    expired_at: datetime
    found_at: datetime


class RegressionFound(Event):
    """A check found a regression. Sent once for each regression."""

    detail_type: ClassVar[str] = "Regression"

    team: str
    check: str
    change: Change
    cause: Cause
    results: str | None  # s3:// address of the first run after the change
    text: str  # the message for people


class CheckSilent(Event):
    """The latest runs of a check have no figure for a metric. Sent once."""

    detail_type: ClassVar[str] = "Check Silent"

    team: str
    check: str
    silences: tuple[Silence, ...]
    text: str  # the message for people


class CheckAnswered(Event):
    """A check whose missing metric was announced has a figure again. Sent once."""

    detail_type: ClassVar[str] = "Check Answered"

    team: str
    check: str
    silences: tuple[Silence, ...]  # those that have ended, as last judged
    text: str  # the message for people


EVENTS: tuple[type[Event], ...] = (
    RunStarted,
    StepJudged,
    RunEnded,
    TargetLeaked,
    RegressionFound,
    CheckSilent,
    CheckAnswered,
)
