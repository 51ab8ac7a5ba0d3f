"""A deletion that is refused is asked for again, until it is seen or given up."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto.cloudformation.models import CloudFormationBackend

from plimsoll.aws import clients
from plimsoll.errors import TeardownError
from plimsoll.model.run.run_record import RunState
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.workflow import target as teardown
from plimsoll.workflow.end import end_run
from plimsoll.workflow.target import delete_target
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting

TEMPLATE = '{"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}}'
REFUSAL = "The following resource(s) failed to delete: [Instance]. "


class RefusedDeletion:
    """A run whose target's deletion fails until a time; its clock goes on with `tear_down`."""

    def __init__(
        self, deployment: EverySetting, monkeypatch: pytest.MonkeyPatch, *, refused_s: float
    ) -> None:
        self._deployment = deployment
        self.waited_s = 0.0
        self.errors: list[str | None] = []  # that the record had after each look
        began = datetime(2026, 1, 1, tzinfo=UTC)
        monkeypatch.setattr(teardown, "now", lambda: began + timedelta(seconds=self.waited_s))
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
