"""RDS's calls on instances of this machine, of which moto knows nothing: to describe, to restart.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html,
.../API_RebootDBInstance.html, .../API_ModifyDBParameterGroup.html
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.rds.exceptions import (
    DBInstanceNotFoundError,
    DBParameterGroupNotFoundError,
    RDSClientError,
)
from moto.rds.responses import RDSResponse

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
        for parameter in self.params.get("Parameters", []):
            ParameterGroup.groups[name][parameter["ParameterName"]] = parameter["ParameterValue"]
        for database in databases.list():
            if database.restarting is not None and database.restarting.group == name:
                database.restarting.pending = True
        return ActionResult({"DBParameterGroupName": name})

    replace(
        RDSResponse,
        describe_db_instances=describe,
        reboot_db_instance=reboot,
        modify_db_parameter_group=modify,
    )


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
