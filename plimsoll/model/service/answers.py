"""The responses of the API. A `Request` of the API is the same as in a file."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from plimsoll.complaints import Scalar
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Axis, Bound
from plimsoll.model.request.request import Request
from plimsoll.model.run.dashboards import Links
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import Failure, Phase, Recovery, RunState

RUN_ID = r"^[a-z0-9]+(-[a-z0-9]+)*$"


class FieldComplaint(Model):
    """One problem with what was sent."""

    field: str = Field(description="Its path in the body, or the name of a parameter or header.")
    detail: str = Field(description="What is wrong, in one sentence.")
    value: Scalar = Field(None, description="What was given, where that is a single known value.")
    allowed: tuple[str, ...] = Field((), description="What may stand there; empty: see `detail`.")


class Problem(Model):
    """An RFC 9457 problem document (application/problem+json)."""

    type: str = Field(description="urn:plimsoll:problem:KIND; docs/api.md lists the kinds.")
    title: str = Field(description="The kind, in words.")
    status: Annotated[int, Field(ge=400, le=599)] = Field(description="The HTTP status.")
    detail: str = Field(description="What went wrong, in one sentence.")
    instance: str = Field(description="The path that was asked for.")
    request_id: str = Field(description="Names this call in the deployment's logs.")
    errors: tuple[FieldComplaint, ...] = Field((), description="Each field that is wrong.")


class Health(Model):
    """The response of a service that is up and can read its table."""

    status: Literal["ok"] = Field(description="`ok`; whatever is not, is a problem document.")
    version: str = Field(description="Plimsoll's version.")


class WorkloadParameter(Model):
    """A parameter of a workload."""

    about: str = Field(description="What it means.")
    default: int | float | str = Field(description="Its value where none is given.")
    kind: str = Field(description="The kind of its value.")
    allowed: tuple[Scalar, ...] = Field(description="The values that it may have; empty: any.")


class WorkloadSummary(Model):
    """A built-in workload."""

    name: str = Field(description="For `workload.name` of a request.")
    about: str = Field(description="What it does.")
    dataset: str = Field(description="The dataset that it uses.")
    default_records: int | None = Field(description="Rows, where the dataset has a usual number.")
    parameters: dict[str, WorkloadParameter] = Field(description="For `workload.parameters`.")


class Workloads(Model):
    """The built-in workloads."""

    workloads: tuple[WorkloadSummary, ...] = Field(description="By name.")


class Progress(Model):
    """How far a run has progressed."""

    step: int | None = Field(description="The step under way or last begun; null: none yet.")
    steps_finished: int = Field(description="Steps that were measured and judged.")


class ThroughputInterval(Model):
    """The confidence interval of the throughput."""

    low_ops_per_second: float
    high_ops_per_second: float


class RunSummary(Model):
    """A run as a list of runs shows it. Times are UTC; null if not reached yet."""

    run_id: str = Field(description="Its id.")
    name: str = Field(description="The request's name; not unique.")
    team: str = Field(description="Whose run it is.")
    state: RunState = Field(description="Where it stands; the last four are its end.")
    phase: Phase = Field(description="What it does, or did last.")
    local: bool = Field(description="On one machine, not on AWS.")
    tags: dict[str, str] = Field(description="The request's labels.")
    submitted_at: datetime = Field(description="When it was recorded.")
    started_at: datetime | None = Field(description="When its workflow began.")
    expires_at: datetime | None = Field(description="When its target is deleted, whatever happens.")
    ended_at: datetime | None = Field(description="When it ended.")
    deleted_at: datetime | None = Field(
        description="When its target was seen to be deleted: the proof."
    )
    progress: Progress = Field(description="How far it is.")
    preconditioned: str | None = Field(
        None, description="The unmeasured load before the search so far, and whether it settled."
    )
    recovery: Recovery | None = Field(
        None, description="What its target still works off before the next step; null: nothing."
    )
    failure: Failure | None = Field(description="Why it failed; null: it did not.")
    verdict: str | None = Field(description="The verdict, once concluded (docs/method.md).")
    capacity_ops_per_second: float | None = Field(
        description="Maximum sustainable throughput, in operations per second; null: no figure."
    )
    target_words: str | None = Field(
        None, description="The target that was asked for, in words; null: of an older version."
    )
    bound: Bound | None = Field(
        None, description="Whether the figure is exact, at least or less; null: no figure."
    )
    interval: ThroughputInterval | None = Field(
        None, description="Its 95 % interval; null: no figure, or it was not repeated."
    )
    axis: Axis | None = Field(None, description="What a load of `curve` counts.")
    curve: tuple[tuple[float, float], ...] = Field(
        (), description="Each load so far and the operations per second there, from the lightest."
    )
    expected_usd: float | None = Field(
        None,
        description="What it was quoted, expected; null: a price was missing, or nothing is spent.",
    )
    cost_usd: float | None = Field(
        None,
        description="What it cost, estimated by list prices, once it has ended; null: a price was"
        " missing, or nothing was spent.",
    )
    past: bool = Field(
        False, description="On one machine: it ended before this service was started."
    )


class Runs(Model):
    """A page of runs, newest first."""

    runs: tuple[RunSummary, ...] = Field(description="At most `limit`, and maybe fewer.")
    next_cursor: str | None = Field(description="For `cursor` of the next page; null: the last.")
    unreadable: int = Field(
        0,
        description="Records that were left out, since this version of the service cannot read"
        " them; its logs name them. The next page may count some of them again.",
    )


class RunDetail(RunSummary):
    """A run with its request."""

    time_limit_s: int = Field(description="After which its target is deleted, in seconds.")
    request_sha256: str = Field(description="Of the request as recorded.")
    provision_at: datetime | None = Field(description="When its target began to be created.")
    target_ready_at: datetime | None = Field(description="When its target was there.")
    prepare_at: datetime | None = Field(description="When its dataset began to be loaded.")
    step_at: datetime | None = Field(description="When its first step was planned.")
    conclude_at: datetime | None = Field(description="When its steps began to be concluded.")
    metrics_awaited_until: datetime | None = Field(
        description="Until when at most it waits for its target's metrics before it concludes;"
        " null: it does not."
    )
    teardown_asked_at: datetime | None = Field(description="When its target's deletion began.")
    teardown_error: str | None = Field(description="Why its target could not be deleted.")
    database_version: str | None = Field(
        None,
        description="The version of its database, as RDS resolved the one asked for; null: an"
        " endpoint.",
    )
    server_version: str | None = Field(description="The database server, as it names itself.")
    rows: int | None = Field(description="Rows of the dataset, counted.")
    links: Links = Field(
        default_factory=dict,
        description="To the dashboards on which it can be seen, where the deployment names them:"
        " `grafana`, `cloudwatch`.",
    )
    request: Request = Field(description="What was asked for.")
    plan: StepPlan | None = Field(description="The step under way or last begun, as planned.")


class Submitted(Model):
    """A run that was accepted."""

    run_id: str = Field(description="Its id; `Location` is its address.")
    name: str = Field(description="The request's name.")
    team: str = Field(description="Whose run it is.")


class Steps(Model):
    """Finished steps in order, without their seconds, which seconds.json has."""

    steps: tuple[StepResult, ...] = Field(description="At most `limit`.")
    next_after: int | None = Field(
        description="For `after` of the next page; null: no more are finished yet."
    )


class ReportLinks(Model):
    """Links that open without credentials for a short time: treat them as secrets."""

    url: str | None = Field(
        description="The page, report.html; null: it was not drawn, its run is too long for that."
    )
    result_url: str = Field(description="The results, result.json (docs/results.md).")
    expires_at: datetime = Field(description="Until when the links hold, at most. UTC.")
