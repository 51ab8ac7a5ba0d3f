"""The workload of a request, its dataset and its load."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.engine.asked import POLL_MOST_US, LoadOrder
from plimsoll.model.timings import AWS_TIMINGS, CHILDREN_MOST

SECONDS_OF_A_CLIENT = 900  # the longest run time of a Lambda function
# Reserved for the start, the barrier and writing results, with up to 5,000 clients
RESERVE_S = 90
ENDING_S = 20  # part of the reserve for the last operations and for the results
LOAD_MAX_S = SECONDS_OF_A_CLIENT - RESERVE_S
# Connections of a client on Lambda, which gives a function 1,024 file descriptors and no more
# (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html); the rest are the runtime's,
# the log's and those of calls to AWS
CONNECTIONS_OF_A_CLIENT = 950
SCHEMA_CHARACTERS_MAX = 131_072  # half of what a request's body or file holds
WARM_ROUNDS = 3  # rounds of unmeasured load, unless the request allows more


def compute_longest_load_s(clients: int) -> float:
    """Return the longest load of a step, including warm-up, in seconds.

    With thousands of clients, the first to be called waits until the last may have started.
    """
    left_s = SECONDS_OF_A_CLIENT - ENDING_S - AWS_TIMINGS.lead_s(clients)
    return min(LOAD_MAX_S, left_s)


# A relay's clients are called so much earlier than other steps': the state machine waits by the
# second
RELAY_EARLY_S = 2
# Two fleets of a relay, and an execution each that reads counters and judges windows
RELAY_CLIENTS_MOST = (CHILDREN_MOST - 2) // 2


def compute_shortest_relay_window_s(clients: int) -> float:
    """Return the shortest window of a relay, in seconds.

    A lane of clients runs every other window. Between two, its last operations end, and its next
    clients start and connect.
    """
    return ENDING_S + RELAY_EARLY_S + AWS_TIMINGS.lead_s(clients)


class WorkloadChoice(Model):
    """The workload: the name of a built-in one, or a definition."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$")] | None = Field(
        None, description="Name of a built-in workload (`plimsoll workload list` lists them)."
    )
    definition: dict[str, Any] | None = Field(
        None,
        description="Workload in the format of workloads/*.yaml, instead of `name`. A"
        " request's file may say `file: shop.yaml` instead: a file in its own folder or below;"
        " `file: transfer.sql`, or `a.sql@2,b.sql@1`, names pgbench scripts.",
    )
    records: Annotated[int, Field(ge=1, le=10**10)] = Field(
        description="Number of rows of the dataset; of each table if the workload has several."
        " Left out for pgbench scripts."
    )
    parameters: dict[str, int | float | str] = Field(
        default_factory=dict, description="Values of the workload's parameters, by parameter name."
    )

    @model_validator(mode="before")
    @classmethod
    def _scripts_have_no_records(cls, value: Any) -> Any:
        match value:
            case {"definition": {"scripts": _}}:
                return {"records": 1, **value}
        return value

    @model_validator(mode="after")
    def _require_one_of_both(self) -> Self:
        if (self.name is None) == (self.definition is None):
            raise UsageError("give either `name` or `definition`")
        return self


class Load(Model):
    """The load that clients apply in each step."""

    warmup_s: Annotated[float, Field(ge=0, le=600)] = Field(
        30, description="Unmeasured load before the window, in seconds."
    )
    duration_s: Annotated[float, Field(gt=0, le=600)] = Field(
        60, description="Length of the measured window in seconds."
    )
    timeout_ms: Annotated[int, Field(ge=1, le=300_000)] = Field(
        60_000,
        description="Time-out of an operation in milliseconds; a slower one counts as failed.",
    )
    recovery_max_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        300,
        description="Maximum time in seconds that the target may take to recover after a failed"
        " step; then the next step starts anyway. Waiting ends earlier if the backlog no longer"
        " shrinks.",
    )
    calm_max_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        300,
        description="On one machine: maximum time in seconds that a search waits, in all, while"
        " other programs keep the machine too busy for a step; then its steps start anyway. 0 means"
        " no waiting, nor does a search wait without the audit `undisturbed`.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        1, description="Random seed. Equal seeds give equal sequences of operations."
    )
    poll_us: Annotated[int, Field(ge=0, le=POLL_MOST_US)] | None = Field(
        None,
        description="Maximum time in microseconds that a client busy-polls before it sleeps, where"
        " polling pays; 0 means no polling. If not set, 500 on AWS, where each client has a CPU of"
        " its own, and 0 on one machine.",
    )

    @model_validator(mode="after")
    def _fits_a_client(self) -> Self:
        if self.warmup_s + self.duration_s > LOAD_MAX_S:
            raise UsageError(
                f"warmup_s + duration_s = {self.warmup_s + self.duration_s:g} s is more than a"
                f" client may run: at most {LOAD_MAX_S} s together"
            )
        return self


class Preparation(Model):
    """How the dataset is created and warmed."""

    clients: Annotated[int, Field(ge=1, le=100)] = Field(
        4, description="Number of clients that load the dataset at the same time."
    )
    connections_per_client: Annotated[int, Field(ge=1, le=1000)] = Field(
        8, description="Connections per client."
    )
    pgbench: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="Scale of pgbench's tables, which are made for pgbench scripts (100,000"
        " accounts each); also the value of `:scale`. Without it, or `schema_sql`, scripts run on"
        " the tables of an existing database, and on one machine only.",
    )
    schema_sql: Annotated[str, Field(max_length=SCHEMA_CHARACTERS_MAX)] | None = Field(
        None,
        exclude_if=lambda value: value is None,
        description="SQL statements that make the tables of pgbench scripts, instead of `pgbench`."
        " A request's file may say `schema: shop.sql` instead: a file in its own folder or below.",
    )
    load_order: LoadOrder = Field(
        "key",
        description="Order in which rows are inserted. `key`: in key order, which fills each page"
        " once. `number`: in the order of the row numbers, as YCSB does; if keys are hashed, each"
        " row lands on another page, which makes the table larger and costs a page read and a page"
        " write per row once the table exceeds the server's memory. Numeric keys have only one"
        " order, and Cassandra sorts rows itself.",
    )
    warm_s: Annotated[float, Field(ge=0, le=600)] = Field(
        60,
        description="Unmeasured load of one client after loading, which fills the caches, in"
        " seconds. It is repeated until throughput and I/Os per operation settle.",
    )
    warm_max_s: Annotated[float, Field(ge=0, le=3600)] | None = Field(
        None,
        description="Maximum total time of this unmeasured load in seconds. If not set, three"
        " times `warm_s`.",
    )

    @model_validator(mode="after")
    def _make_tables_once(self) -> Self:
        if self.pgbench is not None and self.schema_sql is not None:
            raise UsageError("give either `pgbench` or `schema_sql`")
        return self

    @property
    def warm_longest_s(self) -> float:
        """The longest unmeasured load, in seconds."""
        most = WARM_ROUNDS * self.warm_s if self.warm_max_s is None else self.warm_max_s
        return max(most, self.warm_s)
