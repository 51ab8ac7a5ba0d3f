"""An experiment's record, and what it comes to: `experiment.json`. docs/experiments.md."""

from datetime import datetime
from typing import Literal

from plimsoll.model.base import Model
from plimsoll.model.capacity import Bound
from plimsoll.model.experiment import Experiment
from plimsoll.model.factorial import Factorial
from plimsoll.model.phase_result import PhaseResult
from plimsoll.model.run_record import RunState


class ExperimentFailure(Model):
    """Why an experiment did not come to its end: the error's name, and one sentence."""

    error: str
    cause: str


class ExperimentRecord(Model):
    """One item of the service table, `team#TEAM` / `experiment#ID`. Times are UTC."""

    experiment_id: str
    name: str
    team: str
    state: RunState  # SUCCEEDED: every cell has ended and the decision is drawn
    local: bool = False  # on one machine, not on AWS
    experiment_sha256: str  # of what was asked
    cells: int
    seed: int  # of the order
    submitted_at: datetime
    forget_at_epoch_s: int | None = None  # the table's time to live; None: never
    started_at: datetime | None = None
    ended_at: datetime | None = None
    failure: ExperimentFailure | None = None
    concluded: bool = False  # its result is written; never of one that was stopped unstarted


class CellStatus(Model):
    """Where one cell stands."""

    index: int
    name: str
    variants: dict[str, str]  # {axis: variant}
    run_id: str
    state: RunState | None  # None: its turn has not come, or it was refused
    phase: str | None
    verdict: str | None
    capacity_ops_per_second: str | None  # a decimal, as in the run's record
    unreadable: bool = False  # this version of the service cannot read its record


class ExperimentStatus(Model):
    """An experiment at one moment: its record and its cells, in the order of the axes."""

    record: ExperimentRecord
    cells: tuple[CellStatus, ...]

    @property
    def ended(self) -> int:
        """How many cells have ended."""
        return sum(cell.state is not None and cell.state.ended for cell in self.cells)

    @property
    def running(self) -> tuple[CellStatus, ...]:
        """The cells under way."""
        return tuple(c for c in self.cells if c.state is not None and not c.state.ended)


class CellOutcome(Model):
    """What one cell came to."""

    name: str
    variants: dict[str, str]
    run_id: str
    state: RunState | None  # None: it was never started
    verdict: str | None
    figure_ops_per_second: float | None  # with its bound; None: no answer
    bound: Bound | None
    load: str | None  # at which
    limited_by: str | None
    errors: dict[str, int]  # failed operations of all its steps, by code
    usd_per_million: float | None  # operations at that figure
    no_answer: str | None  # why there is no figure; None: there is one
    phases: tuple[PhaseResult, ...] = ()  # of its run, before the search


class Gain(Model):
    """What a step up in IOPS brought: the figure of a target over that of the one below it."""

    question: str  # the variants that both share
    lower: str
    higher: str
    lower_iops: float
    higher_iops: float | None  # None: no limit
    outcome: Literal["gain", "no gain", "loss", "not decided"]
    ratio: float | None
    low: float | None  # of the ratio's 95 % interval
    high: float | None
    sentence: str


class Decision(Model):
    """For one question, over all targets: what gives the most, and what the most per dollar."""

    question: str
    best: str | None  # the target with the highest figure; None: none has one
    like: tuple[str, ...]  # targets from which no difference to it can be shown
    cheapest: str | None  # the most operations per dollar; None: not every cost is known
    sentence: str


class ExperimentResult(Model):
    """A finished experiment: `experiment.json`."""

    schema_version: Literal[1] = 1
    experiment_id: str
    name: str
    team: str
    local: bool
    state: RunState
    failure: ExperimentFailure | None
    seed: int
    order: tuple[str, ...]  # the cells' names as they were started
    submitted: datetime
    started: datetime | None
    ended: datetime
    targets: tuple[str, ...]  # combinations of the axes that change the target
    questions: tuple[str, ...]  # ... and of the others
    cells: tuple[CellOutcome, ...]
    decisions: tuple[Decision, ...]
    gains: tuple[Gain, ...]
    factorials: tuple[Factorial, ...] = ()  # of axes with two variants each
    warnings: tuple[str, ...]
    experiment: Experiment


class ExperimentSubmitted(Model):
    """An experiment that was accepted."""

    experiment_id: str
    name: str
    team: str


class ExperimentDetail(ExperimentStatus):
    """An experiment as the API shows it."""

    result: ExperimentResult | None  # None: it has not ended
