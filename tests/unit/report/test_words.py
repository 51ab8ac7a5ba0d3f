"""A step that begins, in one line."""

import pytest

from plimsoll.model.judging.steps import Purpose
from plimsoll.report.words import announce_plan
from tests.support.synthetic_run import synthetic_run

WHY = "the last step does not count: other processes used 77 % of the CPU. Attempt 3 of 6"


@pytest.mark.parametrize(
    ("purpose", "said"),
    [
        ("again", f"step 1: 1 client, 8 connections; {WHY}"),
        ("climb", "step 1: 1 client, 8 connections"),
    ],
)
def test_a_load_that_is_repeated_says_why(purpose: Purpose, said: str) -> None:
    result, _ = synthetic_run()
    plan = result.steps[0].plan.model_copy(update={"purpose": purpose, "why": WHY})
    assert announce_plan(plan) == said
