"""RDS's calls on instances of this machine, of which moto knows nothing: to change, to restart.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html,
.../API_RebootDBInstance.html, .../API_ModifyDBParameterGroup.html, .../API_DescribeDBParameters.html
"""

from collections.abc import Mapping, Sequence
from typing import Any

from moto.core.responses import ActionResult
from moto.rds.exceptions import (
    DBInstanceNotFoundError,
    DBParameterGroupNotFoundError,
    RDSClientError,
)
from moto.rds.responses import RDSResponse

from plimsoll.errors import PlimsollError
from plimsoll.local.replacing import replace
from plimsoll.local.resources.rds_resources import ParameterGroup
from plimsoll.local.resources.registry import Database, Databases
from plimsoll.local.resources.restarting import Restarting


def apply(databases: Databases) -> None:
    """Answer for the databases of this machine."""

    def found(identifier: str) -> tuple[Database, Restarting]:
        database = databases.find(identifier)
        if database is None or database.restarting is None:
            raise DBInstanceNotFoundError(identifier)
        return database, database.restarting

    def of_group(name: str) -> list[tuple[Database, Restarting]]:
        pairs = [(d, d.restarting) for d in databases.list() if d.restarting is not None]
        return [(d, restarting) for d, restarting in pairs if restarting.group == name]

    def describe(self: RDSResponse) -> ActionResult:
        asked = self.params.get("DBInstanceIdentifier")
        names = [asked] if asked else [d.identifier for d in databases.list() if d.restarting]
        return ActionResult({"DBInstances": [described(*found(name)) for name in names]})

    def reboot(self: RDSResponse) -> ActionResult:
        database, restarting = found(self.params["DBInstanceIdentifier"])
        if restarting.status != "available":
            raise RDSClientError(
                "InvalidDBInstanceState", f"Instance {database.identifier} is not available"
            )
        databases.restart(database, ParameterGroup.groups[restarting.group])
        return ActionResult({"DBInstance": described(database, restarting)})

    def modify(self: RDSResponse) -> ActionResult:
        name = self.params["DBParameterGroupName"]
        if name not in ParameterGroup.groups:
            raise DBParameterGroupNotFoundError(name)
        given = self.params.get("Parameters", [])
        values = {one["ParameterName"]: str(one["ParameterValue"]) for one in given}
        at_once = all(one["ApplyMethod"] == "immediate" for one in given)
        for database, restarting in of_group(name):
            if at_once:
                change(database, values)
            else:
                restarting.pending = True
        ParameterGroup.groups[name].update(values)
        return ActionResult({"DBParameterGroupName": name})

    def parameters(self: RDSResponse) -> ActionResult:
        name = self.params["DBParameterGroupName"]
        if name not in ParameterGroup.groups:
            raise DBParameterGroupNotFoundError(name)
        group = ParameterGroup.groups[name]
        dynamic = {n for database, _ in of_group(name) for n in changeable(database, list(group))}
        described = [
            {
                "ParameterName": parameter,
                "ParameterValue": value,
                "ApplyType": "dynamic" if parameter in dynamic else "static",
            }
            for parameter, value in group.items()
        ]
        return ActionResult({"Parameters": described})

    replace(
        RDSResponse,
        describe_db_parameters=parameters,
        describe_db_instances=describe,
        reboot_db_instance=reboot,
        modify_db_parameter_group=modify,
    )


def changeable(database: Database, names: Sequence[str]) -> frozenset[str]:
    """Say which parameters its server takes while it runs."""
    try:
        return database.server.changeable(names) if names else frozenset()
    except PlimsollError as error:
        raise RDSClientError("InvalidDBParameterGroupState", str(error)) from error


def change(database: Database, values: Mapping[str, str]) -> None:
    """Change parameters of a running server."""
    try:
        database.server.change(values)
    except PlimsollError as error:
        raise RDSClientError("InvalidParameterValue", str(error)) from error


def described(database: Database, restarting: Restarting) -> dict[str, Any]:
    """Describe an instance, as far as anybody here asks."""
    return {
        "DBInstanceIdentifier": database.identifier,
        "DBInstanceStatus": restarting.status,
        # RDS tells it in its events
        "StatusInfos": [{"Message": restarting.problem}] if restarting.problem else [],
        "DBParameterGroups": [
            {
                "DBParameterGroupName": restarting.group,
                "ParameterApplyStatus": "pending-reboot" if restarting.pending else "in-sync",
            }
        ],
    }
