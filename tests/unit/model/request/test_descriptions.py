"""A target in words: one form, wherever it is shown."""

import pytest

from plimsoll.model.aws.volumes import Volume
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Target


def test_a_target_is_told_with_the_version_made_and_with_what_stands_in_for_it() -> None:
    asked = RdsTarget(
        engine="mysql",
        engine_version="8.4",
        instance_class="db.m5.large",
        volume=Volume(type="gp2", size_gib=100),
    )
    place = "on db.m5.large, gp2 100 GiB"
    assert describe_target(asked, version="8.4.10") == f"MySQL 8.4.10 {place}"
    stood_in = describe_target(asked, version="8.4", stand_in="11.4.5-MariaDB")
    assert stood_in == f"MariaDB 11.4.5 on this machine, for MySQL 8.4 {place}"
    own = describe_target(asked, stand_in="8.4.6")
    assert own == f"MySQL 8.4.6 on this machine, for MySQL 8.4 {place}"
    of_postgres = asked.model_copy(update={"engine": "postgres", "engine_version": "18"})
    named = describe_target(of_postgres, stand_in="PostgreSQL 18.6")  # it names itself
    assert named.startswith("PostgreSQL 18.6 on this machine, for PostgreSQL 18 on ")


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (
            RdsTarget(
                kind="rds",
                engine="mariadb",
                engine_version="11.4.5",
                instance_class="db.m5.large",
                volume=Volume(type="io1", size_gib=100, iops=2000),
            ),
            "MariaDB 11.4.5 on db.m5.large, io1 100 GiB, 2,000 IOPS",
        ),
        (
            CassandraTarget(
                kind="cassandra",
                instance_type="r5.large",
                volume=Volume(type="gp3", size_gib=1000, iops=4000, throughput_mib_s=1000),
            ),
            "Cassandra 5.0.8 on r5.large, gp3 1,000 GiB, 4,000 IOPS, 1,000 MiB/s",
        ),
        (
            EndpointTarget(
                kind="endpoint",
                engine="mysql",
                host="db.lan",
                secret_arn="arn:aws:secretsmanager:us-east-1:1:secret:x",
            ),
            "MySQL at db.lan:3306",
        ),
        (
            EndpointTarget(
                kind="endpoint", engine="postgres", host="db.lan", statement_mode="simple"
            ),
            "PostgreSQL at db.lan:5432, statements sent as text",
        ),
    ],
)
def test_a_target_is_named_the_same_everywhere(target: Target, expected: str) -> None:
    assert describe_target(target) == expected
