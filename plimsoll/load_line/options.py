"""The options of `plimsoll find`, and the request that its result keeps.

Also the limits and stop rules that people write on a command line: `read=5ms`, `p99 > 200ms`.
"""

import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import ValidationError

from plimsoll import words
from plimsoll.complaints import Complaint, Scalar, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.load_line.dataset import Found
from plimsoll.model.databases import Engine, protocol_of_engine
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Confirmation, Rules
from plimsoll.model.request.dsn import TlsMode, authorities_of_host, make_tls
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.load_request import Load, Preparation, WorkloadChoice
from plimsoll.model.request.quantities import parse_latency_us
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, RateSearch, Search
from plimsoll.workload import Workload

USER, PASSWORD = "PLIMSOLL_USER", "PLIMSOLL_PASSWORD"
CLIENTS_MOST = 4  # threads of this process, each with a processor of its own
FIRST_SHARE = 1 / 20  # a search over rates begins at this share of the highest rate


@dataclass(frozen=True)
class Effort:
    """The trade between a search's duration and the certainty of its answer.

    Attributes:
        warmup_s: The warm-up of each step.
        duration_s: The window of each step.
        factor: The ratio between the loads of successive steps.
        resolution: The relative width of the bracket at which the search ends.
        confirmation: The repetitions that confirm the answer.
        recovery_max_s: The longest wait for the target to recover from an overload.
    """

    warmup_s: float
    duration_s: float
    factor: float
    resolution: float
    confirmation: Confirmation
    recovery_max_s: float = 30.0


USUAL = Effort(1.0, 5.0, 1.5, 0.05, Confirmation())
QUICK = Effort(1.0, 2.0, 2.0, 0.15, Confirmation(least=3, most=5, precision=0.1))


def describe_endpoint(engine: Engine, target: EngineTarget) -> EndpointTarget:
    """Describe a database without its credentials."""
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
        statement_mode=target.statement_mode,
        allow_md5=target.allow_md5,
    )


def add_credentials(target: EndpointTarget) -> EngineTarget:
    """Add the credentials from the environment to a database's description.

    Raises:
        UsageError: The environment lacks the user.
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
        tls=make_tls(target.tls, authorities_of_host(target.host)),
        statement_mode=target.statement_mode,
        allow_md5=target.allow_md5,
        nodes=target.nodes,
    )


def choose_search(
    effort: Effort,
    *,
    strategy: Literal["ramp", "rate"],
    connections_max: int,
    rate_max: float | None,
) -> Search:
    """Choose the loads to try.

    Raises:
        UsageError: A search over rates has no highest rate.
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


def write_request(
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
    """Write what is asked for as a run's request."""
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


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of a search that runs on this machine.

    Attributes:
        strategy: `ramp` raises the number of connections step by step; `rate` raises the rate at
            which operations fall due.
        max_connections: The highest number of connections; 1 to 20,000.
        max_rate: The highest rate to try, in operations per second. With `ramp`, a second with
            more operations ends the load; None if there is no such limit.
        warmup_s: The warm-up before each window, 0 to 600; None for the default.
        duration_s: The length of each window, above 0 to 600; None for the default.
        warm_s: The load before the first step, which fills the caches; 0 to 600.
        time_limit_s: The time after which no further step begins; 10 to 86,400.
        quick: Whether to use shorter windows, wider steps and fewer repetitions.
    """

    strategy: Literal["ramp", "rate"] = "ramp"
    max_connections: int = 256
    max_rate: float | None = None
    warmup_s: float | None = None
    duration_s: float | None = None
    warm_s: float = 5.0
    time_limit_s: int = 900
    quick: bool = False


def write_search_request(
    options: SearchOptions,
    engine: Engine,
    target: EngineTarget,
    found: Found,
    workload: Workload,
    *,
    built_in: bool,
    rules: Rules,
) -> Request:
    """Write a search as a run's request.

    Raises:
        UsageError: An option is not valid. Names the field.
    """
    effort = QUICK if options.quick else USUAL
    try:
        return write_request(
            describe_endpoint(engine, target),
            workload,
            built_in=built_in,
            records=found.compiled.records,
            parameters=found.given,
            search=choose_search(
                effort,
                strategy=options.strategy,
                connections_max=options.max_connections,
                rate_max=options.max_rate,
            ),
            load=Load(
                warmup_s=effort.warmup_s if options.warmup_s is None else options.warmup_s,
                duration_s=effort.duration_s if options.duration_s is None else options.duration_s,
                recovery_max_s=effort.recovery_max_s,
            ),
            warm_s=options.warm_s,
            rules=rules.model_copy(update={"confirmation": effort.confirmation}),
            time_limit_s=options.time_limit_s,
        )
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UsageError(f"{where}: {first['msg']}" if where else first["msg"]) from None


# Limits and stop rules on a command line: `read=5ms`, `p99 > 200ms`, `errors > 1%`.


_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%", re.ASCII)
_RULE = re.compile(r"(p50|p99|max|errors)(?:\.([\w-]{1,64}))?(?: ?> ?(.{1,24}))?")
RULES = "'p99 > 200ms', 'p99.read > 200ms' (or p50, max), errors, 'errors > 1%'"
Kind = Literal["p50", "p99", "max", "errors", "rate"]


def parse_limits_us(given: Iterable[str], operations: Collection[str]) -> dict[str, float]:
    """Parse `--limit` options: `read=5ms` for one operation, `5ms` for all without their own.

    Raises:
        UsageError: A text is no limit, or names an operation that the workload does not have.
    """
    limits: dict[str, float] = {}
    for_all: float | None = None
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals:
            for_all = parse_latency_us(value, "--limit")
        elif name in limits:
            raise UsageError(f"--limit: {name} is there twice")
        elif name not in operations:
            raise UsageError(
                complain_of_unknown("operation", name, operations, ("--limit",), value=name)
            )
        else:
            limits[name] = parse_latency_us(value, f"--limit {name}")
    others = {} if for_all is None else dict.fromkeys(operations, for_all)
    return {**others, **limits}


@dataclass(frozen=True)
class StopRule:
    """A condition that ends the load at once.

    Attributes:
        text: The rule as it was written, with its option.
        operation: The operation that it applies to; None for each.
        kind: What it looks at in a second: a latency, the errors, or the successful operations.
        most: The highest allowed value: microseconds, the share that may fail, or operations.
    """

    text: str
    operation: str | None
    kind: Kind
    most: float

    @classmethod
    def parse(cls, text: str, operations: Collection[str]) -> "StopRule":
        """Parse a rule.

        Raises:
            UsageError: The text is no rule, or names an operation that the workload does not have.
        """
        match = _RULE.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"--stop-if: {text!r} is no rule: {RULES}")
        kind, operation, most = match.groups()
        if operation is not None and operation not in operations:
            path = ("--stop-if",)
            raise UsageError(
                complain_of_unknown("operation", operation, operations, path, value=operation)
            )
        if kind == "errors":
            return cls(
                f"--stop-if {text!r}", operation, "errors", _parse_share(most) if most else 0.0
            )
        if most is None:
            raise UsageError(f"--stop-if: {text!r} has no limit: {RULES}")
        return cls(
            f"--stop-if {text!r}",
            operation,
            cast("Kind", kind),
            parse_latency_us(most, "--stop-if"),
        )

    @classmethod
    def of_rate(cls, most: float) -> "StopRule":
        """Create the rule that limits the successful operations per second."""
        return cls(f"--max-rate {most:g}", None, "rate", most)

    def broken_by(self, second: Sequence[SecondReport]) -> str | None:
        """Describe how one client's second breaks the rule; None if it does not."""
        mine = [part for part in second if self.operation in (None, part.operation)]
        succeeded = sum(part.succeeded for part in mine)
        if self.kind == "rate":
            done_words = f"{succeeded:,} operations were done within a second"
            return done_words if succeeded > self.most else None
        if self.kind == "errors":
            failed = sum(part.errors for part in mine)
            done = failed + succeeded
            if not failed or failed <= self.most * done:
                return None
            return f"{failed:,} of {done:,} operations failed within a second"
        for part in mine:
            us = getattr(part, f"{self.kind}_us")
            if us is not None and us > self.most:
                name = words.statistic(self.kind)
                return f"{part.operation} {name} was {words.latency(us)} within a second"
        return None


def _parse_share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    if match is None or float(match[1]) > 100:
        raise UsageError(Complaint(("--stop-if",), f"{text!r} is no share: write errors > 1%"))
    return float(match[1]) / 100
