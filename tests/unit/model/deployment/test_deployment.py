"""The deployment's configuration: good defaults, and errors that say what to write instead."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.deployment.deployment import DeploymentConfig, read_deployment

ENDPOINT = {
    "host": "db.example.internal",
    "port": 3306,
    "cidr": "10.20.0.0/16",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
}
KEY = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"
VPC = {
    "vpc_id": "vpc-0a1b2c3d",
    "subnet_ids": ["subnet-0a1b2c3d", "subnet-1a2b3c4d"],
    "availability_zones": ["eu-west-1a", "eu-west-1b"],
}


@pytest.mark.parametrize("nothing", [None, {}])
def test_nothing_given_is_a_deployment(nothing: dict[str, Any] | None) -> None:
    deployment = read_deployment(nothing)
    assert deployment == DeploymentConfig()
    assert deployment.metrics.kind == "none"
    assert list(deployment.teams) == ["default"]
    assert deployment.allowed_endpoints == ()


@pytest.mark.parametrize(
    ("context", "named"),
    [
        ({"metric": {"kind": "none"}}, "plimsoll.metric: Extra inputs"),
        ({"metrics": {"kind": "influx"}}, "plimsoll.metrics: Input tag 'influx'"),
        ({"metrics": {"kind": "influxdb", "size_gib": 5}}, "plimsoll.metrics.influxdb.size_gib"),
        ({"regions": ["Ireland"]}, "plimsoll.regions.0"),
        ({"alarm_addresses": ["dba"]}, "plimsoll.alarm_addresses.0"),
        ({"teams": {}}, "plimsoll.teams"),
        ({"teams": {"dba": {"concurrent_runs": 0}}}, "plimsoll.teams.dba.concurrent_runs"),
        ({"teams": {"DBA!": {}}}, "plimsoll.teams.DBA!"),
        ({"reserved_load_clients": 0}, "plimsoll.reserved_load_clients"),
        ({"network": {"cidr": "10.0.0.0/28"}}, "from /16 to /24, not /28"),
        ({"network": {"existing": {**VPC, "vpc_id": "main"}}}, "network.existing.vpc_id"),
        (
            {"network": {"existing": {**VPC, "availability_zones": ["eu-west-1a"] * 2}}},
            "at least two availability zones",
        ),
        (
            {
                "network": {
                    "existing": {**VPC, "subnet_ids": [*VPC["subnet_ids"], "subnet-2a2b3c4d"]}
                }
            },
            "for each of `subnet_ids`",
        ),
        (
            {"network": {"existing": {**VPC, "s3_prefix_list_id": "s3"}}},
            "network.existing.s3_prefix_list_id",
        ),
        ({"allowed_endpoints": [{**ENDPOINT, "cidr": "0.0.0.0/0"}]}, "too wide"),
        ({"allowed_endpoints": [{**ENDPOINT, "port": 0}]}, "allowed_endpoints.0.port"),
        ({"allowed_endpoints": ["db:3306"]}, "allowed_endpoints.0"),
        (
            {"network": {"existing": VPC, "availability_zones": ["eu-west-1a", "eu-west-1b"]}},
            "`existing` names its own",
        ),
        ({"network": {"availability_zones": ["eu-west-1a"]}}, "at least two different"),
        ({"network": {"availability_zones": ["eu-west-1a"] * 2}}, "at least two different"),
        (
            {
                "network": {"availability_zones": ["eu-west-1a", "eu-west-1b"]},
                "regions": ["eu-west-1", "us-east-1"],
            },
            "are of one region",
        ),
        ({"kms_key_arn": "alias/plimsoll"}, "plimsoll.kms_key_arn"),
        ({"kms_key_arn": KEY, "regions": ["eu-west-1", "us-east-1"]}, "belongs to one region"),
        ({"tags": {"aws:owner": "me"}}, "`aws:` and `plimsoll:` are reserved"),
        ({"tags": {"Plimsoll:team": "me"}}, "`aws:` and `plimsoll:` are reserved"),
        ({"tags": {"owner": "me", "Owner": "you"}}, "differ in case alone"),
        ({"tags": {"owner": ""}}, "plimsoll.tags.owner: String should have at least 1"),
        ({"tags": {"owner": "a" * 257}}, "plimsoll.tags.owner: String should have at most 256"),
        ({"tags": {"owner!": "me"}}, "plimsoll.tags.owner!"),
        ({"tags": {f"tag-{n}": "x" for n in range(41)}}, "plimsoll.tags: "),
    ],
)
def test_a_wrong_value_is_named_with_its_path(context: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_deployment(context)
    assert named in str(caught.value)
    assert str(caught.value).startswith("cdk.json: plimsoll")


def teams_of(number: int, members: int) -> dict[str, Any]:
    return {
        f"team-{n}": {
            "principals": [
                f"arn:aws:iam::123456789012:role/teams/team-{n}-member-{m}" for m in range(members)
            ]
        }
        for n in range(number)
    }


def test_a_hundred_teams_of_ten_members_are_a_configuration() -> None:
    assert len(read_deployment({"teams": teams_of(100, 10)}).teams) == 100


def test_an_update_of_cloudformation_holds_so_much_and_no_more() -> None:
    with pytest.raises(UsageError, match=r"1\d\d,\d{3} characters together .* at most 90,000"):
        read_deployment({"teams": teams_of(100, 20)})


def test_cassandra_in_an_existing_vpc_needs_its_way_to_s3_and_only_there() -> None:
    with pytest.raises(UsageError, match=r"needs `network\.existing\.s3_prefix_list_id`"):
        read_deployment({"network": {"existing": VPC}, "cassandra": {}})
    with_list = {**VPC, "s3_prefix_list_id": "pl-0a1b2c3d"}
    assert read_deployment({"network": {"existing": with_list}, "cassandra": {}}).cassandra
    assert read_deployment({"network": {"existing": VPC}}).network.existing
    assert read_deployment({"cassandra": {}}).cassandra


def test_every_wrong_value_is_named_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        read_deployment({"regions": ["Ireland"], "results_days": 0})
    assert len(str(caught.value).splitlines()) == 2


def names(model: type[Model]) -> Iterator[str]:
    for name, field in model.model_fields.items():
        yield name
        waiting = [field.annotation]
        while waiting:
            part = waiting.pop()
            if isinstance(part, type) and issubclass(part, Model):
                yield from names(part)
            waiting += get_args(part)


def test_every_value_is_explained_to_those_who_deploy() -> None:
    page = (Path(__file__).parents[4] / "docs" / "configuration.md").read_text()
    found = set(names(DeploymentConfig))
    assert {"regions", "subnet_ids", "secret_arn", "magnetic_days", "archive"} <= found
    assert {name for name in found if f"`{name}" not in page and f".{name}`" not in page} == set()
