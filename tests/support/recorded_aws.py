"""What AWS says of engines, orders and quotas, and moto does not (tests/support/recorded)."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from moto.core.responses import ActionResult
from moto.rds.responses import RDSResponse
from moto.servicequotas.exceptions import NoSuchResource
from moto.servicequotas.responses import ServiceQuotasResponse

RECORDED = Path(__file__).parent / "recorded"


@contextmanager
def recorded_answers() -> Iterator[None]:
    """Have AWS answer what RDS offers and how high the account's quotas are."""
    with ExitStack() as stack:
        for owner, name, answer in (
            (RDSResponse, "describe_db_engine_versions", _engine_versions),
            (RDSResponse, "describe_orderable_db_instance_options", _orderable_options),
            (RDSResponse, "describe_account_attributes", _account_attributes),
            (ServiceQuotasResponse, "get_service_quota", _quota("applied")),
            (ServiceQuotasResponse, "get_aws_default_service_quota", _quota("defaults")),
            (ServiceQuotasResponse, "list_service_quotas", _quotas("applied")),
            (ServiceQuotasResponse, "list_aws_default_service_quotas", _quotas("defaults")),
        ):
            stack.enter_context(patch.object(owner, name, answer, create=True))
        yield


def _read(name: str) -> Any:
    return json.loads((RECORDED / f"{name}.json").read_text())


def _engine_versions(self: Any) -> ActionResult:
    answered = _read("engine-versions")
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


def _orderable_options(self: Any) -> ActionResult:
    wanted = {
        name: self.params.get(name) for name in ("Engine", "EngineVersion", "DBInstanceClass")
    }
    found = [
        option
        for option in _read("orderable-options")["OrderableDBInstanceOptions"]
        if all(option[name] == value for name, value in wanted.items())
    ]
    return ActionResult({"OrderableDBInstanceOptions": found})


def _account_attributes(_: Any) -> ActionResult:
    used = {"DBInstances": (3, 40), "AllocatedStorage": (1000, 100_000)}
    return ActionResult(
        {
            "AccountQuotas": [
                {"AccountQuotaName": name, "Used": now, "Max": most}
                for name, (now, most) in used.items()
            ]
        }
    )


def _quota(kind: str) -> Any:
    def answer(self: Any) -> str:
        code = json.loads(self.body)["QuotaCode"]
        for quota in _read("service-quotas")[kind]:
            if quota["QuotaCode"] == code:
                return json.dumps({"Quota": quota})
        raise NoSuchResource

    return answer


def _quotas(kind: str) -> Any:
    def answer(self: Any) -> str:
        service = json.loads(self.body)["ServiceCode"]
        quotas = _read("service-quotas")[kind]
        return json.dumps({"Quotas": [one for one in quotas if one["ServiceCode"] == service]})

    return answer
