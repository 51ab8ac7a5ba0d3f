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

    field: str = Field(description="Path in the body, or name of the parameter or header.")
    detail: str = Field(description="What is wrong, in one sentence.")
    value: Scalar = Field(None, description="Rejected value, if it is a single one.")
    allowed: tuple[str, ...] = Field((), description="Allowed values; if empty, see `detail`.")


class Problem(Model):
    """An RFC 9457 problem document (application/problem+json)."""

    type: str = Field(description="urn:plimsoll:problem:KIND; docs/api.md lists the kinds.")
    title: str = Field(description="Kind of problem, in words.")
    status: Annotated[int, Field(ge=400, le=599)] = Field(description="HTTP status code.")
    detail: str = Field(description="What went wrong, in one sentence.")
    instance: str = Field(description="Path of the call.")
    request_id: str = Field(description="Identifier of this call in the deployment's logs.")
    errors: tuple[FieldComplaint, ...] = Field((), description="One entry per field that is wrong.")


class Health(Model):
    """The response of a service that is up and can read its table."""

    status: Literal["ok"] = Field(
        description="Always `ok`; a service that does not work answers with a problem document."
    )
    version: str = Field(description="Version of Plimsoll.")


class WorkloadParameter(Model):
    """A parameter of a workload."""

    about: str = Field(description="Meaning of the parameter.")
    default: int | float | str = Field(description="Value if none is given.")
    kind: str = Field(description="Type of the value.")
    allowed: tuple[Scalar, ...] = Field(description="Allowed values; if empty, any.")


class WorkloadSummary(Model):
    """A built-in workload."""

    name: str = Field(description="Name to give as `workload.name` of a request.")
    about: str = Field(description="What the workload does.")
    dataset: str = Field(description="Dataset that it uses.")
    default_records: int | None = Field(
        description="Usual number of rows; null if the dataset has none."
    )
    operations: tuple[str, ...] = Field(
        (), description="Names of its operations, to which limits may be set."
    )
    parameters: dict[str, WorkloadParameter] = Field(
        description="Parameters that `workload.parameters` may set, by name."
    )


class Workloads(Model):
    """The built-in workloads."""

    workloads: tuple[WorkloadSummary, ...] = Field(
        description="All built-in workloads, sorted by name."
    )


class Progress(Model):
    """How far a run has progressed."""

    step: int | None = Field(
        description="Number of the step in progress, or of the last one started; null before the"
        " first."
    )
    steps_finished: int = Field(description="Number of steps that were measured and judged.")


class ThroughputInterval(Model):
    """The confidence interval of the throughput."""

    low_ops_per_second: float
    high_ops_per_second: float


class RunSummary(Model):
    """A run as a list of runs shows it. Times are UTC; null if not reached yet."""

    run_id: str = Field(description="Identifier of the run.")
    name: str = Field(description="Name from the request; not unique.")
    team: str = Field(description="Team that submitted the run.")
    state: RunState = Field(description="State of the run; the last four are final.")
    phase: Phase = Field(description="Phase in progress, or the last one.")
    local: bool = Field(description="True if the run is on one machine, false if on AWS.")
    tags: dict[str, str] = Field(description="Labels from the request.")
    submitted_at: datetime = Field(description="When the run was recorded.")
    started_at: datetime | None = Field(description="When the workflow started.")
    expires_at: datetime | None = Field(description="When the target is deleted in any case.")
    ended_at: datetime | None = Field(description="When the run ended.")
    deleted_at: datetime | None = Field(description="When the target was confirmed to be deleted.")
    progress: Progress = Field(description="Steps so far.")
    preconditioned: str | None = Field(
        None, description="Unmeasured load before the search so far, and whether it settled."
    )
    recovery: Recovery | None = Field(
        None,
        description="Backlog that the target still works off before the next step; null if none.",
    )
    failure: Failure | None = Field(description="Why the run failed; null if it did not.")
    verdict: str | None = Field(
        description="Verdict; null until the run is concluded (docs/method.md)."
    )
    capacity_ops_per_second: float | None = Field(
        description="Maximum sustainable throughput in operations per second; null if there is no"
        " figure."
    )
    target_words: str | None = Field(
        None, description="Requested target, in words; null for runs of older versions."
    )
    bound: Bound | None = Field(
        None,
        description="Whether the figure is exact (=), a minimum (>=) or an upper bound (<); null"
        " if there is no figure.",
    )
    interval: ThroughputInterval | None = Field(
        None,
        description="95 % confidence interval of the capacity; null if there is no figure or it"
        " was not repeated.",
    )
    axis: Axis | None = Field(
        None, description="What a load of `curve` counts: clients, connections or arrival rate."
    )
    curve: tuple[tuple[float, float], ...] = Field(
        (),
        description="Pairs of a load and its throughput in operations per second, from the"
        " lightest load.",
    )
    expected_usd: float | None = Field(
        None,
        description="Expected cost from the quote; null if a price was missing or nothing is"
        " spent.",
    )
    cost_usd: float | None = Field(
        None,
        description="Estimated cost by list prices, once the run has ended; null if a price was"
        " missing or nothing was spent.",
    )
    past: bool = Field(
        False, description="On one machine: true if the run ended before this service was started."
    )


class Runs(Model):
    """A page of runs, newest first."""

    runs: tuple[RunSummary, ...] = Field(description="At most `limit` runs; a page may have fewer.")
    next_cursor: str | None = Field(
        description="Value of `cursor` for the next page; null on the last page."
    )
    unreadable: int = Field(
        0,
        description="Number of records that were left out because this version of the service"
        " cannot read them; its logs name them. The next page may count some of them again.",
    )


class RunDetail(RunSummary):
    """A run with its request."""

    time_limit_s: int = Field(
        description="Maximum age of the target in seconds; it is then deleted in any case."
    )
    request_sha256: str = Field(description="SHA-256 digest of the recorded request.")
    provision_at: datetime | None = Field(description="When creation of the target started.")
    target_ready_at: datetime | None = Field(description="When the target was ready.")
    prepare_at: datetime | None = Field(description="When loading of the dataset started.")
    step_at: datetime | None = Field(description="When the first step was planned.")
    conclude_at: datetime | None = Field(
        description="When the steps were finished and conclusion started."
    )
    metrics_awaited_until: datetime | None = Field(
        description="Latest time until which the run waits for the target's metrics before it"
        " concludes; null if it does not wait."
    )
    teardown_asked_at: datetime | None = Field(description="When deletion of the target started.")
    teardown_error: str | None = Field(
        description="Why the target could not be deleted; null if it could."
    )
    database_version: str | None = Field(
        None,
        description="Version of the database, as RDS resolved the requested one; null for an"
        " endpoint.",
    )
    server_version: str | None = Field(
        description="Name and version that the database server reports."
    )
    rows: int | None = Field(description="Number of rows in the dataset, counted.")
    links: Links = Field(
        default_factory=dict,
        description="Addresses of the dashboards that show the run, if the deployment names any:"
        " `grafana`, `cloudwatch`.",
    )
    request: Request = Field(description="Request as recorded.")
    plan: StepPlan | None = Field(
        description="Plan of the step in progress, or of the last one started."
    )


class Submitted(Model):
    """A run that was accepted."""

    run_id: str = Field(description="Identifier of the run; the `Location` header has its address.")
    name: str = Field(description="Name from the request.")
    team: str = Field(description="Team that submitted the run.")


class Steps(Model):
    """Finished steps in order, without their seconds, which seconds.json has."""

    steps: tuple[StepResult, ...] = Field(description="At most `limit` steps.")
    next_after: int | None = Field(
        description="Value of `after` for the next page; null if no more steps are finished yet."
    )


class ReportLinks(Model):
    """Links that open without credentials for a short time: treat them as secrets."""

    url: str | None = Field(
        description="Address of the page, report.html; null if the run is too long for one."
    )
    result_url: str = Field(description="Address of the results, result.json (docs/results.md).")
    expires_at: datetime = Field(description="Latest time at which the links open (UTC).")
