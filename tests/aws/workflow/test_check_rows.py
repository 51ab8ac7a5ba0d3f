"""What a workload says of its rows is checked after the last step of a run, while time is left."""

from datetime import timedelta

import pytest

from plimsoll.aws.run_files import CONDITIONS, REQUEST
from plimsoll.aws.run_records import now
from plimsoll.databases.conditions import AUDIT_MAX_S
from plimsoll.errors import TimeLimitPassedError
from plimsoll.model.request.dsn import parse_dsn
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import CheckedCondition, CheckedConditions
from plimsoll.model.run.run_record import RunState, TargetAddress
from plimsoll.workflow import dataset
from plimsoll.workload import Compiled
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting

MASTER = parse_dsn("mysql://u:p@127.0.0.1:1/d")
HOLDS = CheckedCondition(name="c1", about="W_YTD is the sum of D_YTD", breaches=0)


@pytest.fixture
def limits(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A run of TPC-C whose search is over; the time limits of the checks that follow."""
    limits: list[float] = []

    def audit(_: object, compiled: Compiled, *, longest_s: float) -> tuple[CheckedCondition, ...]:
        assert compiled.name == "tpcc"
        limits.append(longest_s)
        return (HOLDS,)

    target = TargetAddress(
        protocol="mysql", host="db", port=3306, database="d", secret_arn=None, identifier=None
    )
    recorded(deployment, state=RunState.RUNNING, target=target)
    asked = {**REQUESTED, "workload": {"name": "tpcc", "records": 1}}
    deployment.files(RUN).put(REQUEST, Request.model_validate(asked).model_dump_json())
    monkeypatch.setattr(dataset, "audit_conditions", audit)
    monkeypatch.setattr(dataset, "connect_as_master", lambda *_: MASTER)
    return limits


def test_the_conditions_are_kept_for_the_conclusion(
    deployment: EverySetting, limits: list[float]
) -> None:
    deployment.records.change(RUN, expires_at=now() + timedelta(hours=1))
    dataset.check_rows(deployment, RUN)
    assert limits == [AUDIT_MAX_S]
    kept = deployment.files(RUN).get(CONDITIONS, CheckedConditions)
    assert kept.conditions == (HOLDS,)


def test_the_check_has_no_more_time_than_the_run(
    deployment: EverySetting, limits: list[float]
) -> None:
    deployment.records.change(RUN, expires_at=now() + timedelta(seconds=100))
    dataset.check_rows(deployment, RUN)
    assert 0 < limits[0] <= 100
    deployment.records.change(RUN, expires_at=now() - timedelta(seconds=1))
    with pytest.raises(TimeLimitPassedError):
        dataset.check_rows(deployment, RUN)
