"""Whoever watches a run sees every step of it, however seldom it can look."""

import pytest

from plimsoll.aws.run_files import plan_path, step_path
from plimsoll.workflow.status import Snapshot, Watcher
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.every_setting import EverySetting
from tests.support.merged import merge_step
from tests.unit.fleet.test_merge import planned


def plan(deployment: EverySetting, step: int) -> None:
    """Have a step under way."""
    deployment.files(RUN).put_model(plan_path(step), planned().model_copy(update={"index": step}))
    deployment.records.change(RUN, step=step)


def finish(deployment: EverySetting, step: int) -> None:
    """Have a step judged."""
    plan(deployment, step)
    of_step = planned().model_copy(update={"index": step})
    judged = merge_step(of_step, [], [], server_after=None)
    deployment.files(RUN).put_model(step_path(step), judged)


def seen(snapshot: Snapshot) -> tuple[int | None, list[int]]:
    under_way = None if snapshot.plan is None else snapshot.plan.index
    return under_way, [step.plan.index for step in snapshot.steps]


@pytest.mark.parametrize("warming", [True, False])
def test_steps_between_two_looks_are_seen_in_order(deployment: EverySetting, warming: bool) -> None:
    recorded(deployment)
    watcher = Watcher(deployment, RUN)
    assert seen(watcher.look()) == (None, [])
    first = 0 if warming else 1
    for step in range(first, 3):
        finish(deployment, step)
    plan(deployment, 3)
    assert seen(watcher.look()) == (3, [*range(first, 3)])
    assert seen(watcher.look()) == (3, [*range(first, 3)])
    finish(deployment, 3)
    finish(deployment, 4)
    assert seen(watcher.look()) == (4, [*range(first, 5)])
