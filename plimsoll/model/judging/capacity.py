"""The rules by which steps are judged, and the verdict: the capacity of a target."""

from typing import Annotated, Literal, Self

from pydantic import Field, PlainSerializer, model_validator

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.closing import Closing
from plimsoll.model.judging.steps import CreditBucket, Statistic, Step

Verdict = Literal[
    "KNEE",  # a step failed after one passed
    "PLATEAU",  # more clients gain nothing, latency within the limit
    "LOWER_BOUND",  # nothing failed up to the largest load
    "BELOW_FIRST_STEP",  # the lightest step fails
    "CLIENT_BOUND",  # the clients were the limit
    "NOISY",  # repetitions differ too much
    "INCONSISTENT",  # an audit fails on the step that would decide
    "DISTURBED",  # the same: the machine was busy with others' work whenever it was tried
    "DRIFTING",  # the target itself changed while it was measured
    "NOT_SUSTAINED",  # the answer's load did not last for `soak_s`
    "BURST",  # every load spent credits faster than they come back
]
Resource = Literal[
    "storage_iops",
    "storage_throughput",
    "storage_latency",  # of synchronous writes: the log is flushed, one flush after another
    "cpu",
    "row_locks",
    "table_locks",
    "inner_locks",  # on what the server itself keeps in memory: latches, pins
    "buffer_pool",  # reads of pages that it does not hold
    "connections",
    "log",  # too small for the changes: pages have to be written before it can go on
    "client",
    "machine",  # one machine only: its other processes, or its own disk
    "storage",  # in older results
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
    "undisturbed",
    "nothing_escaped",
    "recovered",
    "drift",  # of a whole search, not of a step
]

# Written in one order, since requests are told apart by a digest of their text; and described alike
# where they are read and written, else OpenAPI would have two schemas of whatever holds them.
_Sorted = Annotated[list[AuditName], Field(json_schema_extra={"uniqueItems": True})]
Audits = Annotated[
    frozenset[AuditName], PlainSerializer(sorted, return_type=_Sorted, when_used="json")
]


class Confirmation(Model):
    """How often a search repeats the load that it is about to answer with.

    A load is confirmed by `least` repetitions that all pass and scatter so little that the lower
    limit of their throughput lies within `precision` of the middle, or by `most` repetitions of
    which `pass_share` pass.
    """

    least: Annotated[int, Field(ge=3)] = Field(5, description="Repetitions at least.")
    most: Annotated[int, Field(ge=3)] = Field(10, description="Repetitions at most.")
    pass_share: Annotated[float, Field(gt=0.5, le=1)] = Field(
        0.7, description="The share of them that must pass."
    )
    precision: Annotated[float, Field(gt=0, le=0.5)] = Field(
        0.03,
        description="Enough repetitions: their lower limit is within this share of their middle.",
    )

    @model_validator(mode="after")
    def _range(self) -> Self:
        if self.most < self.least:
            path, allowed = ("most",), Range(least=self.least)
            raise UsageError(Complaint(path, "at least least", self.most, allowed, listed=False))
        return self


class Rules(Model):
    """What passes. The defaults are those of docs/method.md."""

    limits_us: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict,
        description="The most that an operation may take, in microseconds, by its name: your SLO,"
        " and the first choice, since it depends on no other step.",
    )
    deterioration: Annotated[float, Field(gt=1)] = Field(
        3.0,
        description="Limit of other operations: so many times their latency in the lightest step.",
    )
    statistic: Statistic = Field("p99", description="The statistic of the latency that is judged.")
    errors_max_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.001, description="The largest share of operations that may fail."
    )
    kept_up_share: Annotated[float, Field(gt=0, le=1)] = Field(
        0.97, description="Open loop: the least throughput, as a share of the rate."
    )
    client_busy_max: Annotated[float, Field(gt=0, le=1)] = Field(
        0.80, description="Clients busier than this share of the window are the bottleneck."
    )
    retrograde_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.10, description="Throughput so much below the best counts as going backwards."
    )
    plateau_share: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.10, description="Gains below this share of the first client's are a plateau."
    )
    littles_law_factor: Annotated[float, Field(ge=1)] = Field(
        1.10, description="Throughput x mean latency may exceed the connections by this factor."
    )
    cv_max: Annotated[float, Field(gt=0)] = Field(
        0.10, description="Repetitions that differ more (standard deviation / mean) are noise."
    )
    soak_s: Annotated[float, Field(ge=0, le=21_600)] = Field(
        0,
        description="For so long the answer's load is held at the end, in windows of 10 minutes at"
        " most, and judged second by second, in seconds; 0: not at all.",
    )
    audits_off: Audits = Field(frozenset(), description="Audits that are not run.")
    confirmation: Confirmation | None = Field(
        Confirmation(),
        description="Repetitions of the load that the answer rests on; null: each load once.",
    )


class Audit(Model):
    """One check of whether the figures of a step can be true."""

    name: AuditName
    passed: bool | None  # None: could not run
    detail: str  # the figures that it compared, or what it lacked


class Interval(Model):
    """A confidence interval of the throughput over the repetitions of one load."""

    low_ops_per_second: float
    high_ops_per_second: float
    confidence: float  # 0.95
    repetitions: int  # that are alike; outliers are left out
    method: str  # named where it is shown
    seed: int | None = None  # of the resampling, in results that have one


class LoadRange(Model):
    """Where the edge lies: the load beyond which most windows fail."""

    low: float  # on the axis of the capacity
    high: float
    confidence: float  # 0.90: in so many of 100 such searches the edge lies within
    windows: int  # steps that it rests on
    method: str  # named where it is shown


class JudgedStep(Model):
    """One load with all its repetitions, judged."""

    load: float  # on the axis of the capacity
    passed: bool
    reasons: tuple[
        str, ...
    ]  # why not, worst first: "latency:update", "errors", ...; empty if passed
    explanations: tuple[str, ...]  # the same for people, with figures
    audits: tuple[Audit, ...]
    consistent: bool  # False: an audit disputes every repetition; the step decides nothing
    client_bound: bool
    repetitions: int
    repetitions_passed: int
    throughput_ops_per_second: float  # median of the repetitions
    throughput_cv: float | None  # standard deviation / mean; None for one repetition
    latency_us: dict[str, float]  # by operation, of the statistic judged, median of repetitions
    limit_us: dict[str, float]
    steps: tuple[Step, ...]


class UslFit(Model):
    """Gunther's Universal Scalability Law fitted to the curve: an annotation, never the verdict."""

    converged: bool
    why_not: str | None = None
    ideal_ops_per_second: float | None = None  # lambda: what one client would give alone
    contention: float | None = None  # sigma
    coherency: float | None = None  # kappa
    peak_load: float | None = None  # sqrt((1 - sigma) / kappa); None without a peak
    peak_ops_per_second: float | None = None
    residual: float | None = None  # root mean square, relative


class PowerPoint(Model):
    """The step with the greatest throughput / latency (Kleinrock): an annotation."""

    load: float
    throughput_ops_per_second: float
    latency_us: float  # of one operation, the statistic judged; of several, their mean


class Burst(Model):
    """What a target does while its credits last: no capacity, for it ends."""

    verdict: Verdict
    max_throughput_ops_per_second: float
    bound: Bound
    at: float  # the load of the figure, on the capacity's axis
    bracket: tuple[float | None, float | None] | None
    bucket: CreditBucket  # that is empty first
    lasts_s: float  # computed: a full bucket at that load
    summary: str  # for people


class Capacity(Model):
    """The verdict on a target, with everything needed to defend it."""

    verdict: Verdict
    max_sustainable_throughput_ops_per_second: float | None
    bound: Bound | None
    figure: Literal["median", "lower_limit"] | None  # what the number above is of its repetitions
    axis: Axis
    at: float | None  # the load of the figure, on the axis
    bracket: tuple[float | None, float | None] | None  # (passes, fails]: what was seen
    edge: LoadRange | None = None  # of a KNEE; None: too little was repeated, or an older result
    cause: str | None  # "latency:update", "errors", "retrograde", "rate", "unsteady", "plateau" ...
    causes: tuple[str, ...] = ()  # all that the deciding step was failed for
    question: str | None = None  # which callers the figure is of; None: no figure, or older
    summary: str  # the verdict in one sentence
    notes: tuple[str, ...] = ()  # what a reader has to know besides
    repetitions: int | None  # at the load of the figure
    median_ops_per_second: float | None  # ... their median
    interval: Interval | None  # ... their 95 % interval; None for a single repetition
    burst: Burst | None = None  # beside what lasts; None: no credits were spent, or not known
    limiting_resource: Resource | None = None  # by the run; `LimitingResource` says more
    closing: Closing | None = None  # what was asked after it was confirmed; None: a table, or older
    usl: UslFit | None = None
    power_point: PowerPoint | None = None
    statistic: Statistic
    rules: Rules
    steps: tuple[JudgedStep, ...]
