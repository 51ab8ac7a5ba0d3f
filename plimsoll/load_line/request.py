"""What a search is asked for, written as the request that its result keeps."""

import os
import re
from collections.abc import Sequence

from pydantic import ValidationError

from plimsoll.complaints import Complaint
from plimsoll.errors import OptionError, UsageError
from plimsoll.load_line.dataset import Found
from plimsoll.load_line.options import PASSWORD, USER, FindOptions
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.clouds.volume_rules import find_cloud
from plimsoll.model.databases import Engine, find_protocol
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.request.dsn import TlsMode, authorities_of_host, make_tls
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.load_request import Load, Preparation, WorkloadChoice
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, RateSearch, Search
from plimsoll.model.validation import describe_first_error, validate
from plimsoll.workload import Workload

CLIENTS_MOST = 4  # threads of this process, each with a processor of its own
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)
FIRST_SHARE = 1 / 20  # a search over rates begins at this share of the highest rate


def read_volume(text: str) -> Volume:
    """Read the volume of `--volume`: `type=essd,level=PL1,size_gib=400`.

    The cloud follows from the type.

    Raises:
        OptionError: It is not such a list of fields, or its cloud has no such volume.
    """
    fields: dict[str, object] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals:
            problem = f"{part!r} is not FIELD=VALUE: write type=gp3,size_gib=400"
            raise OptionError(Complaint(("volume",), problem))
        if name in fields:
            raise OptionError(Complaint(("volume",), f"{name} is given twice"))
        fields[name] = int(value) if _WHOLE.fullmatch(value) else {"true": True}.get(value, value)
    fields.setdefault("cloud", find_cloud(str(fields.get("type"))))
    try:
        return validate(Volume, fields)
    except UsageError as error:
        raise OptionError(*(Complaint(("volume",), str(one)) for one in error.complaints)) from None


def describe_endpoint(
    engine: Engine,
    target: EngineTarget,
    volume: Volume | None = None,
    *,
    allow_writes: bool = False,
    stop_if: Sequence[str] = (),
) -> EndpointTarget:
    """Describe a database without its credentials.

    Raises:
        OptionError: The database cannot stand on such a volume.
        UsageError: No request can name such a host or database.
    """
    tls: TlsMode = "verify"
    if target.tls is None or not target.tls.verify:
        tls = "off" if target.tls is None else "require"
    fields = {
        "kind": "endpoint",
        "engine": engine,
        "host": target.host,
        "port": target.port,
        "database": target.database,
        "tls": tls,
        "statement_mode": target.statement_mode,
        "allow_md5": target.allow_md5,
        "allow_writes": allow_writes,
        "stop_if": stop_if,
        "volume": volume,
    }
    try:
        return validate(EndpointTarget, fields)
    except UsageError as error:
        if error.complaints[0].path[:1] == ("volume",):
            raise OptionError(*error.complaints) from None
        raise error.within("DSN") from None


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
        protocol=find_protocol(target.engine),
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


def choose_search(options: FindOptions) -> Search:
    """Choose the loads to try.

    Raises:
        OptionError: A search over rates has no highest rate.
    """
    effort, connections_max = options.effort, options.max_connections
    clients = min(CLIENTS_MOST, os.cpu_count() or 1, connections_max)
    if options.strategy == "ramp":
        return RampSearch(
            connections_max=connections_max,
            clients_max=clients,
            factor=effort.factor,
            resolution=effort.resolution,
        )
    if options.max_rate is None:
        remedies = (("max_rate", "gives it"),)
        raise OptionError(
            Complaint(("strategy",), "rate needs the highest rate to try", remedies=remedies)
        )
    return RateSearch(
        rate_first_ops_per_second=options.max_rate * FIRST_SHARE,
        rate_max_ops_per_second=options.max_rate,
        clients_max=clients,
        connections_per_client=connections_max // clients,
        factor=effort.factor,
        resolution=effort.resolution,
    )


def write_search_request(
    options: FindOptions,
    endpoint: EndpointTarget,
    found: Found,
    workload: Workload,
    *,
    built_in: bool,
    rules: Rules,
    expect: tuple[str, ...] = (),
) -> Request:
    """Write a search as a run's request.

    Args:
        options: The options of the search.
        endpoint: The database.
        found: The rows present.
        workload: The workload.
        built_in: Whether the workload comes with Plimsoll.
        rules: The limits, and the latency statistic that they apply to.
        expect: The rules that the result is checked against.

    Raises:
        UsageError: The options do not go together. Names the field of the request.
    """
    effort = options.effort
    try:
        return Request(
            name="find",
            target=endpoint,
            workload=WorkloadChoice(
                name=workload.name if built_in else None,
                definition=None if built_in else workload.document.value,
                records=found.compiled.records,
                parameters=found.given,
            ),
            load=Load(
                warmup_s=effort.warmup_s if options.warmup_s is None else options.warmup_s,
                duration_s=effort.duration_s if options.duration_s is None else options.duration_s,
                recovery_max_s=effort.recovery_max_s,
            ),
            prepare=Preparation(warm_s=options.warm_s, warm_max_s=options.warm_s),
            search=choose_search(options),
            limits=rules.model_copy(update={"confirmation": effort.confirmation}),
            expect=expect,
            time_limit_s=options.time_limit_s,
        )
    except ValidationError as error:
        raise UsageError(describe_first_error(error)) from None
