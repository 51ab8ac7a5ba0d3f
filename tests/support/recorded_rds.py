"""What RDS says of its engines, which moto does not know: recorded (tests/support/recorded)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from moto.core.responses import ActionResult
from moto.rds.responses import RDSResponse

RECORDED = Path(__file__).parent / "recorded"


@contextmanager
def recorded_rds() -> Iterator[None]:
    """Have RDS answer which versions there are."""
    answered = json.loads((RECORDED / "engine-versions.json").read_text())

    def describe(self: Any) -> ActionResult:
        engine, asked = self.params.get("Engine"), self.params.get("EngineVersion")
        defaults = answered["defaults"] if self.params.get("DefaultOnly") else None
        found = [
            version
            for version in answered["DBEngineVersions"]
            if version["Engine"] == engine
            and asked in {None, version["EngineVersion"], version["MajorEngineVersion"]}
            and (defaults is None or version["EngineVersion"] in defaults)
        ]
        return ActionResult({"DBEngineVersions": found})

    with patch.object(RDSResponse, "describe_db_engine_versions", describe, create=True):
        yield
