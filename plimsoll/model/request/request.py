"""The request of a run: target, workload, search, and limits of time and cost.

Unknown fields are refused by name, and what AWS would refuse is refused here, before anything is
created. `docs/requests.md` is generated from this module.
"""

import math
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from plimsoll import words
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.aws.volume_rules import Drain
from plimsoll.model.aws.volumes import FaultPlan, Volume, limits
from plimsoll.model.base import Model
from plimsoll.model.clouds.volume_rules import BUFFER_POOL_EXTENSION
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.background import Background, require_possible_backgrounds
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.expectations import parse_rule
from plimsoll.model.request.load_request import (
    RELAY_CLIENTS_MOST,
    Load,
    Preparation,
    WorkloadChoice,
    compute_longest_load_s,
    compute_shortest_relay_window_s,
)
from plimsoll.model.request.phases import Phase, require_different_names
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.search_request import RateSearch, Search, max_clients
from plimsoll.model.request.toggle import Toggle, require_switchable
from plimsoll.model.timings import AWS_TIMINGS

Name = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=40)]
# A filter is written `name=value`
TagName = Annotated[str, Field(pattern=r"^[^=]+$", max_length=100)]


def _require_rule(text: str) -> str:
    parse_rule(text)
    return text


ExpectedRule = Annotated[str, Field(max_length=400), AfterValidator(_require_rule)]


TargetKind = Literal["rds", "aurora", "cassandra", "endpoint"]
Target = Annotated[
    RdsTarget | AuroraTarget | CassandraTarget | EndpointTarget, Field(discriminator="kind")
]


class Fault(Model):
    """A fault to inject during a run; on one machine only."""

    step: Annotated[int, Field(ge=1)] = Field(
        description="Number of the step in which the fault happens."
    )
    after_s: Annotated[float, Field(ge=0)] = Field(
        0, description="Seconds after the start of the step's load."
    )
    volume: FaultPlan = Field(description="Fault of the target's volume.")


class Request(Model):
    """A run as it is requested."""

    name: Name = Field(description="Name of the run; need not be unique.")
    description: str = Field("", description="Purpose of the run, in your words.")
    target: Target = Field(description="The database under test.")
    workload: WorkloadChoice = Field(
        description="Workload: the operations to send, and the dataset."
    )
    load: Load = Field(
        Load(), description="Duration of each step, time-out and seed of the operations."
    )
    prepare: Preparation = Field(
        Preparation(), description="How the dataset is loaded and the caches are warmed."
    )
    phases: Annotated[tuple[Phase, ...], Field(max_length=10)] = Field(
        (),
        description="Workloads that run before the search, one after another, each to completion"
        " or with a search of its own, on the database as the previous one left it"
        " (docs/phases.md).",
    )
    search: Search = Field(description="Loads to try.")
    toggle: Toggle | None = Field(
        None,
        description="Two states of the target, such as a feature off and on, measured in pairs"
        " after the search: settings of an RDS instance, or two addresses of an existing database.",
    )
    limits: Rules = Field(Rules(), description="Rules that a step must keep to pass.")
    expect: Annotated[tuple[ExpectedRule, ...], Field(max_length=50)] = Field(
        (),
        description="Rules that the result is checked against, such as `capacity >= 2000`"
        " (docs/ci.md).",
    )
    budget_usd: Annotated[float, Field(gt=0)] | None = Field(
        None,
        description="Maximum cost of the run in US dollars, by list prices (docs/costs.md). The"
        " run is refused if this cannot suffice, and torn down before it would cost more.",
    )
    time_limit_s: Annotated[int, Field(ge=10, le=86_400)] = Field(
        7200,
        description="Maximum age of the target in seconds: it is then deleted in any case. At"
        " least `prepare.warm_s`, `load.warmup_s` and `load.duration_s` together.",
    )
    team: Name = Field("default", description="Team whose limits the run counts against.")
    tags: dict[TagName, Annotated[str, Field(max_length=200)]] = Field(
        default_factory=dict, max_length=20, description="Labels, by name; a name contains no `=`."
    )
    background: Annotated[tuple[Background, ...], Field(max_length=10)] = Field(
        (),
        description="Workloads that run at the same time as the measured one"
        " (docs/pairs.md#a-background).",
    )
    background_pairs: Annotated[int, Field(ge=0, le=20)] = Field(
        4,
        description="With `background`: number of pairs of steps after the answer, at its load,"
        " one step with the background and one without, which measure its cost. There is no"
        " confidence interval below 3 pairs; 0 means no pairs. They do not count toward"
        " `search.probes_max`.",
    )
    faults: tuple[Fault, ...] = Field((), description="Faults to inject; on one machine only.")

    @model_validator(mode="after")
    def _has_time_for_a_step(self) -> Self:
        parts = {
            "prepare.warm_s": self.prepare.warm_s,
            "load.warmup_s": self.load.warmup_s,
            "load.duration_s": self.load.duration_s,
        }
        least_s = math.ceil(sum(parts.values()))
        if self.time_limit_s < least_s:
            sum_of_parts = " + ".join(f"{name} {value:g}" for name, value in parts.items())
            problem = (
                f"{self.time_limit_s} s are too short for a single step, which takes"
                f" {sum_of_parts} s"
            )
            allowed = Range(least=least_s)
            raise UsageError(Complaint(("time_limit_s",), problem, self.time_limit_s, allowed))
        return self

    @model_validator(mode="after")
    def _phases_are_told_apart(self) -> Self:
        require_different_names(self.phases)
        return self

    @model_validator(mode="after")
    def _clients_have_time_to_start(self) -> Self:
        """Refuse a load too long for a client: the first one called waits for the last."""
        clients = max_clients(self.search) + self.clients_beside
        most_s = compute_longest_load_s(clients)
        if self.load.warmup_s + self.load.duration_s > most_s:
            problem = (
                f"is too long after load.warmup_s = {self.load.warmup_s:g} s: the first of up to"
                f" {clients:,} clients waits {AWS_TIMINGS.lead_s(clients):g} s for the last, which"
                f" leaves {most_s:g} s for both"
            )
            raise UsageError(Complaint(("load", "duration_s"), problem, self.load.duration_s))
        return self

    @model_validator(mode="after")
    def _can_be_soaked(self) -> Self:
        """Refuse a soak that does not fit into one-call windows within the search's steps."""
        soak_s, path = self.limits.soak_s, ("limits", "soak_s")
        if not soak_s:
            return self
        count = self._soak_windows
        clients = max_clients(self.search) + self.clients_beside
        if count > 1:
            self._require_possible_relay(soak_s / count, clients)
        most_s = compute_longest_load_s(clients)
        if self.load.warmup_s + soak_s / count > most_s:
            problem = (
                f"is {words.format_count(count, 'window')} of {soak_s / count:g} s, each after"
                f" load.warmup_s = {self.load.warmup_s:g} s, and a client may run for"
                f" {most_s:g} s"
            )
            raise UsageError(Complaint(path, problem, soak_s))
        if self.search.probes_max <= count:
            problem = f"takes {count} steps of search.probes_max = {self.search.probes_max}"
            allowed = Range(most=self.limits.soak_window_s * (self.search.probes_max - 1))
            raise UsageError(Complaint(path, problem, soak_s, allowed))
        if soak_s + self.load.warmup_s > self.time_limit_s:
            problem = f"does not fit into time_limit_s = {self.time_limit_s}, after the search"
            raise UsageError(Complaint(path, problem, soak_s))
        return self

    @property
    def _soak_windows(self) -> int:
        """Number of windows of the soak; 0 without one."""
        return math.ceil(self.limits.soak_s / self.limits.soak_window_s)

    def _require_possible_relay(self, window_s: float, clients: int) -> None:
        """Refuse windows whose fleets cannot follow each other without a pause."""
        if clients > RELAY_CLIENTS_MOST:
            problem = (
                f"in several windows has two fleets at a time, of {RELAY_CLIENTS_MOST:,} clients at"
                f" most, and the search allows {clients:,}: lower those"
            )
            raise UsageError(Complaint(("limits", "soak_s"), problem, self.limits.soak_s))
        least_s = compute_shortest_relay_window_s(clients)
        if window_s < least_s:
            problem = (
                f"makes windows of {window_s:g} s; the next fleet of up to {clients:,} clients"
                f" needs {least_s:g} s to follow without a pause"
            )
            path = ("limits", "soak_window_s")
            raise UsageError(Complaint(path, problem, self.limits.soak_window_s))

    @model_validator(mode="after")
    def _background_is_met(self) -> Self:
        try:
            require_possible_backgrounds(self.background, self.load)
        except UsageError as error:
            raise error.within("background") from None
        return self

    @property
    def clients_beside(self) -> int:
        """Clients of the background in each step."""
        return sum(background.clients for background in self.background)

    @property
    def clients_at_once(self) -> int:
        """The highest number of clients of a step; of a soak in several windows, of two fleets."""
        clients = max_clients(self.search) + self.clients_beside
        return clients * 2 if self._soak_windows > 1 else clients

    @property
    def steps_beside(self) -> int:
        """Steps that measure the cost of the background, in addition to those of the search."""
        return 2 * self.background_pairs if self.background else 0

    @property
    def credits_start_share(self) -> float | None:
        """The share of a full bucket that the first measured step starts with; None if not set."""
        volume = self._created_volume
        return None if volume is None else volume.credits_start_share

    @property
    def _created_volume(self) -> Volume | None:
        """The volume that is created for the run; None if none is."""
        if isinstance(self.target, EndpointTarget | AuroraTarget):
            return None
        return self.target.volume

    def require_nothing_of_one_machine(self, whose: str) -> None:
        """Refuse what only emulated volumes on one machine have.

        Args:
            whose: what may have these options, for the message.

        Raises:
            UsageError: The request has faults, sets its volume's credits, or has a volume that AWS
                does not offer.
        """
        if self.faults:
            raise UsageError(Complaint(("faults",), f"only {whose} may have them"))
        volume = self._created_volume
        if volume is not None and volume.emulated_only:
            field = "read_cache_mib" if volume.cloud == "aws" else "cloud"
            has = "this read cache" if volume.cloud == "aws" else "this cloud's volumes"
            problem = f"only {whose} may have {has}: on AWS, a target is created on EBS or RDS"
            path = ("target", "volume", field)
            raise UsageError(Complaint(path, problem, getattr(volume, field)))
        if self.credits_start_share is not None:
            problem = (
                f"only {whose} may have it: AWS gives a new volume full credits, and nobody can"
                " set them; a phase before the search can spend them (docs/volumes.md)"
            )
            path = ("target", "volume", "credits_start")
            raise UsageError(Complaint(path, problem, self.credits_start_share))

    @model_validator(mode="after")
    def _can_be_toggled(self) -> Self:
        if self.toggle is None:
            return self
        require_switchable(self.target, self.toggle)
        if isinstance(self.search, RateSearch):
            problem = "compares throughput, which a rate fixes: use `steps` or `ramp`"
            raise UsageError(Complaint(("toggle",), problem))
        soaked = self._soak_windows
        if self.search.probes_max <= self.toggle.steps + soaked:
            problem = f"take {self.toggle.steps} steps of search.probes_max"
            allowed = Range(most=(self.search.probes_max - 1 - soaked) // 2)
            raise UsageError(Complaint(("toggle", "pairs"), problem, self.toggle.pairs, allowed))
        warm_s, load = self.prepare.warm_s, self.load
        most_s = compute_longest_load_s(max_clients(self.search) + self.clients_beside)
        if warm_s + load.warmup_s + load.duration_s > most_s:
            problem = (
                f"with load.warmup_s and load.duration_s is more than the {most_s:g} s that a"
                " client may run: a toggle warms the server before every step"
            )
            raise UsageError(Complaint(("prepare", "warm_s"), problem, warm_s))
        return self

    @model_validator(mode="after")
    def _extension_can_be_switched(self) -> Self:
        """Refuse to switch a buffer-pool extension that the volume does not have."""
        states = self.toggle.states if self.toggle else ()
        switched = any(BUFFER_POOL_EXTENSION in state.parameters for state in states)
        volume = self._created_volume
        if switched and (volume is None or volume.read_cache_mib is None):
            problem = f"is needed to switch {BUFFER_POOL_EXTENSION}: the size of the extension"
            raise UsageError(Complaint(("target", "volume", "read_cache_mib"), problem))
        return self

    @model_validator(mode="after")
    def _credits_can_be_spent(self) -> Self:
        for number, fault in enumerate(self.faults):
            if isinstance(fault.volume, Drain) and not _has_credits(self.target):
                path = ("faults", number, "volume", "kind")
                problem = "drain spends the burst credits of a gp2 volume; this target has none"
                raise UsageError(Complaint(path, problem, fault.volume.kind))
        return self


def _has_credits(target: Target) -> bool:
    if isinstance(target, EndpointTarget | AuroraTarget):
        return False
    return limits(target.volume, service=target.service).burst_credits is not None
