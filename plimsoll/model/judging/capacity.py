"""The rules by which steps are judged, and the verdict on a target: its capacity."""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, PlainSerializer, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.closing import Closing
from plimsoll.model.judging.steps import (
    SOAK_MAX_S,
    SOAK_WINDOW_MAX_S,
    SOAK_WINDOW_MIN_S,
    CreditBucket,
    Statistic,
    Step,
)

Verdict = Literal[
    "KNEE",  # a step failed after one passed
    "PLATEAU",  # more clients add no throughput, while latency stays within its limit
    "LOWER_BOUND",  # nothing failed up to the largest load tried
    "BELOW_FIRST_STEP",  # even the lightest load fails
    "CLIENT_BOUND",  # the clients, not the target, were the bottleneck
    "NOISY",  # repetitions differ too much, or hold too few operations
    "INCONSISTENT",  # an audit fails on the step that would decide, or on the rows at the end
    "DISTURBED",  # likewise: other programs used the machine in every attempt
    "DRIFTING",  # the target itself changed while it was measured
    "NOT_SUSTAINED",  # the answer's load did not stay within the limits for `soak_s`
    "BURST",  # every load spends burst credits faster than they are earned, or only fills the log
]
Resource = Literal[
    "storage_iops",
    "storage_throughput",
    "storage_latency",  # synchronous writes: the log is flushed, one flush after another
    "cpu",
    "row_locks",
    "table_locks",
    "inner_locks",  # locks on the server's own memory structures: latches, pins
    "buffer_pool",  # reads of pages that it does not hold
    "connections",
    "log",  # too small for the rate of changes: the server writes pages before it can go on
    "client",
    "machine",  # on one machine only: its other processes, or its own disk
    "storage",  # only in older results
    "unknown",  # nothing was measured
]
Bound = Literal["=", ">=", "<"]
Axis = Literal["clients", "connections", "rate_ops_per_second"]
AuditName = Literal[
    "littles_law",
    "clients_ran",
    "enough_operations",
    "clock_skew",
    "steady_state",
    "percentiles",
    "server_count",
    "rows_met",
    "writes_kept",
    "undisturbed",
    "nothing_escaped",
    "recovered",
    "drift",  # audits a whole search, not one step
    "conditions",  # audits the rows after the last step
]

# Serialized in sorted order, since a digest of the JSON identifies a request. One schema for input
# and output: OpenAPI would otherwise get two schemas of every model that contains audits.
_Sorted = Annotated[list[AuditName], Field(json_schema_extra={"uniqueItems": True})]
Audits = Annotated[
    frozenset[AuditName], PlainSerializer(sorted, return_type=_Sorted, when_used="json")
]


class Confirmation(Model):
    """How many times a search repeats the load of its answer.

    A load is confirmed in one of three ways: by at least `least` repetitions that all pass, or by
    as many passes as a share `pass_share` of `most` requires, if the lower confidence limit of the
    throughput is within `precision` of the median; or by `most` repetitions of which that share
    passes. Up to 1.5 times `most` are measured if the throughput is still unsure.
    """

    least: Annotated[int, Field(ge=3)] = Field(5, description="Minimum number of repetitions.")
    most: Annotated[int, Field(ge=3)] = Field(
        10,
        description="Number of repetitions after which no more are needed, unless the throughput"
        " is still unsure.",
    )
    pass_share: Annotated[float, Field(gt=0.5, le=1)] = Field(
        0.7, description="Share of the repetitions that must pass."
    )
    precision: Annotated[float, Field(gt=0, le=0.5)] = Field(
        0.03,
        description="Precision at which no further repetition is needed: the lower confidence"
        " limit of the throughput is within this share of the median.",
    )

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.most < self.least:
            path, allowed = ("most",), Range(least=self.least)
            raise UsageError(Complaint(path, "at least least", self.most, allowed, listed=False))
        return self


class Rules(Model):
    """What a step has to keep to pass. The defaults are those of docs/method.md."""

    limits_us: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict,
        description="Latency limit of each operation in microseconds, by operation name. Set your"
        " SLO here: it is the best choice, since it depends on no other step.",
    )
    deterioration: Annotated[float, Field(gt=1)] = Field(
        3.0,
        description="Latency limit of the operations that `limits_us` does not name, as a multiple"
        " of their latency in the lightest step.",
    )
    statistic: Statistic = Field(
        "p99", description="Latency statistic that is compared with the limits."
    )
    errors_max_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.001, description="Maximum share of operations that may fail."
    )
    kept_up_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.97, description="Open loop only: minimum throughput as a share of the arrival rate."
    )
    client_busy_max: Annotated[float, Field(gt=0, le=1)] = Field(
        0.80, description="Share of the window above which a busy client counts as the bottleneck."
    )
    retrograde_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.10, description="Throughput this share below the best so far counts as retrograde."
    )
    plateau_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.10,
        description="Least gain in throughput per unit of added load, as a share of the lightest"
        " load's throughput per unit; below it, the curve has a plateau.",
    )
    littles_law_factor: Annotated[float, Field(ge=1)] = Field(
        1.10,
        description="Factor by which throughput x mean latency may exceed the number of"
        " connections.",
    )
    cv_max: Annotated[float, Field(gt=0)] = Field(
        0.10,
        description="Maximum coefficient of variation (standard deviation / mean) of the"
        " repetitions; above it they are too noisy to decide.",
    )
    soak_s: Annotated[float, Field(ge=0, le=SOAK_MAX_S)] = Field(
        0,
        description="Soak time in seconds: how long the load of the answer is held at the end, in"
        " windows of at most `soak_window_s`, each second judged. 0 means no soak. A soak of"
        " several windows is a relay of fleets, without a pause (docs/closing-steps.md#soak).",
    )
    soak_window_s: Annotated[float, Field(ge=SOAK_WINDOW_MIN_S, le=SOAK_WINDOW_MAX_S)] = Field(
        SOAK_WINDOW_MAX_S,
        description="Longest window of a soak in seconds. A soak that fails ends with the window"
        " after the one that failed.",
    )
    audits_off: Audits = Field(frozenset(), description="Audits to skip.")
    confirmation: Confirmation | None = Field(
        Confirmation(),
        description="Repetitions of the load that decides the answer. null measures each load"
        " once.",
    )


class Audit(Model):
    """One check whether the figures of a step are plausible."""

    name: AuditName
    passed: bool | None  # None if it could not run
    detail: str  # the figures that it compared, or what it lacked to run


class Interval(Model):
    """A confidence interval of the throughput, from the repetitions of one load."""

    low_ops_per_second: float
    high_ops_per_second: float
    confidence: float  # 0.95
    repetitions: int  # without outliers
    method: str  # name of the method, for display
    seed: int | None = None  # seed of the resampling; None in results without resampling


class LoadRange(Model):
    """The load beyond which most windows fail, as a confidence interval."""

    low: float  # on the axis of the capacity
    high: float
    confidence: float  # 0.90: the range contains the edge in 90 of 100 such searches
    windows: int  # steps that it is computed from
    method: str  # name of the method, for display


# What became of a load. Audits or the clients took away what "disputed" and "client-bound" would
# have said; of an "undecided" load, too little was measured.
LoadOutcome = Literal["passed", "failed", "undecided", "disputed", "client-bound"]


def is_undecided(reasons: Sequence[str]) -> bool:
    """Return whether a load that did not pass did not fail either, by the codes of its reasons."""
    return bool(reasons) and all(code.startswith(("undecided:", "audit:")) for code in reasons)


class JudgedStep(Model):
    """The verdict on one load, from all its repetitions."""

    load: float  # on the axis of the capacity
    passed: bool
    # Why it failed or is undecided, worst first: "latency:update", "errors", "undecided:update" ...
    reasons: tuple[str, ...]
    explanations: tuple[str, ...]  # the reasons as sentences with figures
    audits: tuple[Audit, ...]
    consistent: bool  # False if an audit fails on every repetition; the load then decides nothing
    client_bound: bool
    repetitions: int
    repetitions_passed: int
    throughput_ops_per_second: float  # median of the repetitions
    throughput_cv: float | None  # standard deviation / mean; None for a single repetition
    # {operation: the judged statistic, of all repetitions' operations; without histograms, the
    # median of the repetitions, weighed by their operations}
    latency_us: dict[str, float]
    limit_us: dict[str, float]
    steps: tuple[Step, ...]

    @property
    def outcome(self) -> LoadOutcome:
        """What became of the load; a dispute comes first, since a disputed load decides nothing."""
        if not self.consistent:
            return "disputed"
        if self.client_bound:
            return "client-bound"
        if self.passed:
            return "passed"
        return "undecided" if is_undecided(self.reasons) else "failed"


class UslFit(Model):
    """Gunther's Universal Scalability Law fitted to the curve: an annotation, never the verdict."""

    converged: bool  # whether the fit converged
    why_not: str | None = None  # None if it converged
    ideal_ops_per_second: float | None = None  # lambda: throughput of one client alone
    contention: float | None = None  # sigma
    coherency: float | None = None  # kappa
    peak_load: float | None = None  # sqrt((1 - sigma) / kappa); None if the curve has no peak
    peak_ops_per_second: float | None = None
    residual: float | None = None  # root mean square of the relative residuals


class PowerPoint(Model):
    """The step with the greatest throughput / latency (Kleinrock): an annotation."""

    load: float
    throughput_ops_per_second: float
    latency_us: float  # the judged statistic; the mean over the operations if there are several


class Burst(Model):
    """What a target achieves until its burst credits run out. Not a capacity: it does not last."""

    verdict: Verdict
    max_throughput_ops_per_second: float
    bound: Bound
    at: float  # the load of the figure, on the axis of the capacity
    bracket: tuple[float | None, float | None] | None
    bucket: CreditBucket  # the credits that run out first
    lasts_s: float  # computed: time that a full bucket lasts at that load
    summary: str  # one sentence


class Capacity(Model):
    """The verdict on a target, with the evidence for it."""

    verdict: Verdict
    max_sustainable_throughput_ops_per_second: float | None
    bound: Bound | None
    # Which statistic of the repetitions the throughput above is: their geometric mean, or the lower
    # end of its interval; "median" only in older results
    figure: Literal["median", "mean", "lower_limit"] | None
    axis: Axis
    at: float | None  # the load of the figure, on the axis
    # (highest load that passed, lowest that failed]
    bracket: tuple[float | None, float | None] | None
    # Only for a KNEE; None if too few repetitions, or in an older result
    edge: LoadRange | None = None
    cause: str | None  # "latency:update", "errors", "retrograde", "rate", "unsteady", "plateau" ...
    causes: tuple[str, ...] = ()  # every reason for which the deciding step failed
    # Which kind of callers the figure holds for; None without a figure, or in an older result
    question: str | None = None
    summary: str  # the verdict in one sentence
    notes: tuple[str, ...] = ()  # further remarks for the reader
    repetitions: int | None  # repetitions of the load of the figure
    median_ops_per_second: float | None  # median of these repetitions
    interval: Interval | None  # 95 % interval over these repetitions; None for a single one
    # What the target achieves on credits; None if no credits were spent, or unknown
    burst: Burst | None = None
    # Set by the run; `LimitingResource` holds the evidence
    limiting_resource: Resource | None = None
    # Results of the closing steps; None for a table, or in an older result
    closing: Closing | None = None
    usl: UslFit | None = None
    power_point: PowerPoint | None = None
    statistic: Statistic
    rules: Rules
    steps: tuple[JudgedStep, ...]

    @property
    def sentence(self) -> str:
        """The verdict's name with its sentence, as in "KNEE: sustains 2,000 ops/s at 8 ..."."""
        return f"{self.verdict}: {self.summary}"

    def withdraw_figure(self, **changes: object) -> Self:
        """Return it with other conclusions, and without the figure and what is said of it."""
        withdrawn = (
            *("max_sustainable_throughput_ops_per_second", "bound", "figure", "at", "bracket"),
            *("edge", "question", "repetitions", "median_ops_per_second", "interval"),
        )
        return self.model_copy(update=dict.fromkeys(withdrawn) | changes)

    @property
    def slowed(self) -> bool:
        """Whether it is a lower bound alone because other programs slowed the steps."""
        return self.verdict == "LOWER_BOUND" and self.cause == "audit:undisturbed"

    @property
    def disturbed(self) -> bool:
        """Whether other programs kept it from an exact figure, or from any."""
        return self.verdict == "DISTURBED" or self.slowed
