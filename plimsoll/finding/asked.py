"""What `plimsoll find` asks for, as the request that its result keeps."""

import os
from dataclasses import dataclass
from typing import Literal

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Confirmation, Rules
from plimsoll.model.databases import Engine, protocol_of_engine
from plimsoll.model.engine import EngineTarget
from plimsoll.model.request import EndpointTarget, Load, Preparation, Request, WorkloadChoice
from plimsoll.model.search_request import RampSearch, RateSearch, Search
from plimsoll.model.tls import TlsMode, authorities, tls_towards
from plimsoll.workload import Workload

USER, PASSWORD = "PLIMSOLL_USER", "PLIMSOLL_PASSWORD"
CLIENTS_MOST = 4  # threads of this process, of one processor each
FIRST_SHARE = 1 / 20  # of the highest rate: where a search over rates begins


@dataclass(frozen=True)
class Effort:
    """How much time a search takes for how sure an answer.

    Attributes:
        warmup_s: Of each step.
        duration_s: Of each step's window.
        factor: Between one step's load and the next one's.
        resolution: Of the bracket.
        confirmation: Of the answer.
        recovery_max_s: For the target to recover from an overload, at most.
    """

    warmup_s: float
    duration_s: float
    factor: float
    resolution: float
    confirmation: Confirmation
    recovery_max_s: float = 30.0


USUAL = Effort(1.0, 5.0, 1.5, 0.05, Confirmation())
QUICK = Effort(1.0, 2.0, 2.0, 0.15, Confirmation(least=3, most=5, precision=0.1))


def endpoint(engine: Engine, target: EngineTarget) -> EndpointTarget:
    """Describe a database without what opens it."""
    tls: TlsMode = "verify"
    if target.tls is None or not target.tls.verify:
        tls = "off" if target.tls is None else "require"
    return EndpointTarget(
        kind="endpoint",
        engine=engine,
        host=target.host,
        port=target.port,
        database=target.database,
        tls=tls,
    )


def opened(target: EndpointTarget) -> EngineTarget:
    """Add what opens a database, from the environment.

    Raises:
        UsageError: The environment lacks it.
    """
    user = os.environ.get(USER)
    if user is None and target.engine != "cassandra":
        raise UsageError(
            f"target: who logs in to {target.host}:{target.port}? Set {USER} and {PASSWORD}"
        )
    return EngineTarget(
        protocol=protocol_of_engine(target.engine),
        host=target.host,
        port=target.port,
        user=user or "",
        password=os.environ.get(PASSWORD, ""),
        database=target.database,
        tls=tls_towards(target.tls, authorities(target.host)),
    )


def search_of(
    effort: Effort,
    *,
    strategy: Literal["ramp", "rate"],
    connections_max: int,
    rate_max: float | None,
) -> Search:
    """Choose the loads that are tried.

    Raises:
        UsageError: A search over rates has no highest one.
    """
    clients = min(CLIENTS_MOST, os.cpu_count() or 1, connections_max)
    if strategy == "ramp":
        return RampSearch(
            connections_max=connections_max,
            clients_max=clients,
            factor=effort.factor,
            resolution=effort.resolution,
        )
    if rate_max is None:
        raise UsageError("--strategy rate: needs --max-rate, the highest rate that is tried")
    return RateSearch(
        rate_first_ops_per_second=rate_max * FIRST_SHARE,
        rate_max_ops_per_second=rate_max,
        clients_max=clients,
        connections_per_client=connections_max // clients,
        factor=effort.factor,
        resolution=effort.resolution,
    )


def request_of(
    target: EndpointTarget,
    workload: Workload,
    *,
    built_in: bool,
    records: int,
    parameters: dict[str, Scalar],
    search: Search,
    load: Load,
    warm_s: float,
    rules: Rules,
    time_limit_s: int,
) -> Request:
    """Write down what is asked for, as a run's request."""
    choice = WorkloadChoice(
        name=workload.name if built_in else None,
        definition=None if built_in else workload.document.value,
        records=records,
        parameters=parameters,
    )
    return Request(
        name="find",
        target=target,
        workload=choice,
        load=load,
        prepare=Preparation(warm_s=warm_s, warm_max_s=warm_s),
        search=search,
        limits=rules,
        time_limit_s=time_limit_s,
    )
