"""The workload of a request, its dataset and its load."""

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.engine.asked import POLL_MOST_US, LoadOrder
from plimsoll.model.timings import AWS_TIMINGS

SECONDS_OF_A_CLIENT = 900  # the longest run time of a Lambda function
# Reserved for the start, the barrier and writing results, with up to 5,000 clients
RESERVE_S = 90
ENDING_S = 20  # part of the reserve for the last operations and for the results
LOAD_MAX_S = SECONDS_OF_A_CLIENT - RESERVE_S
WARM_ROUNDS = 3  # rounds of unmeasured load, unless the request allows more


def longest_load_s(clients: int) -> float:
    """Return the longest load of a step, including warm-up, in seconds.

    With thousands of clients, the first to be called waits until the last may have started.
    """
    left_s = SECONDS_OF_A_CLIENT - ENDING_S - AWS_TIMINGS.lead_s(clients)
    return min(LOAD_MAX_S, left_s)


class WorkloadChoice(Model):
    """The workload: the name of a built-in one, or a definition."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9]+([-_][a-z0-9]+)*$")] | None = Field(
        None, description="A built-in workload (`plimsoll workloads`)."
    )
    definition: dict[str, Any] | None = Field(
        None, description="A workload in the format of workloads/*.yaml, in place of a name."
    )
    records: Annotated[int, Field(ge=1, le=10**10)] = Field(
        description="Rows of the dataset (of each table, where a workload has several)."
    )
    parameters: dict[str, int | float | str] = Field(
        default_factory=dict, description="Values for the workload's own parameters, by name."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.name is None) == (self.definition is None):
            raise UsageError("give either `name` or `definition`")
        return self


class Load(Model):
    """The load that clients apply in each step."""

    warmup_s: Annotated[float, Field(ge=0, le=600)] = Field(
        30, description="Load before the window, in seconds; not measured."
    )
    duration_s: Annotated[float, Field(gt=0, le=600)] = Field(
        60, description="The measured window, in seconds."
    )
    timeout_ms: Annotated[int, Field(ge=1, le=300_000)] = Field(
        60_000, description="After which an operation counts as failed, in milliseconds."
    )
    recovery_max_s: Annotated[float, Field(ge=0, le=3600)] = Field(
        300,
        description="After a step that failed: how long the target may take to recover before the"
        " next one starts all the same, in seconds. It ends sooner where nothing moves any more.",
    )
    seed: Annotated[int, Field(ge=0, lt=2**63)] = Field(
        1, description="Equal seeds give equal sequences of operations."
    )
    poll_us: Annotated[int, Field(ge=0, le=POLL_MOST_US)] | None = Field(
        None,
        description="For how long a client looks for answers before it sleeps, in microseconds,"
        " where that pays; 0: never. None: 500 on AWS, where a client has a processor of its own,"
        " and 0 on one machine.",
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
        4, description="Clients that load the dataset at once."
    )
    connections_per_client: Annotated[int, Field(ge=1, le=1000)] = Field(
        8, description="Connections of each of them."
    )
    load_order: LoadOrder = Field(
        "key",
        description="In which order rows are inserted. `key`: by their keys, which fills each page"
        " once. `number`: by their numbers, as YCSB does: of hashed keys each lands on another"
        " page, which leaves a larger table, and costs a read and a write of a page for each row"
        " once the table is larger than the server's memory. Keys that are numbers have one order"
        " only, and Cassandra sorts them itself.",
    )
    warm_s: Annotated[float, Field(ge=0, le=600)] = Field(
        60,
        description="Unmeasured load of one client after it, which fills the caches, in seconds; as"
        " often again as it takes until throughput and I/Os per operation settle.",
    )
    warm_max_s: Annotated[float, Field(ge=0, le=3600)] | None = Field(
        None,
        description="The most of it in all, in seconds; none: three times `warm_s`.",
    )

    @property
    def warm_longest_s(self) -> float:
        """The longest unmeasured load, in seconds."""
        most = WARM_ROUNDS * self.warm_s if self.warm_max_s is None else self.warm_max_s
        return max(most, self.warm_s)
