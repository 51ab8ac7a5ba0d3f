"""`DescribeOrderableDBInstanceOptions`, which moto implements for Aurora only.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeOrderableDBInstanceOptions.html.
One machine offers everything in every zone, and refuses the impossible when it is created.
"""

from moto.core.responses import ActionResult
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.rds.responses import RDSResponse

from plimsoll.local.replacing import replace_members
from plimsoll.model.aws.volumes import VOLUME_TYPES

_ASKED = ("Engine", "EngineVersion", "DBInstanceClass")


def _describe(self: RDSResponse) -> ActionResult:
    zones = [zone.name for zone in RegionsAndZonesBackend.zones[self.region]]
    asked = {name: self.params.get(name) for name in _ASKED}
    return ActionResult(
        {
            "OrderableDBInstanceOptions": [
                {**asked, "StorageType": kind, "AvailabilityZones": [{"Name": z} for z in zones]}
                for kind in VOLUME_TYPES
            ]
        }
    )


def apply() -> None:
    """Answer for the databases of this machine."""
    replace_members(RDSResponse, describe_orderable_db_instance_options=_describe)
