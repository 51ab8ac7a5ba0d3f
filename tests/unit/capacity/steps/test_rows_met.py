"""A step whose operations met fewer rows than the workload means is never believed."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.steps.audits import audit_rows_met, audit_step
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step


def step(missing: int, meant: int, clients: int = 1) -> Step:
    return Step(
        clients=clients,
        throughput_ops_per_second=1000.0 * clients,
        latency_us={"update": {"p99": 100.0}},
        rows_meant={"update": meant, "read": 10},
        rows_missing={"update": missing, "read": 0},
    )


@pytest.mark.parametrize(
    ("missing", "meant", "passed"),
    [
        (0, 10_000, True),
        (10, 10_000, True),  # as few may be missing as may fail
        (11, 10_000, False),
        (10_000, 10_000, False),
        (0, 0, True),
    ],
)
def test_no_more_rows_may_be_missing_than_operations_may_fail(
    missing: int, meant: int, passed: bool
) -> None:
    assert audit_rows_met(step(missing, meant), 0.001).passed is passed


def test_the_operation_and_both_numbers_are_told() -> None:
    assert audit_rows_met(step(7878, 8753), 0.001).detail == (
        "rows are missing: update did not meet 7,878 rows of 8,753 that the workload means"
    )


def test_where_rows_are_not_known_it_does_not_run() -> None:
    audit = audit_rows_met(Step(clients=1), 0.001)
    assert audit.passed is None
    assert audit.detail == "needs the rows that its operations met"


def test_a_step_without_its_rows_decides_nothing() -> None:
    capacity = judge([step(0, 9), step(8, 9, clients=2)], Rules(confirmation=None))
    assert capacity.steps[1].consistent is False
    (note,) = [note for note in capacity.notes if "rows_met" in note]
    assert "update did not meet 8 rows of 9 that the workload means" in note
    alone = judge([step(8, 9)], Rules(confirmation=None))
    assert (alone.verdict, alone.cause) == ("INCONSISTENT", "audit:rows_met")


def test_it_can_be_switched_off() -> None:
    rules = Rules(confirmation=None, audits_off=frozenset({"rows_met"}))
    assert "rows_met" not in {audit.name for audit in audit_step(step(8, 9), rules)}
    assert judge([step(8, 9)], rules).verdict != "INCONSISTENT"
