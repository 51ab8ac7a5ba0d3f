"""What RDS offers: `DescribeDBEngineVersions`, and `DescribeOrderableDBInstanceOptions`.

moto lacks the first, and implements the second for Aurora only:
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBEngineVersions.html,
https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeOrderableDBInstanceOptions.html.
One machine has one server, whatever minor version is asked for: the answer has the version that was
asked for. What the server itself says of its version is in the run's record. The machine offers
everything in every zone, and refuses the impossible when it is created.
"""

from typing import Any, get_args

from moto.core.responses import ActionResult
from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend
from moto.rds.responses import RDSResponse

from plimsoll.local.replacing import replace_members
from plimsoll.model.aws.volumes import VOLUME_TYPES
from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of, rds_majors

_ASKED = ("Engine", "EngineVersion", "DBInstanceClass")


def _describe_versions(self: RDSResponse) -> ActionResult:
    wanted, asked = self.params.get("Engine"), self.params.get("EngineVersion")
    known = {
        engine: [
            version
            for version in ([asked] if asked else majors)
            if major_of(engine, version) in majors
        ]
        for engine in get_args(RdsEngine)
        for majors in [rds_majors(engine)]
        if wanted in {None, engine}
    }
    versions: list[dict[str, Any]] = [
        {
            "Engine": engine,
            "EngineVersion": version,
            "MajorEngineVersion": major_of(engine, version),
            "DBParameterGroupFamily": f"{engine}{major_of(engine, version)}",
            "Status": "available",
        }
        for engine, versions_of_it in known.items()
        for version in versions_of_it
    ]
    return ActionResult({"DBEngineVersions": versions})


def _describe_zones(self: RDSResponse) -> ActionResult:
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
    RDSResponse.describe_db_engine_versions = _describe_versions  # type: ignore[attr-defined]  # see above
    replace_members(RDSResponse, describe_orderable_db_instance_options=_describe_zones)
