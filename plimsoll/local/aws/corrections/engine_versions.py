"""`DescribeDBEngineVersions`, which moto lacks: what this machine stands in for.

https://docs.aws.amazon.com/AmazonRDS/latest/APIReference/API_DescribeDBEngineVersions.html. One
machine has one server, whatever minor version is asked for: any is answered as it was asked, and a
major version stays one. What the server itself says of its version is in the run's record.
"""

from typing import Any, get_args

from moto.core.responses import ActionResult
from moto.rds.responses import RDSResponse

from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of, rds_majors


def _describe(self: RDSResponse) -> ActionResult:
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


def apply() -> None:
    """Answer for the databases of this machine."""
    RDSResponse.describe_db_engine_versions = _describe  # type: ignore[attr-defined]  # see above
