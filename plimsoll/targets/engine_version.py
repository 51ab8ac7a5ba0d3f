"""Which version of its engine a target gets: asked of RDS when a run is submitted."""

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

AskRds = Callable[[ManagedEngine, str], str]  # engine and version asked for: the version made
_NO_SUCH_VERSION = {"InvalidParameterValue", "InvalidParameterCombination"}


def database_version(target: Target, ask: AskRds) -> str | None:
    """Give the version that a target will be made of; None where none is made.

    Raises:
        UsageError: RDS does not offer what is asked for; names what it does.
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


def rds_version(engine: ManagedEngine, asked: str) -> str:
    """Ask RDS for the version that it makes of what is asked for, in the clients' region.

    Args:
        engine: The engine.
        asked: A version, or a major version: then RDS's default of it, else the newest.

    Raises:
        UsageError: RDS does not offer it; names what it does.
    """
    fitting = _fitting(engine, asked, _answered(engine, asked))
    if fitting:
        return fitting[-1]
    every = sorted(_offered(engine), key=_order)
    if fitting := _fitting(engine, asked, every):
        return fitting[-1]
    majors = {version: major_of(engine, version) for version in every}
    alike = [version for version in every if majors[version] == major_of(engine, asked)]
    allowed = alike or dict.fromkeys(majors.values())
    problem = f"RDS does not offer {words.ENGINES[engine]} {asked} in {_region()}"
    raise UsageError(
        Complaint(("target", "engine_version"), problem, asked, tuple(reversed([*allowed])))
    )


def _answered(engine: ManagedEngine, asked: str) -> list[str]:
    try:
        answer = clients.rds().describe_db_engine_versions(
            Engine=engine, EngineVersion=asked, DefaultOnly=is_major(engine, asked)
        )
    except ClientError as error:
        if error.response["Error"]["Code"] in _NO_SUCH_VERSION:
            return []
        raise
    return [version["EngineVersion"] for version in answer["DBEngineVersions"]]


def _offered(engine: str) -> Iterable[str]:
    pages = clients.rds().get_paginator("describe_db_engine_versions").paginate(Engine=engine)
    return (version["EngineVersion"] for page in pages for version in page["DBEngineVersions"])


def _fitting(engine: ManagedEngine, asked: str, versions: Iterable[str]) -> list[str]:
    of_major = is_major(engine, asked)
    alike = (v for v in versions if v == asked or (of_major and major_of(engine, v) == asked))
    return sorted(alike, key=_order)


def _order(version: str) -> tuple[int, ...]:
    """Order versions by their numbers; 5.7.44-rds.20260521 is one that RDS made of 5.7.44."""
    return tuple(int(part) for part in version.replace("-rds", "").split(".") if part.isdecimal())


def _region() -> str:
    return clients.rds().meta.region_name
