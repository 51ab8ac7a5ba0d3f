"""The end of a run: what was measured before its conclusion stays, and its target goes."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from moto.cloudformation.models import CloudFormationBackend

from plimsoll.aws import clients
from plimsoll.aws.run_files import CONCLUSION, REPORT, REQUEST, RESULT, SECONDS
from plimsoll.errors import TeardownError
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult, Seconds, TargetSample
from plimsoll.model.run_record import RunState
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.runs import end
from plimsoll.runs.conclude import Conclusion
from plimsoll.runs.end import delete_target, end_run
from tests.aws.runs.conftest import RUN, recorded
from tests.aws.runs.test_publish import measured
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run

TEMPLATE = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
REFUSAL = "The following resource(s) failed to delete: [Instance]. "
STOPPED = {"phase": "step", "error": "RunStoppedError", "cause": "the run was stopped"}


def test_a_stopped_run_shows_what_its_clients_saw(deployment: EverySetting) -> None:
    measured(deployment)
    end_run(deployment, RUN, failure=STOPPED)

    assert deployment.records.get(RUN).state is RunState.STOPPED
    series = deployment.files(RUN).get(SECONDS, Seconds)
    assert sum(second.succeeded for second in series.operations) == 100
    assert series.target == ()
    page = (deployment.files(RUN).find(REPORT) or b"").decode()
    assert re.search(r'<div class="chart" id="timeline"', page)
    assert not re.search(r'<div class="chart" id="curve"', page)


def test_the_series_of_a_conclusion_stay_as_they_are(deployment: EverySetting) -> None:
    measured(deployment)
    sample = TargetSample(epoch_ms=1_790_000_000_000, queue=1.0)
    concluded = Seconds(run_id=RUN, operations=(), target=(sample,))
    deployment.files(RUN).put_model(SECONDS, concluded)
    end_run(deployment, RUN, failure=STOPPED)
    assert deployment.files(RUN).get(SECONDS, Seconds) == concluded


def test_a_run_that_measured_nothing_has_no_series(deployment: EverySetting) -> None:
    recorded(deployment)
    end_run(deployment, RUN, failure={**STOPPED, "phase": "provision"})
    assert deployment.files(RUN).find(SECONDS) is None


def test_the_service_judges_rules_and_opens_no_file_that_one_names(
    deployment: EverySetting, tmp_path: Path
) -> None:
    recorded(deployment)
    files, run = deployment.files(RUN), synthetic_run()[0]
    assert run.capacity is not None
    (tmp_path / "result.json").write_text(run.model_dump_json())  # it would decide the rule
    rules = ("capacity >= 1", "capacity >= 999999999", f"not worse than {tmp_path} by 5 %")
    asked = files.get(REQUEST, Request).model_copy(update={"expect": rules})
    files.put_model(REQUEST, asked)
    files.put_model(CONCLUSION, Conclusion(capacity=run.capacity, limiting=run.limiting))
    end_run(deployment, RUN)
    outcomes = files.get(RESULT, RunResult).expect
    assert [one.answer for one in outcomes] == ["met", "not met", "no answer"]
    assert outcomes[2].because == f"{tmp_path} is not at hand where this was judged"


class RefusedDeletion:
    """A run whose target's deletion fails until a time; its clock goes on with `tear_down`."""

    def __init__(
        self, deployment: EverySetting, monkeypatch: pytest.MonkeyPatch, *, refused_s: float
    ) -> None:
        self._deployment = deployment
        self.waited_s = 0.0
        self.errors: list[str | None] = []  # that the record had after each look
        began = datetime(2026, 1, 1, tzinfo=UTC)
        monkeypatch.setattr(end, "now", lambda: began + timedelta(seconds=self.waited_s))
        delete = CloudFormationBackend.delete_stack

        def refused(backend: CloudFormationBackend, name_or_stack_id: str) -> None:
            if self.waited_s >= refused_s:
                delete(backend, name_or_stack_id)
                return
            stack: Any = backend.get_stack(name_or_stack_id)
            stack.status, stack.stack_status_reason = "DELETE_FAILED", REFUSAL

        monkeypatch.setattr(CloudFormationBackend, "delete_stack", refused)
        stack_name = recorded(deployment).stack_name
        made: Any = clients.cloudformation().create_stack(
            StackName=stack_name, TemplateBody=TEMPLATE
        )
        deployment.records.change(RUN, state=RunState.RUNNING, stack_id=made["StackId"])

    def tear_down(self) -> None:
        """Look every minute, as the workflow's loop does every few seconds."""
        while not delete_target(self._deployment, RUN)["gone"]:
            self.errors.append(self._deployment.records.get(RUN).teardown_error)
            self.waited_s += 60


def test_a_deletion_that_fails_for_ten_minutes_is_asked_for_until_it_is_seen(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = RefusedDeletion(deployment, monkeypatch, refused_s=600)
    target.tear_down()
    assert 600 <= target.waited_s <= 660
    assert target.errors == [None] + 10 * [f"the target could not be deleted: {REFUSAL}"]
    record = deployment.records.get(RUN)
    assert record.deleted_at is not None
    assert record.teardown_error is None
    end_run(deployment, RUN)
    assert deployment.records.get(RUN).failure is None


def test_a_deletion_that_fails_for_longer_than_the_patience_is_given_up(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = RefusedDeletion(deployment, monkeypatch, refused_s=86_400)
    with pytest.raises(TeardownError, match=re.escape(REFUSAL)):
        target.tear_down()
    assert target.waited_s == AWS_TIMINGS.teardown_patience_s == 1800
    record = deployment.records.get(RUN)
    assert record.deleted_at is None
    assert record.teardown_error == f"the target could not be deleted: {REFUSAL}"
