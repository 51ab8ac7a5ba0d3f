"""An experiment's record, and what it comes to: `experiment.json`. docs/experiments.md."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from plimsoll.model.base import Model
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.request.boundary import Boundary
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.results import PhaseResult
from plimsoll.model.run.run_record import RunState

# What a 2 x 2 of two axes with two variants each comes to: a part of `experiment.json`.


class Effect(Model):
    """A ratio of throughputs with its 95 % interval."""

    ratio: float
    low: float | None = None  # None: too few repetitions
    high: float | None = None


class Factorial(Model):
    """What one axis gains where another has its first variant, and where it has its second.

    Each axis goes from the variant that is written first to the other. Effects are None where one
    of the four cells has no exact figure.
    """

    question: str  # the variants of all other axes, and the phase with its load; "all": none
    axis: str  # whose gain is asked for
    levels: tuple[str, str]  # its variants
    beside: str  # the axis on which the gain may depend
    beside_levels: tuple[str, str]
    # of the cells, those of the first of `beside` first; None: there are no effects
    repetitions: tuple[int, int, int, int] | None
    main: Effect | None  # of `axis`, over both variants of `beside`
    beside_main: Effect | None  # of `beside`, over both variants of `axis`
    interaction: Effect | None  # what `axis` gains on the second of `beside` over that on the first
    gain_on: tuple[Effect, Effect] | None  # of `axis`, on each variant of `beside`
    sentence: str


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
    datasets_deleted_at: datetime | None = None  # when no snapshot of it was left: the proof
    concluded: bool = False  # its result is written; never of one that was stopped unstarted


class Experiments(Model):
    """A team's experiments, the newest first."""

    experiments: tuple[ExperimentRecord, ...]
    unreadable: int = Field(
        0,
        description="Records that were left out, since this version of the service cannot read"
        " them; its logs name them.",
    )


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
    bound: Bound | None = None  # of that figure; None: there is none
    unreadable: bool = False  # this version of the service cannot read its record
    waits_for_pair: bool = False  # until the run with which it takes turns can measure


class DatasetOutcome(Model):
    """What has become of a dataset that is prepared once."""

    name: str
    run_id: str  # that prepares it
    runs: int  # that share it
    state: RunState | None  # of that run; None: it was not started
    phase: str | None
    rows: int | None  # counted
    layout: DatasetLayout | None  # None: it has not come to that
    snapshot: str | None  # as AWS names it
    deleted_at: datetime | None  # when its snapshot was seen to be gone: the proof


class ExperimentStatus(Model):
    """An experiment at one moment: its record and its cells, in the order of the axes."""

    record: ExperimentRecord
    cells: tuple[CellStatus, ...]
    datasets: tuple[DatasetOutcome, ...] = ()  # prepared once; none: each run loads its own

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
    toggle: str | None = None  # what its pairs show; None: it has no toggle, or no result
    no_answer: str | None  # why there is no figure; None: there is one
    usd_per_hour: float | None = None  # what the target costs, by its list price
    usd_unknown: str | None = None  # why there are no dollars; None: there are, or no result
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
    pairs: int | None = None  # of steps that took turns; None: groups of repetitions are compared


DecisionOutcome = Literal["chosen", "alike", "not told apart", "partial", "only one", "none"]


class Decision(Model):
    """For one question, over all targets: what gives the most, and what the most per dollar."""

    question: str
    best: str | None  # the highest figure; None: none has one, or one alone and others are unknown
    like: tuple[str, ...]  # targets that differ from it by nothing that is shown, or that matters
    cheapest: str | None  # the most operations per dollar of those whose cost is known
    sentence: str
    outcome: DecisionOutcome | None = None  # how sure it is; None: of an older result
    buy: str | None = None  # the best, or the cheapest of what is alike; None: it is not said
    second: str | None = None  # the next highest figure
    ratio: float | None = None  # of the best to it
    low: float | None = None  # of the ratio's 95 % interval
    high: float | None = None
    pairs: int | None = None  # of steps that took turns; None: groups of repetitions are compared
    cannot: tuple[str, ...] = ()  # targets that fail at the lightest load
    unknown: tuple[str, ...] = ()  # targets without an answer
    usd_per_million: float | None = None  # operations on what is to be bought
    usd_per_hour: float | None = None  # of what is to be bought


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
    datasets: tuple[DatasetOutcome, ...] = ()  # prepared once; none: each run loaded its own
    cells: tuple[CellOutcome, ...]
    decisions: tuple[Decision, ...]
    gains: tuple[Gain, ...]
    factorials: tuple[Factorial, ...] = ()  # of axes with two variants each
    warnings: tuple[str, ...]
    experiment: Experiment
    boundary: Boundary | None = None  # of a search for it; None: every cell was to be run
    answer: str = ""  # all decisions in one sentence; empty: an older result


class ExperimentSubmitted(Model):
    """An experiment that was accepted."""

    experiment_id: str
    name: str
    team: str


class ExperimentDetail(ExperimentStatus):
    """An experiment as the API shows it."""

    result: ExperimentResult | None  # None: it has not ended
