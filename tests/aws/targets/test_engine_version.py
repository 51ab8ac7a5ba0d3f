"""RDS is asked which version it makes of the one asked for; its answers are recorded ones."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.errors import UsageError
from plimsoll.model.aws.volumes import Volume
from plimsoll.model.databases import ManagedEngine
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.targets.engine_version import resolve_database_version, resolve_rds_version

pytestmark = pytest.mark.usefixtures("account")


@pytest.mark.parametrize(
    ("engine", "asked", "made"),
    [
        ("mariadb", "11.4", "11.4.10"),
        ("mariadb", "10.11", "10.11.16"),
        ("mysql", "8.4", "8.4.8"),  # RDS's default, which is not its newest
        ("mysql", "8.4.10", "8.4.10"),
        ("postgres", "18", "18.3"),
        ("postgres", "16.14", "16.14"),
        ("aurora-postgresql", "17", "17.7"),
        ("aurora-mysql", "8.0", "8.0.mysql_aurora.3.10.3"),
        ("aurora-mysql", "8.0.mysql_aurora.3.10.4", "8.0.mysql_aurora.3.10.4"),
        ("mysql", "5.7", "5.7.44-rds.20260521"),
    ],
)
def test_a_major_version_is_resolved_and_a_whole_one_stays(
    engine: ManagedEngine, asked: str, made: str
) -> None:
    assert resolve_rds_version(engine, asked) == made


@pytest.mark.parametrize(
    ("engine", "asked", "allowed"),
    [
        ("mariadb", "11.4.99", ("11.4.10",)),
        ("mysql", "8.4.3", ("8.4.10", "8.4.9", "8.4.8", "8.4.7", "8.4.6", "8.4.5")),
        ("mariadb", "99.1", ("11.8", "11.4", "10.11")),
        ("postgres", "17.4", ("17.10", "17.9")),
        ("postgres", "19", ("18", "17", "16")),
        (
            "aurora-mysql",
            "8.0.mysql_aurora.3.09.0",
            ("8.0.mysql_aurora.3.10.4", "8.0.mysql_aurora.3.10.3"),
        ),
    ],
)
def test_what_rds_does_not_offer_is_refused_with_what_it_does(
    engine: ManagedEngine, asked: str, allowed: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match=f"RDS does not offer .* {asked} in eu-west-1") as refused:
        resolve_rds_version(engine, asked)
    (complaint,) = refused.value.complaints
    assert (complaint.field, complaint.value) == ("target.engine_version", asked)
    assert complaint.allowed == allowed


def refuse_by(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have RDS answer a version that is asked for by an error, and list all as ever."""
    answer = clients.rds().describe_db_engine_versions

    def describe(**asked: Any) -> Any:
        if "EngineVersion" in asked:
            raise ClientError(
                {"Error": {"Code": code, "Message": "no"}}, "DescribeDBEngineVersions"
            )
        return answer(**asked)

    monkeypatch.setattr(clients.rds(), "describe_db_engine_versions", describe)


def test_without_a_default_it_is_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_by("InvalidParameterCombination", monkeypatch)
    assert resolve_rds_version("mysql", "8.4") == "8.4.10"


def test_other_errors_are_not_taken_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_by("AccessDenied", monkeypatch)
    with pytest.raises(ClientError, match="AccessDenied"):
        resolve_rds_version("mysql", "8.4")


def test_other_targets_are_not_asked_about() -> None:
    def nobody(engine: ManagedEngine, version: str) -> str:
        raise AssertionError((engine, version))

    cassandra = CassandraTarget(
        kind="cassandra", instance_type="r5.large", volume=Volume(type="gp3", size_gib=100)
    )
    assert resolve_database_version(cassandra, nobody) == "5.0.8"
    endpoint = EndpointTarget(
        kind="endpoint", engine="mysql", host="db", secret_arn="arn:aws:secretsmanager:x"
    )
    assert resolve_database_version(endpoint, nobody) is None
