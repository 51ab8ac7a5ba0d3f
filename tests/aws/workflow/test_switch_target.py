"""Between two steps of a toggle: parameters first, then a restart; repeated calls do no harm."""

from typing import Any

import pytest
from moto.core.responses import ActionResult
from moto.rds.exceptions import RDSClientError
from moto.rds.responses import RDSResponse

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST
from plimsoll.errors import RunStoppedError
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunState, Switch, TargetAddress
from plimsoll.workflow import start_and_stop
from plimsoll.workflow.toggle import switch_target
from tests.aws.workflow.conftest import REQUESTED, RUN, recorded
from tests.support.every_setting import EverySetting

NAME = f"plimsoll-{RUN}"
TOGGLED: dict[str, Any] = {
    **REQUESTED,
    "toggle": {
        "states": [
            {"name": "on", "parameters": {"innodb_doublewrite": "1"}},
            {"name": "off", "parameters": {"innodb_doublewrite": "0"}},
        ]
    },
}


@pytest.fixture
def there(deployment: EverySetting) -> EverySetting:
    """A run with a toggle, whose instance and parameter group are there."""
    address = TargetAddress(
        protocol="mysql", host="db", port=3306, database="plimsoll", identifier=NAME
    )
    recorded(deployment, state=RunState.RUNNING, target=address)
    request = Request.model_validate(TOGGLED)
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    rds = clients.rds()
    rds.create_db_parameter_group(
        DBParameterGroupName=NAME, DBParameterGroupFamily="mariadb11.4", Description="of a run"
    )
    rds.create_db_instance(
        DBInstanceIdentifier=NAME,
        DBInstanceClass="db.m5.large",
        Engine="mariadb",
        EngineVersion="11.4.5",
        AllocatedStorage=100,
        DBParameterGroupName=NAME,
    )
    return deployment


@pytest.fixture
def reboots(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    original = RDSResponse.reboot_db_instance

    def reboot(self: RDSResponse) -> Any:
        seen.append(self.params["DBInstanceIdentifier"])
        return original(self)

    monkeypatch.setattr(RDSResponse, "reboot_db_instance", reboot)
    return seen


def parameters() -> dict[str, str]:
    found = clients.rds().describe_db_parameters(DBParameterGroupName=NAME)["Parameters"]
    return {one["ParameterName"]: one["ParameterValue"] for one in found}


def test_parameters_are_set_then_the_server_is_restarted_once(
    there: EverySetting, reboots: list[str]
) -> None:
    assert switch_target(there, RUN, 2, "off") == {"ready": False, "wait_s": 1}
    assert parameters() == {"innodb_doublewrite": "0"}
    assert reboots == []
    assert switch_target(there, RUN, 2, "off")["ready"] is False
    assert reboots == [NAME]
    assert switch_target(there, RUN, 2, "off")["ready"] is True
    assert switch_target(there, RUN, 2, "off")["ready"] is True, "a repeated call restarts nothing"
    assert reboots == [NAME]


def test_parameters_that_a_running_server_takes_need_no_restart(
    there: EverySetting, reboots: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def dynamic(self: RDSResponse) -> ActionResult:
        del self
        parameter = {"ParameterName": "innodb_doublewrite", "ApplyType": "dynamic"}
        return ActionResult({"Parameters": [parameter]})

    monkeypatch.setattr(RDSResponse, "describe_db_parameters", dynamic)
    assert switch_target(there, RUN, 2, "off")["ready"] is False
    assert switch_target(there, RUN, 2, "off")["ready"] is True
    always = {**TOGGLED, "toggle": {**TOGGLED["toggle"], "restart": "always"}}
    request = Request.model_validate(always)
    there.files(RUN).put(REQUEST, request.model_dump_json())
    assert reboots == []
    while not switch_target(there, RUN, 3, "on")["ready"]:
        pass
    assert reboots == [NAME]


def test_each_step_has_a_restart_of_its_own(there: EverySetting, reboots: list[str]) -> None:
    for step in (2, 3):
        while not switch_target(there, RUN, step, "off")["ready"]:
            pass
    assert reboots == [NAME, NAME]


def described(monkeypatch: pytest.MonkeyPatch, status: str, applied: str = "in-sync") -> None:
    group = {"DBParameterGroupName": NAME, "ParameterApplyStatus": applied}
    instance = {"DBInstanceStatus": status, "DBParameterGroups": [group]}
    answer = {"DBInstances": [instance]}
    rds = clients.rds()
    monkeypatch.setattr(rds, "describe_db_instances", lambda **_: answer)
    monkeypatch.setattr(clients, "rds", lambda: rds)


@pytest.mark.parametrize(
    ("status", "applied"), [("rebooting", "in-sync"), ("available", "applying")]
)
def test_an_instance_that_is_busy_is_waited_for(
    there: EverySetting,
    reboots: list[str],
    monkeypatch: pytest.MonkeyPatch,
    status: str,
    applied: str,
) -> None:
    described(monkeypatch, status, applied)
    for _ in range(3):
        assert switch_target(there, RUN, 2, "off")["ready"] is False
    assert parameters() == {}
    assert reboots == []


def test_a_restart_that_has_not_applied_the_parameters_is_not_over(
    there: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):
        switch_target(there, RUN, 2, "off")
    described(monkeypatch, "available", "pending-reboot")
    assert switch_target(there, RUN, 2, "off")["ready"] is False


def failed(there: EverySetting) -> str:
    """Why the switch has failed; it is over then, so that the run can conclude."""
    assert switch_target(there, RUN, 2, "off")["ready"] is True
    switch = there.records.get(RUN).switch
    assert switch is not None
    assert switch.stage == "failed"
    assert switch.problem is not None
    return switch.problem


def test_an_instance_that_does_not_come_back_ends_the_pairs_in_a_sentence(
    there: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    described(monkeypatch, "incompatible-parameters")
    assert "incompatible-parameters since its parameters were" in failed(there)


def test_a_value_that_rds_refuses_ends_the_pairs_in_a_sentence(
    there: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: RDSResponse) -> ActionResult:
        raise RDSClientError("InvalidParameterValue", "Invalid value 7 for innodb_doublewrite")

    monkeypatch.setattr(RDSResponse, "modify_db_parameter_group", refuse)
    assert failed(there) == ("RDS refuses its parameters: Invalid value 7 for innodb_doublewrite")


def test_a_stopped_run_switches_nothing(there: EverySetting, reboots: list[str]) -> None:
    there.records.change(RUN, state=RunState.STOPPING)
    with pytest.raises(RunStoppedError):
        switch_target(there, RUN, 2, "off")
    assert (parameters(), reboots) == ({}, [])


def test_an_existing_database_is_reached_another_way_and_nothing_of_it_is_changed(
    deployment: EverySetting,
) -> None:
    secret = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:bench"
    endpoint = {"kind": "endpoint", "engine": "mariadb", "host": "db", "secret_arn": secret}
    states = [{"name": "direct"}, {"name": "proxy", "endpoint": {"host": "proxy"}}]
    recorded(deployment)
    request = Request.model_validate(
        {**REQUESTED, "target": endpoint, "toggle": {"states": states}}
    )
    deployment.files(RUN).put(REQUEST, request.model_dump_json())
    allowed = {"db:3306": secret, "proxy:3306": secret}
    settings = deployment.model_copy(update={"allowed_endpoints": allowed})
    assert start_and_stop.record_run(settings, RUN)["provisioned"] is False
    reached = [deployment.records.get(RUN).target]
    for step, state in ((2, "proxy"), (3, "proxy"), (4, "direct")):
        assert switch_target(deployment, RUN, step, state)["ready"] is True
        record = deployment.records.get(RUN)
        assert record.switch == Switch(step=step, state=state, stage="done")
        reached.append(record.target)
    assert [target and target.host for target in reached] == ["db", "proxy", "proxy", "db"]
