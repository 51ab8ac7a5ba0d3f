"""Checks whether EC2 offers a Cassandra target's instance, and where."""

from collections.abc import Iterable, Sequence

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.preflight.checks import Check, ask_aws, make_failed, make_passed, make_unknown
from plimsoll.preflight.rds_checks import ZONE, check_zone
from plimsoll.targets.zones import spread_nodes

TYPE = "instance type"


def check_cassandra_target(target: CassandraTarget, zones: Sequence[str]) -> tuple[Check, ...]:
    """Check what EC2 offers in the clients' region.

    Args:
        target: The requested target.
        zones: The zones in which the deployment may place targets; empty if unknown.
    """
    name = target.instance_type

    def look() -> list[Check]:
        pages = (
            clients.ec2()
            .get_paginator("describe_instance_type_offerings")
            .paginate(
                LocationType="availability-zone",
                Filters=[{"Name": "instance-type", "Values": [name]}],
            )
        )
        offered = sorted(one["Location"] for page in pages for one in page["InstanceTypeOfferings"])
        if not offered:
            problem = f"EC2 has no {name} in {clients.ec2().meta.region_name}"
            to_do = "target.instance_type: see aws ec2 describe-instance-types"
            return [
                make_failed(TYPE, problem, to_do),
                make_unknown(ZONE, f"it depends on the {TYPE}"),
            ]
        return [make_passed(TYPE, f"{name} can be had"), _check_zone(target, offered, zones)]

    return ask_aws((TYPE, ZONE), look)


def _check_zone(target: CassandraTarget, offered: Sequence[str], zones: Sequence[str]) -> Check:
    """Check where the instances can run; for a cluster, how many in each zone."""
    check = check_zone(target.instance_type, offered, zones)
    if target.nodes == 1 or check.state != "passed":
        return check
    used = spread_nodes(target.nodes, [zone for zone in zones if zone in offered])
    each = words.format_count(target.nodes // len(used), "node")
    where = f"{each} in {used[0]}" if len(used) == 1 else f"{each} in each of {', '.join(used)}"
    return make_passed(ZONE, f"{check.detail}; {where}")


def read_vcpus(types: Iterable[str]) -> dict[str, int]:
    """Ask EC2 for the vCPUs of these instance types; unknown types are missing in the result."""
    pages = (
        clients.ec2()
        .get_paginator("describe_instance_types")
        .paginate(Filters=[{"Name": "instance-type", "Values": sorted(set(types))}])
    )
    return {
        one["InstanceType"]: one["VCpuInfo"]["DefaultVCpus"]
        for page in pages
        for one in page["InstanceTypes"]
    }


def count_running_vcpus(families: frozenset[str]) -> int:
    """Count the vCPUs of the account's running or starting instances of some families."""
    pages = (
        clients.ec2()
        .get_paginator("describe_instances")
        .paginate(Filters=[{"Name": "instance-state-name", "Values": ["pending", "running"]}])
    )
    return sum(
        one["CpuOptions"]["CoreCount"] * one["CpuOptions"]["ThreadsPerCore"]
        for page in pages
        for reservation in page["Reservations"]
        for one in reservation["Instances"]
        if one.get("CpuOptions") and find_instance_family(one["InstanceType"]) in families
    )


def find_instance_family(instance_type: str) -> str:
    """Return an instance type's family, its letters: r for r5d.large, im for im4gn.large."""
    head = instance_type.partition(".")[0]
    digits = next((at for at, letter in enumerate(head) if letter.isdigit()), len(head))
    return head[:digits]
