"""Checks whether RDS offers a target: version, class, storage and zone."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from plimsoll import words
from plimsoll.aws import clients
from plimsoll.complaints import Range
from plimsoll.errors import UsageError
from plimsoll.model.request.descriptions import describe_volume
from plimsoll.model.request.rds_target import AuroraTarget, RdsTarget
from plimsoll.preflight.checks import Check, ask_aws, make_failed, make_passed, make_unknown
from plimsoll.targets.engine_version import resolve_rds_version
from plimsoll.targets.zones import name_rds_storage_type

if TYPE_CHECKING:
    from mypy_boto3_rds.type_defs import OrderableDBInstanceOptionTypeDef as Option

OnRds = RdsTarget | AuroraTarget
VERSION, CLASS, STORAGE, ZONE = "engine version", "instance class", "storage", "zone"
ROLE = "service-linked role of RDS"
ROLE_NAME = "AWSServiceRoleForRDS"
_MAKE_ROLE = "aws iam create-service-linked-role --aws-service-name rds.amazonaws.com"


def check_rds_target(target: OnRds, zones: Sequence[str]) -> tuple[Check, ...]:
    """Check what RDS offers in the clients' region.

    Args:
        target: The requested target.
        zones: The zones in which the deployment may place targets, in order; empty if unknown.
    """
    (version,) = ask_aws([VERSION], lambda: [_check_version(target)])
    if version.state != "passed":
        why = f"it depends on the {VERSION}"
        return version, *(make_unknown(name, why) for name in (CLASS, STORAGE, ZONE))
    rest = ask_aws((CLASS, STORAGE, ZONE), lambda: _check_orderable(target, version.detail, zones))
    name = f"{words.ENGINES[target.engine]} {version.detail}"
    of = "" if version.detail == target.engine_version else f", for {target.engine_version}"
    return version.model_copy(update={"detail": name + of}), *rest


def check_role() -> tuple[Check, ...]:
    """Check for the role with which RDS acts in the account."""

    def look() -> list[Check]:
        try:
            clients.iam().get_role(RoleName=ROLE_NAME)
        except clients.iam().exceptions.NoSuchEntityException:
            why = (
                f"there is no {ROLE_NAME} yet: RDS creates it with the account's first database,"
                " whose own creation may fail because the role is so new"
            )
            return [make_unknown(ROLE, why, _MAKE_ROLE)]
        return [make_passed(ROLE, ROLE_NAME)]

    return ask_aws([ROLE], look)


def _check_version(target: OnRds) -> Check:
    try:
        return make_passed(VERSION, resolve_rds_version(target.engine, target.engine_version))
    except UsageError as error:
        (complaint,) = error.complaints
        offered = ", ".join(complaint.allowed_words)
        return make_failed(VERSION, complaint.problem, f"target.engine_version: one of {offered}")


def _check_orderable(target: OnRds, version: str, zones: Sequence[str]) -> Iterator[Check]:
    pages = (
        clients.rds()
        .get_paginator("describe_orderable_db_instance_options")
        .paginate(
            Engine=target.engine,
            EngineVersion=version,
            DBInstanceClass=target.instance_class,
            Vpc=True,
        )
    )
    options = [option for page in pages for option in page["OrderableDBInstanceOptions"]]
    name = f"{words.ENGINES[target.engine]} {version}"
    if not options:
        region = clients.rds().meta.region_name
        problem = f"RDS has no {target.instance_class} for {name} in {region}"
        yield make_failed(
            CLASS, problem, f"target.instance_class: {_build_listing_command(target, version)}"
        )
        why = f"it depends on the {CLASS}"
        yield from (make_unknown(each, why) for each in (STORAGE, ZONE))
        return
    yield make_passed(CLASS, f"RDS offers {target.instance_class} with {name}")
    kind, field = name_rds_storage_type(target), _find_storage_field(target)
    fitting = [option for option in options if option.get("StorageType") == kind]
    if not fitting:
        types = sorted({option.get("StorageType", "") for option in options})
        problem = f"{target.instance_class} has no {kind} with {name}"
        yield make_failed(STORAGE, problem, f"{field}: one of {', '.join(types)}")
        yield make_unknown(ZONE, f"it depends on the {STORAGE}")
        return
    yield _check_storage(target, fitting[0])
    found = sorted({each["Name"] for option in fitting for each in option["AvailabilityZones"]})
    what = f"{target.instance_class} with {kind}"
    yield check_zone(what, found, zones)


def _find_storage_field(target: OnRds) -> str:
    return "target.storage" if isinstance(target, AuroraTarget) else "target.volume.type"


def _check_storage(target: OnRds, option: "Option") -> Check:
    if isinstance(target, AuroraTarget):
        return make_passed(STORAGE, f"{words.AURORA_STORAGE[target.storage]} storage")
    volume = target.volume
    asked_for = {
        "size_gib": (volume.size_gib, option.get("MinStorageSize"), option.get("MaxStorageSize")),
        "iops": (
            volume.iops,
            option.get("MinIopsPerDbInstance"),
            option.get("MaxIopsPerDbInstance"),
        ),
        "throughput_mib_s": (
            volume.throughput_mib_s,
            option.get("MinStorageThroughputPerDbInstance"),
            option.get("MaxStorageThroughputPerDbInstance"),
        ),
    }
    for field, (value, least, most) in asked_for.items():
        outside = value is not None and (
            (least is not None and value < least) or (most is not None and value > most)
        )
        if outside:
            allowed = Range(least=least, most=most)
            problem = f"RDS does not offer {field} {value:,} with {target.instance_class}"
            return make_failed(STORAGE, problem, f"target.volume.{field}: {allowed}")
    return make_passed(STORAGE, describe_volume(volume))


def check_zone(what: str, offered: Sequence[str], zones: Sequence[str]) -> Check:
    """Check whether something is offered in a zone where the deployment places targets.

    Args:
        what: The thing that is offered.
        offered: The names of the zones where it is offered.
        zones: The zones in which the deployment may place targets, in order; empty if unknown.
    """
    there = ", ".join(offered) or "no zone"
    if not zones:
        why = f"{what} is offered in {there}; the deployment's zones are not known here"
        return make_unknown(ZONE, why)
    for zone in zones:
        if zone in offered:
            return make_passed(ZONE, f"{what} is offered in {zone}")
    own = ", ".join(zones)
    problem = f"{what} is offered in {there}, and the deployment places its targets in {own}"
    to_do = "another class, or a deployment with a subnet in such a zone (network.existing)"
    return make_failed(ZONE, problem, to_do)


def _build_listing_command(target: OnRds, version: str) -> str:
    return (
        "see aws rds describe-orderable-db-instance-options"
        f" --engine {target.engine} --engine-version {version}"
        " --query 'OrderableDBInstanceOptions[].DBInstanceClass'"
    )
