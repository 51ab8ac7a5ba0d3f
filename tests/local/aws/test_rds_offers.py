"""The stand-in's RDS says which versions it stands in for, in the form of the real one's answer.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBEngineVersions.html
"""

from typing import Any

import pytest

from plimsoll.local.twin import LocalTwin


@pytest.mark.parametrize(
    ("asked", "versions"),
    [
        ({"Engine": "mariadb", "EngineVersion": "11.4", "DefaultOnly": True}, ["11.4"]),
        ({"Engine": "mysql", "EngineVersion": "8.4.6"}, ["8.4.6"]),
        ({"Engine": "mysql", "EngineVersion": "99.1"}, []),
        ({"Engine": "mysql"}, ["8.4", "8.0", "5.7"]),
        ({"Engine": "postgres"}, ["18", "17", "16"]),
        ({"Engine": "oracle-ee"}, []),
    ],
)
def test_versions_of_a_major_that_this_machine_stands_in_for(
    twin: LocalTwin, asked: dict[str, Any], versions: list[str]
) -> None:
    answer = twin.client("rds").describe_db_engine_versions(**asked)["DBEngineVersions"]
    assert [one["EngineVersion"] for one in answer] == versions
    assert {one["Engine"] for one in answer} <= {asked["Engine"]}
    for one in answer:
        assert one["DBParameterGroupFamily"] == f"{one['Engine']}{one['MajorEngineVersion']}"
