"""The described times are those of the functions, of the quotes and of the pages."""

from pathlib import Path

import pytest

from plimsoll.local.deploying import make_default_settings
from plimsoll.model.deployment.function_settings import (
    DeleteTargetSettings,
    JudgeStepSettings,
    PlanStepSettings,
)
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.engine.asked import POLL_US
from plimsoll.model.settings import Setting
from plimsoll.model.timings import (
    AWS_TIMINGS,
    NODE_CREATION,
    NODE_DELETION,
    ONE_MACHINE_TIMINGS,
    STACK_DELETION,
    Timings,
)
from plimsoll.quoting.costs import METHOD
from plimsoll.quoting.extents import bill_client_s

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("timings", [AWS_TIMINGS, ONE_MACHINE_TIMINGS])
def test_functions_read_the_times_as_they_are_told(timings: Timings) -> None:
    told = make_default_settings() | timings.settings
    plan = PlanStepSettings.of_deployment(told)
    assert plan.poll_seconds == timings.poll_s
    assert plan.poll_us == timings.poll_us
    assert plan.start_lead_ms + 7 * plan.start_lead_ms_per_client == 1000 * timings.lead_s(7)
    judge = JudgeStepSettings.of_deployment(told)
    assert judge.metric_period_seconds == timings.metric_period_s
    deletion = DeleteTargetSettings.of_deployment(told)
    assert deletion.teardown_patience_seconds == timings.teardown_patience_s


def test_one_machine_keeps_its_own_times() -> None:
    told = make_default_settings()
    assert {s: told[s] for s in ONE_MACHINE_TIMINGS.settings} == ONE_MACHINE_TIMINGS.settings
    assert (told[Setting.POLL_US], AWS_TIMINGS.poll_us) == ("0", POLL_US), "it shares its cores"
    assert told[Setting.START_LEAD_MS] != AWS_TIMINGS.settings[Setting.START_LEAD_MS]


def test_a_client_is_charged_for_its_wait_and_its_function_lasts_as_long() -> None:
    assert bill_client_s(60, 100) - bill_client_s(60, 0) == pytest.approx(
        AWS_TIMINGS.lead_s(100) - AWS_TIMINGS.lead_s(0)
    )
    assert bill_client_s(60, 0) > 60 + AWS_TIMINGS.lead_s(0)
    assert FUNCTIONS["load-client"].timeout_s > AWS_TIMINGS.lead_s(5000)


def words(page: str) -> str:
    return " ".join((DOCS / page).read_text().split())


def test_the_pages_say_the_same() -> None:
    lead_s, per_client_ms = AWS_TIMINGS.lead_s(0), AWS_TIMINGS.lead_ms_per_client
    told = f"A step's barrier lies {lead_s:g} s + {per_client_ms} ms x N ahead"
    assert f"{told}: {AWS_TIMINGS.lead_s(5000):g} s" in words("deploying.md")
    assert f"{lead_s:g} s before its barrier included" in words("costs.md")
    assert f"their steps and {lead_s:g} s before each" in words("costs.md")
    assert f"{lead_s:g} s before each" in METHOD
    assert f"the time limit, and {STACK_DELETION.most_s / 60:g} minutes" in words("costs.md")
    made, gone = NODE_CREATION, NODE_DELETION
    each = (
        f"{made.expected_s / 60:g} minutes for each after the first, {made.most_s / 60:g} at most"
    )
    assert f"{each}, and a minute of deletion, {gone.most_s / 60:g} at most" in words("costs.md")
    assert gone.expected_s == 60
    asked = f"asked for again for {AWS_TIMINGS.teardown_patience_s / 60:g} minutes"
    assert asked in words("deploying.md")
    assert asked in words("costs.md")
    here = ONE_MACHINE_TIMINGS
    together = f"together {here.lead_s(0):g} s, and {here.lead_ms_per_client} ms for each of them"
    assert together in words("local.md")
    assert f"asked for again for {here.teardown_patience_s} s" in words("local.md")
