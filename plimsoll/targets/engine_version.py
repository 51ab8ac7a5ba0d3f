"""The engine version that a target gets: RDS is asked when a run is submitted."""

from collections.abc import Callable, Iterable
from typing import assert_never

from botocore.exceptions import ClientError

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.databases import ManagedEngine
from plimsoll.model.rds_versions import is_major, major_of
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.model.request.request import Target

AskRds = Callable[[ManagedEngine, str], str]  # engine, requested version: resolved version
_NO_SUCH_VERSION = {"InvalidParameterValue", "InvalidParameterCombination"}


def resolve_database_version(target: Target, ask: AskRds) -> str | None:
    """Return the version that a target will have; None for an existing endpoint.

    Raises:
        UsageError: RDS does not offer the version; the error names those that it does.
    """
    match target:
        case RdsTarget() | AuroraTarget():
            return ask(target.engine, target.engine_version)
        case CassandraTarget():
            return target.version
        case EndpointTarget():
            return None
        case _:
            assert_never(target)


def resolve_rds_version(engine: ManagedEngine, asked: str) -> str:
    """Ask RDS which version it would create, in the clients' region.

    Args:
        engine: The engine.
        asked: A version, or a major version for RDS's default or else the newest of it.

    Raises:
        UsageError: RDS does not offer the version; the error names those that it does.
    """
    fitting = _filter_versions(engine, asked, _ask_version(engine, asked))
    if fitting:
        return fitting[-1]
    every = sorted(_list_versions(engine), key=_parse_version)
    if fitting := _filter_versions(engine, asked, every):
        return fitting[-1]
    majors = {version: major_of(engine, version) for version in every}
    alike = [version for version in every if majors[version] == major_of(engine, asked)]
    allowed = alike or dict.fromkeys(majors.values())
    region = clients.rds().meta.region_name
    problem = f"RDS does not offer {words.ENGINES[engine]} {asked} in {region}"
    raise UsageError(
        Complaint(("target", "engine_version"), problem, asked, tuple(reversed([*allowed])))
    )


def _ask_version(engine: ManagedEngine, asked: str) -> list[str]:
    try:
        answer = clients.rds().describe_db_engine_versions(
            Engine=engine, EngineVersion=asked, DefaultOnly=is_major(engine, asked)
        )
    except ClientError as error:
        if error.response["Error"]["Code"] in _NO_SUCH_VERSION:
            return []
        raise
    return [version["EngineVersion"] for version in answer["DBEngineVersions"]]


def _list_versions(engine: str) -> Iterable[str]:
    pages = clients.rds().get_paginator("describe_db_engine_versions").paginate(Engine=engine)
    return (version["EngineVersion"] for page in pages for version in page["DBEngineVersions"])


def _filter_versions(engine: ManagedEngine, asked: str, versions: Iterable[str]) -> list[str]:
    of_major = is_major(engine, asked)
    alike = (v for v in versions if v == asked or (of_major and major_of(engine, v) == asked))
    return sorted(alike, key=_parse_version)


def _parse_version(version: str) -> tuple[int, ...]:
    """Sort key of a version: its numbers. RDS's own 5.7.44-rds.20260521 follows 5.7.44."""
    return tuple(int(part) for part in version.replace("-rds", "").split(".") if part.isdecimal())
