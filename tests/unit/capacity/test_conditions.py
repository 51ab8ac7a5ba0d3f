"""Conditions of the rows that are broken dispute the answer of a search."""

from plimsoll.capacity.conditions import describe_conditions, dispute_by_conditions
from plimsoll.model.run.results import CheckedCondition
from tests.support.synthetic_run import synthetic_run

CAPACITY = synthetic_run()[0].capacity
HOLDS = CheckedCondition(name="c2", about="every order has its lines", breaches=0)
BROKEN = CheckedCondition(name="c1", about="W_YTD is the sum of D_YTD", breaches=1200)
LATE = CheckedCondition(name="c3", about="no gap", breaches=None, unknown="not done in time")
LATE_TOO = CheckedCondition(name="c4", about="no gap", breaches=None, unknown="not done in time")


def test_a_broken_condition_leaves_no_figure_and_a_note_of_the_verdict() -> None:
    assert CAPACITY is not None
    assert CAPACITY.max_sustainable_throughput_ops_per_second is not None
    disputed = dispute_by_conditions(CAPACITY, [HOLDS, BROKEN, LATE])
    assert disputed.verdict == "INCONSISTENT"
    assert disputed.max_sustainable_throughput_ops_per_second is None
    assert disputed.interval is None
    assert disputed.cause == "audit:conditions"
    assert disputed.summary == (
        "no figure: after the last step the rows break c1 (W_YTD is the sum of D_YTD; 1,200 times)"
    )
    assert disputed.notes[0].startswith(f"without the audit conditions: {CAPACITY.verdict}: ")
    assert disputed.steps == CAPACITY.steps


def test_conditions_that_hold_or_are_not_known_leave_the_answer() -> None:
    assert CAPACITY is not None
    assert dispute_by_conditions(CAPACITY, [HOLDS, LATE]) == CAPACITY
    assert dispute_by_conditions(CAPACITY, []) == CAPACITY


def test_the_reader_is_told_which_hold_and_why_others_are_not_known() -> None:
    assert describe_conditions([HOLDS, BROKEN, LATE, LATE_TOO]) == [
        "1 of 4 conditions of the workload hold on all rows after the last step",
        "the rows break c1 (W_YTD is the sum of D_YTD; 1,200 times)",
        "not checked: c3, c4: not done in time",
    ]
    assert describe_conditions([]) == []
