"""A version is resolved once, when a run is submitted, and what was made of it is recorded."""

from datetime import timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import QUOTE, REQUEST
from plimsoll.aws.run_records import now
from plimsoll.errors import UsageError
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Quote
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.submit import record_request
from plimsoll.workflow.target import create_target
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting


def asked(version: str, engine: str = "mariadb", **changes: object) -> Request:
    target: dict[str, Any] = {**REQUESTED["target"], "engine": engine, "engine_version": version}
    return Request.model_validate({**REQUESTED, "target": target | changes})


def test_record_and_quote_have_the_version_that_rds_makes_and_the_request_what_was_asked_for(
    deployment: EverySetting,
) -> None:
    assert record_request(deployment, check_request(asked("11.4")), run_id=RUN)
    assert deployment.records.get(RUN).database_version == "11.4.10"
    assert deployment.files(RUN).get(QUOTE, Quote).database_version == "11.4.10"
    assert deployment.files(RUN).get(REQUEST, Request).target == asked("11.4").target


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("11.4.5", "target.engine_version: RDS's support of MariaDB 11.4.5 ended on 2026-05-31"),
        ("11.4.99", "target.engine_version: RDS does not offer MariaDB 11.4.99 in eu-west-1"),
    ],
)
def test_what_cannot_be_made_is_refused_before_anything_is_recorded(
    deployment: EverySetting, version: str, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        record_request(deployment, check_request(asked(version)), run_id=RUN)
    assert deployment.records.find(RUN) is None


def test_a_version_that_is_newer_than_the_table_is_left_to_rds(deployment: EverySetting) -> None:
    """8.0.45 is in RDS's answer, and not in the table."""
    request = asked("8.0.45", engine="mysql", extended_support=True)
    record_request(deployment, check_request(request), run_id=RUN)
    assert deployment.records.get(RUN).database_version == "8.0.45"


def test_a_version_that_rds_charges_extra_for_has_to_be_asked_for(deployment: EverySetting) -> None:
    with pytest.raises(UsageError, match=r"ask for it by target\.extended_support"):
        record_request(deployment, check_request(asked("8.0.45", engine="mysql")), run_id=RUN)
    assert deployment.records.find(RUN) is None


def test_the_target_is_made_of_what_was_recorded(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(deployment, state="RUNNING", database_version="11.4.10")
    made: list[dict[str, Any]] = []

    def create_stack(**asked: Any) -> dict[str, str]:
        made.append({each["ParameterKey"]: each["ParameterValue"] for each in asked["Parameters"]})
        return {"StackId": "stack"}

    monkeypatch.setattr(clients.cloudformation(), "create_stack", create_stack)
    deployment.records.change(RUN, expires_at=now() + timedelta(hours=1))
    create_target(deployment, RUN)
    assert made[0]["EngineVersion"] == "11.4.10"
    assert made[0]["ParameterGroupFamily"] == "mariadb11.4"
