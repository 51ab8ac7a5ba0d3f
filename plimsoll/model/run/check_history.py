"""What a check has found so far: its runs, their figures, and what changed."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.run.run_record import RunState


class Figure(Model):
    """What one run says of one metric."""

    value: float | None  # None: the run gave no such figure, which is a gap and no zero
    at_least: float | None = None  # without a value: no load of the run was too much
    below: float | None = None  # without a value: its lightest load was too much
    low: float | None = None  # of its 95 % interval
    high: float | None = None
    bracket: tuple[float | None, float | None] | None = None  # loads: (passes, fails]
    why_none: str | None = None


class RunOfCheck(Model):
    """One run of a point: on the target, or on the control."""

    run_id: str | None  # None: it could not be started
    comparable: str  # SHA-256 of what must be equal for two runs to be compared
    state: RunState | None = None  # None: it has not ended
    verdict: str | None = None
    problem: str | None = None  # why there is no run, or no result
    figures: dict[str, Figure] = Field(default_factory=dict)  # by metric

    @property
    def settled(self) -> bool:
        """Whether nothing more will come of it."""
        return self.state is not None or self.run_id is None


class HistoryPoint(Model):
    """One firing of a check."""

    scheduled_at: datetime
    target: RunOfCheck
    control: RunOfCheck | None = None

    @property
    def settled(self) -> bool:
        """Whether its runs have ended."""
        return self.target.settled and (self.control is None or self.control.settled)


class Segment(Model):
    """Runs between two changes; those without a figure are not among them."""

    runs: int
    mean: float  # outliers held at their bound
    standard_deviation: float | None  # of the sample, outliers held; None for a single run
    bound: Bound = "="  # ">=" or "<": bounds are among the runs, each counted as its limit


class Change(Model):
    """A change point: from one run on, the figures are others."""

    metric: str
    unit: str
    at: datetime  # the scheduled time of the first run after it
    run_id: str | None  # ... that run
    before: Segment
    after: Segment
    change_share: float  # after / before - 1
    p_value: float  # of the test that decided; the place was sought, so it flatters
    regression: bool  # the worse way

    @property
    def at_least(self) -> bool:
        """Whether the figures have changed further than is shown, for what is shown is a bound."""
        fell = self.change_share < 0
        return (self.before.bound, self.after.bound) != ("=", "=") and (
            self.before.bound in ({"=", ">="} if fell else {"=", "<"})
            and self.after.bound in ({"=", "<"} if fell else {"=", ">="})
        )


class Cause(Model):
    """Whether the control moved too."""

    kind: Literal["database", "cloud", "partly cloud", "unknown"]
    words: str
    before: Segment | None = None  # of the control, at the same runs
    after: Segment | None = None
    change_share: float | None = None
    p_value: float | None = None


class Announced(Model):
    """A regression of which a message was sent."""

    metric: str
    at: datetime  # the change
    through: datetime  # the last run that was known then: a change up to it has been announced


class Silence(Model):
    """A metric of which the latest runs of a check say nothing."""

    metric: str
    since: datetime  # the scheduled time of the first of these runs
    runs: int
    why: str  # of the latest


class Judgement(Model):
    """What a check's history said when it was last judged."""

    changes: tuple[Change, ...] = ()
    announced: tuple[Announced, ...] = ()  # the regressions of which a message was sent
    silences: tuple[Silence, ...] = ()  # of which a message was sent, and that last


class History(Judgement):
    """What a check has found so far."""

    points: tuple[HistoryPoint, ...]  # the latest, oldest first
