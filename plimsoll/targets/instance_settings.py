"""Setting the parameters of an existing RDS instance, and restarting it with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from botocore.exceptions import ClientError

from plimsoll.aws import clients
from plimsoll.errors import StepError

# states that an instance does not leave by itself:
# docs.aws.amazon.com/AmazonRDS/latest/UserGuide/accessing-monitoring.html (read 2026-11)
HOPELESS = frozenset(
    {
        "failed",
        "inaccessible-encryption-credentials",
        "incompatible-network",
        "incompatible-option-group",
        "incompatible-parameters",
        "incompatible-restore",
        "restore-error",
        "storage-full",
    }
)
# docs.aws.amazon.com/AmazonRDS/latest/APIReference/CommonErrors.html (read 2026-11)
_REFUSED = frozenset({"InvalidParameterValue", "InvalidParameterCombination"})


@dataclass(frozen=True)
class Instance:
    """An RDS instance's state.

    Attributes:
        status: The status, such as available or rebooting.
        group: The name of its parameter group.
        applied: How far the group's parameters are applied: in-sync, applying, pending-reboot.
    """

    status: str
    group: str
    applied: str


def read_instance(identifier: str) -> Instance:
    """Read an instance's state.

    Raises:
        StepError: It is in a state that it does not leave by itself.
    """
    answer = clients.rds().describe_db_instances(DBInstanceIdentifier=identifier)
    described = answer["DBInstances"][0]
    group = described["DBParameterGroups"][0]
    found = Instance(
        status=described["DBInstanceStatus"],
        group=group["DBParameterGroupName"],
        applied=group["ParameterApplyStatus"],
    )
    if found.status in HOPELESS:
        told = [info["Message"] for info in described.get("StatusInfos", []) if info.get("Message")]
        why = ": ".join([f"the target is {found.status} since its parameters were switched", *told])
        raise StepError(why)
    return found


def are_dynamic(group: str, names: Iterable[str]) -> bool:
    """Whether a running server accepts all of these parameters: none of them is `static`."""
    pages = (
        clients.rds().get_paginator("describe_db_parameters").paginate(DBParameterGroupName=group)
    )
    dynamic = {
        parameter["ParameterName"]
        for page in pages
        for parameter in page["Parameters"]
        if parameter.get("ApplyType") == "dynamic"
    }
    return dynamic.issuperset(names)


def set_parameters(group: str, parameters: Mapping[str, str | int], *, at_once: bool) -> None:
    """Write parameters into a parameter group that belongs to the run.

    Args:
        group: The name of the group.
        parameters: The values by parameter name.
        at_once: Whether they apply immediately, which static ones cannot; otherwise at the next
            restart.

    Raises:
        StepError: RDS refuses a value.
    """
    try:
        clients.rds().modify_db_parameter_group(
            DBParameterGroupName=group,
            Parameters=[
                {
                    "ParameterName": name,
                    "ParameterValue": str(value),
                    "ApplyMethod": "immediate" if at_once else "pending-reboot",
                }
                for name, value in parameters.items()
            ],
        )
    except ClientError as error:
        if error.response["Error"]["Code"] not in _REFUSED:
            raise
        raise StepError(
            f"RDS refuses its parameters: {error.response['Error']['Message']}"
        ) from error


def restart_instance(identifier: str) -> None:
    """Have RDS restart an instance's server."""
    clients.rds().reboot_db_instance(DBInstanceIdentifier=identifier)
