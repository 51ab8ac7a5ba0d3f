"""The history of a check: its runs, their figures, and the changes found in them."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.run.run_record import RunState


class Figure(Model):
    """The value of one metric in one run."""

    value: float | None  # None if the run gave no value; that is a gap, not zero
    # If there is no value because every load passed: the largest load
    at_least: float | None = None
    # If there is no value because even the lightest load failed: that load
    below: float | None = None
    low: float | None = None  # lower end of the 95 % interval
    high: float | None = None
    # (highest load that passed, lowest that failed]
    bracket: tuple[float | None, float | None] | None = None
    why_none: str | None = None  # why there is no value


class RunOfCheck(Model):
    """One run of a history point: on the target, or on the control."""

    run_id: str | None  # None if it could not be started
    comparable: str  # SHA-256 of everything that two runs must share to be comparable
    state: RunState | None = None  # None if it has not ended
    verdict: str | None = None
    problem: str | None = None  # why there is no run, or no result
    figures: dict[str, Figure] = Field(default_factory=dict)  # {metric: figure}

    @property
    def settled(self) -> bool:
        """Whether the run has ended, or never started."""
        return self.state is not None or self.run_id is None


class HistoryPoint(Model):
    """One scheduled execution of a check."""

    scheduled_at: datetime
    target: RunOfCheck
    control: RunOfCheck | None = None

    @property
    def settled(self) -> bool:
        """Whether its runs have ended."""
        return self.target.settled and (self.control is None or self.control.settled)


class Segment(Model):
    """The runs between two changes, without those that have no figure."""

    runs: int
    mean: float  # outliers are clipped to a bound
    standard_deviation: float | None  # over the runs, with clipped outliers; None for a single run
    bound: Bound = "="  # ">=" or "<" if some runs have only a bound, which counts as their figure


class Change(Model):
    """A change point: from one run on, the figures differ from those before."""

    metric: str
    unit: str
    at: datetime  # scheduled time of the first run after the change
    run_id: str | None  # that run
    before: Segment
    after: Segment
    change_share: float  # after / before - 1
    # p-value of the deciding test; too small, since the change point was chosen from the data
    p_value: float
    regression: bool  # whether it changed for the worse

    @property
    def at_least(self) -> bool:
        """Whether the true change is larger than shown, because a figure is only a bound."""
        fell = self.change_share < 0
        return (self.before.bound, self.after.bound) != ("=", "=") and (
            self.before.bound in ({"=", ">="} if fell else {"=", "<"})
            and self.after.bound in ({"=", "<"} if fell else {"=", ">="})
        )


class Cause(Model):
    """What caused a change: whether the control run changed too."""

    kind: Literal["database", "cloud", "partly cloud", "unknown"]
    words: str
    before: Segment | None = None  # control runs of the same points
    after: Segment | None = None
    change_share: float | None = None
    p_value: float | None = None


class Announced(Model):
    """A regression that was announced in a message."""

    metric: str
    at: datetime  # time of the change
    through: datetime  # last run known at that time; a change up to it has been announced


class Silence(Model):
    """A metric for which the latest runs of a check have no figure."""

    metric: str
    since: datetime  # scheduled time of the first of these runs
    runs: int
    why: str  # reason in the latest run


class Judgement(Model):
    """The result of the latest judgement of a check's history."""

    changes: tuple[Change, ...] = ()
    announced: tuple[Announced, ...] = ()  # regressions that were announced
    silences: tuple[Silence, ...] = ()  # missing metrics that were announced and are still missing


class History(Judgement):
    """A check's runs and the latest judgement on them."""

    points: tuple[HistoryPoint, ...]  # the latest, oldest first
