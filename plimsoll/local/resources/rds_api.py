"""RDS's calls that change or restart instances, which moto lacks, for this machine.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBInstances.html,
.../API_RebootDBInstance.html, .../API_ModifyDBParameterGroup.html,
.../API_DescribeDBParameters.html
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
from plimsoll.local.replacing import replace_members
from plimsoll.local.resources.rds_resources import DatabaseInstance, ParameterGroup
from plimsoll.local.resources.registry import Database
from plimsoll.local.resources.restarting import Restarting
from plimsoll.local.resources.template_volumes import drop_volume_parameters, switch_read_cache


def apply() -> None:
    """Install the calls, once the resources of this machine's databases are known."""
    replace_members(
        RDSResponse,
        describe_db_instances=_describe,
        reboot_db_instance=_reboot,
        describe_db_parameters=_parameters,
        modify_db_parameter_group=_modify,
    )


def _describe(self: RDSResponse) -> ActionResult:
    asked = self.params.get("DBInstanceIdentifier")
    known = [d.identifier for d in DatabaseInstance.databases.list() if d.restarting]
    names = [asked] if asked else known
    return ActionResult(
        {"DBInstances": [_describe_instance(*_find_instance(name)) for name in names]}
    )


def _reboot(self: RDSResponse) -> ActionResult:
    database, restarting = _find_instance(self.params["DBInstanceIdentifier"])
    if restarting.status != "available":
        raise RDSClientError(
            "InvalidDBInstanceState", f"Instance {database.identifier} is not available"
        )
    DatabaseInstance.databases.restart(database, ParameterGroup.groups[restarting.group])
    return ActionResult({"DBInstance": _describe_instance(database, restarting)})


def _parameters(self: RDSResponse) -> ActionResult:
    name = self.params["DBParameterGroupName"]
    group = _read_group(name)
    dynamic = {
        n for database, _ in _find_by_group(name) for n in _find_changeable(database, list(group))
    }
    described = [
        {
            "ParameterName": parameter,
            "ParameterValue": value,
            "ApplyType": "dynamic" if parameter in dynamic else "static",
        }
        for parameter, value in group.items()
    ]
    return ActionResult({"Parameters": described})


def _modify(self: RDSResponse) -> ActionResult:
    name = self.params["DBParameterGroupName"]
    group, given = _read_group(name), self.params.get("Parameters", [])
    values = {one["ParameterName"]: str(one["ParameterValue"]) for one in given}
    at_once = all(one["ApplyMethod"] == "immediate" for one in given)
    for database, restarting in _find_by_group(name):
        if at_once:
            _change_parameters(database, values)
        else:
            restarting.pending = True
    group.update(values)
    return ActionResult({"DBParameterGroupName": name})


def _find_instance(identifier: str) -> tuple[Database, Restarting]:
    database = DatabaseInstance.databases.find(identifier)
    if database is None or database.restarting is None:
        raise DBInstanceNotFoundError(identifier)
    return database, database.restarting


def _read_group(name: str) -> dict[str, str]:
    if name not in ParameterGroup.groups:
        raise DBParameterGroupNotFoundError(name)
    return ParameterGroup.groups[name]


def _find_by_group(name: str) -> list[tuple[Database, Restarting]]:
    all_of_them = [(d, d.restarting) for d in DatabaseInstance.databases.list()]
    return [(d, again) for d, again in all_of_them if again is not None and again.group == name]


def _find_changeable(database: Database, names: Sequence[str]) -> frozenset[str]:
    """Return which parameters its server, or its volume, accepts while it runs."""
    own = {name: name for name in names}
    of_volume = frozenset(own) - frozenset(drop_volume_parameters(own))
    of_server = [name for name in names if name not in of_volume]
    try:
        return of_volume | (database.server.changeable(of_server) if of_server else frozenset())
    except PlimsollError as error:
        raise RDSClientError("InvalidDBParameterGroupState", str(error)) from error


def _change_parameters(database: Database, values: Mapping[str, str]) -> None:
    """Change parameters of a running server and its volume."""
    try:
        switch_read_cache(database.volume, values)
        if of_server := drop_volume_parameters(values):
            database.server.change(of_server)
    except PlimsollError as error:
        raise RDSClientError("InvalidParameterValue", str(error)) from error


def _describe_instance(database: Database, restarting: Restarting) -> dict[str, Any]:
    """Return an instance's description, with the fields that are used here."""
    return {
        "DBInstanceIdentifier": database.identifier,
        "DBInstanceStatus": restarting.status,
        # RDS reports this in its events.
        "StatusInfos": [{"Message": restarting.problem}] if restarting.problem else [],
        "DBParameterGroups": [
            {
                "DBParameterGroupName": restarting.group,
                "ParameterApplyStatus": "pending-reboot" if restarting.pending else "in-sync",
            }
        ],
    }
