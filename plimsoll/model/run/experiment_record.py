"""The record and the result of an experiment: `experiment.json`. See docs/experiments.md."""

from datetime import datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from plimsoll.model.base import Model
from plimsoll.model.datasets import DatasetLayout
from plimsoll.model.judging.capacity import Bound, Verdict
from plimsoll.model.request.boundary import Boundary
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.run.results import PhaseResult
from plimsoll.model.run.run_record import RunState

# --- a 2 x 2 factorial of two axes with two variants each ---


class Effect(Model):
    """A ratio of throughputs with its 95 % interval."""

    ratio: float
    low: float | None = None  # None if there are too few repetitions
    high: float | None = None


class Factorial(Model):
    """The gain of one axis on each of the two variants of another axis.

    The gain is that of the axis's second variant over its first, as they are written. Effects are
    None if one of the four cells has no exact figure.
    """

    # Variants of all other axes, and the phase with its load; "all" if there are none
    question: str
    axis: str  # axis whose gain is computed
    levels: tuple[str, str]  # the axis's variants
    beside: str  # other axis, on which the gain may depend
    beside_levels: tuple[str, str]
    # Repetitions of each of the four cells, first those with the first variant of `beside`; None
    # if there are no effects
    repetitions: tuple[int, int, int, int] | None
    main: Effect | None  # gain of `axis`, over both variants of `beside`
    beside_main: Effect | None  # gain of `beside`, over both variants of `axis`
    interaction: Effect | None  # gain of `axis` on the second variant of `beside` / on the first
    gain_on: tuple[Effect, Effect] | None  # gain of `axis` on each variant of `beside`
    # Whether the intervals hold that noise may have chosen the loads; False in an older result,
    # whose intervals hold the scatter of repetitions alone
    covers_choice: bool = False
    sentence: str


class ExperimentFailure(Model):
    """Why an experiment failed: the name of the error, and one sentence."""

    error: str
    cause: str


class ExperimentRecord(Model):
    """An item of the service table, `team#TEAM` / `experiment#ID`. Times are UTC."""

    experiment_id: str
    name: str
    team: str
    state: RunState  # SUCCEEDED if every cell has ended and the decisions are made
    local: bool = False  # ran on one machine, not on AWS
    experiment_sha256: str  # SHA-256 of the requested experiment
    cells: int
    seed: int  # seed of the order of the cells
    submitted_at: datetime
    forget_at_epoch_s: int | None = None  # time to live in the table; None for never
    started_at: datetime | None = None
    ended_at: datetime | None = None
    failure: ExperimentFailure | None = None
    # When none of its snapshots was left: the proof of deletion
    datasets_deleted_at: datetime | None = None
    # Whether its result is written; stays False if it was stopped before its start
    concluded: bool = False


class Experiments(Model):
    """The experiments of a team, newest first."""

    experiments: tuple[ExperimentRecord, ...]
    unreadable: int = Field(
        0,
        description="Number of records that were left out because this version of the service"
        " cannot read them; its logs name them.",
    )


class CellStatus(Model):
    """The state of one cell."""

    index: int
    name: str
    variants: dict[str, str]  # {axis: variant}
    run_id: str
    state: RunState | None  # None if the cell has not started yet, or was refused
    phase: str | None
    verdict: Verdict | None
    capacity_ops_per_second: str | None  # a decimal as text, as in the run's record
    bound: Bound | None = None  # bound of that figure; None if there is none
    unreadable: bool = False  # True if this version of the service cannot read its record
    waits_for_pair: bool = False  # until the run that it alternates with is ready to measure


class DatasetOutcome(Model):
    """The state of a dataset that is prepared once for several runs."""

    name: str
    run_id: str  # run that prepares it
    runs: int  # number of runs that use it
    state: RunState | None  # state of that run; None if it was not started
    phase: str | None
    rows: int | None  # exact count
    layout: DatasetLayout | None  # None if it was not reached
    snapshot: str | None  # name of the snapshot at AWS
    deleted_at: datetime | None  # when the snapshot was found deleted: the proof of deletion


class ExperimentStatus(Model):
    """An experiment at one moment: its record and its cells, in the order of the axes."""

    record: ExperimentRecord
    cells: tuple[CellStatus, ...]
    # Datasets prepared once; empty if each run loads its own
    datasets: tuple[DatasetOutcome, ...] = ()

    @property
    def ended(self) -> int:
        """The number of cells that have ended."""
        return sum(cell.state is not None and cell.state.ended for cell in self.cells)

    @property
    def running(self) -> tuple[CellStatus, ...]:
        """The cells that are running."""
        return tuple(c for c in self.cells if c.state is not None and not c.state.ended)


class CellOutcome(Model):
    """The result of one cell."""

    name: str
    variants: dict[str, str]
    fresh_target: int | None = None  # 1, 2 ... of a repeated cell; None if it is not repeated
    run_id: str
    state: RunState | None  # None if it was never started
    verdict: Verdict | None
    figure_ops_per_second: float | None  # to be read with `bound`; None if there is no answer
    bound: Bound | None
    load: str | None  # load of that figure
    limited_by: str | None
    errors: dict[str, int]  # {code: failed operations of all steps}
    usd_per_million: float | None  # USD per million operations at that figure
    # Result of its toggle's pairs; None without a toggle, or without a result
    toggle: str | None = None
    no_answer: str | None  # why there is no figure; None if there is one
    usd_per_hour: float | None = None  # cost of the target, by its list price
    usd_unknown: str | None = None  # why no cost is known; None if it is, or without a result
    phases: tuple[PhaseResult, ...] = ()  # phases of its run, before the search


class FreshRun(Model):
    """One run of a repeated cell, on a target of its own."""

    name: str
    run_id: str
    figure_ops_per_second: float | None  # to be read with `bound`; None if there is no answer
    bound: Bound | None
    no_figure: str | None  # why there is no figure; None if there is one


class FreshFigures(Model):
    """The figures of a cell's runs on fresh targets, and what they say of such targets.

    The intervals cover what a new target changes. They are None with fewer than two figures, if a
    figure is only a bound, and for equal offered rates whose edges are not known.
    """

    name: str  # the cell: names of its variants, joined
    runs: tuple[FreshRun, ...]
    # The only load that was tried, if the figures are throughput at it; None if they are what the
    # targets sustain
    load: str | None
    # Geometric mean of the known figures; None if there is none, or if some are at least and some
    # at most what they say
    mean_ops_per_second: float | None
    bound: Bound | None  # bound of the mean
    mean_low_ops_per_second: float | None  # 95 % confidence interval of the mean over targets
    mean_high_ops_per_second: float | None
    # 95 % prediction interval for the figure of the next fresh run
    next_low_ops_per_second: float | None
    next_high_ops_per_second: float | None
    method: str | None  # name of the method of both intervals; None if there is none
    sentence: str

    @property
    def silent(self) -> tuple[FreshRun, ...]:
        """The runs without a figure."""
        return tuple(run for run in self.runs if run.figure_ops_per_second is None)


class Gain(Model):
    """What more IOPS brought: the figure of a target / the figure of the one with fewer IOPS."""

    question: str  # the variants that both share
    lower: str
    higher: str
    lower_iops: float
    higher_iops: float | None  # None if it has no limit
    outcome: Literal["gain", "no gain", "loss", "not decided"]
    ratio: float | None
    low: float | None  # lower end of the ratio's 95 % interval
    high: float | None
    sentence: str
    # Pairs of alternating steps; None if groups of repetitions are compared
    pairs: int | None = None
    # Figures of fresh targets on the higher and the lower side; None if cells are not repeated
    fresh_targets: tuple[int, int] | None = None


DecisionOutcome = Literal["chosen", "alike", "not told apart", "partial", "only one", "none"]


class Decision(Model):
    """Which target is best for one question: by throughput, and by operations per dollar."""

    question: str
    # Highest figure; None if no target has one, or only one has and others are unknown
    best: str | None
    # Targets not shown to differ from it, or only by an amount that does not matter
    like: tuple[str, ...]
    cheapest: str | None  # most operations per dollar, among the targets whose cost is known
    sentence: str
    outcome: DecisionOutcome | None = None  # how certain the decision is; None in an older result
    # The best target, or the cheapest of those alike; None if none is recommended
    buy: str | None = None
    second: str | None = None  # next highest figure
    ratio: float | None = None  # figure of the best / figure of the second
    low: float | None = None  # lower end of the ratio's 95 % interval
    high: float | None = None
    # Pairs of alternating steps; None if groups of repetitions are compared
    pairs: int | None = None
    # Figures of fresh targets of the best and the second; None if cells are not repeated
    fresh_targets: tuple[int, int] | None = None
    cannot: tuple[str, ...] = ()  # targets that fail at the lightest load
    unknown: tuple[str, ...] = ()  # targets without an answer
    usd_per_million: float | None = None  # USD per million operations on the recommended target
    usd_per_hour: float | None = None  # cost of the recommended target


class ExperimentResult(Model):
    """The result of an experiment that has ended: `experiment.json`."""

    schema_version: Literal[1] = 1
    experiment_id: str
    name: str
    team: str
    local: bool
    state: RunState
    failure: ExperimentFailure | None
    seed: int
    order: tuple[str, ...]  # names of the cells in the order in which they were started
    submitted: datetime
    started: datetime | None
    ended: datetime
    targets: tuple[str, ...]  # combinations of the axes that change the target
    questions: tuple[str, ...]  # combinations of the other axes
    # Datasets prepared once; empty if each run loaded its own
    datasets: tuple[DatasetOutcome, ...] = ()
    cells: tuple[CellOutcome, ...]
    # One for each repeated cell, over its runs on fresh targets; empty without `repeat`
    fresh: tuple[FreshFigures, ...] = ()
    decisions: tuple[Decision, ...]
    gains: tuple[Gain, ...]
    factorials: tuple[Factorial, ...] = ()  # one for each pair of axes with two variants each
    warnings: tuple[str, ...]
    experiment: Experiment
    # The boundary that was searched; None if every cell was to be run
    boundary: Boundary | None = None
    answer: str = ""  # all decisions in one sentence; empty in an older result

    @model_validator(mode="after")
    def _cells_are_whole(self) -> Self:
        """Refuse a damaged result, whose cells could not be shown."""
        if not set(self.order) <= {cell.name for cell in self.cells}:
            raise ValueError("its order names a cell that it lacks")
        if not all(set(self.experiment.axes) <= set(cell.variants) for cell in self.cells):
            raise ValueError("a cell lacks the variant of an axis")
        return self


class ExperimentSubmitted(Model):
    """An experiment that was accepted."""

    experiment_id: str
    name: str
    team: str


class ExperimentDetail(ExperimentStatus):
    """An experiment as the API returns it."""

    result: ExperimentResult | None  # None if it has not ended
