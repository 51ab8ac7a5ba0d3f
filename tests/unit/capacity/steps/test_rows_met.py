"""A step whose operations met fewer rows than the workload means is never believed."""

import pytest

from plimsoll.capacity import judge
from plimsoll.capacity.steps.audits import audit_rows_met, audit_step
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step


def step(met: int, meant: int, clients: int = 1) -> Step:
    return Step(
        clients=clients,
        throughput_ops_per_second=1000.0 * clients,
        latency_us={"update": {"p99": 100.0}},
        rows_met={"update": met, "read": 10},
        rows_meant={"update": meant, "read": 10},
    )


@pytest.mark.parametrize(
    ("met", "meant", "passed"),
    [
        (10_000, 10_000, True),
        (25_000, 10_000, True),
        (9_990, 10_000, True),  # as few may be missing as may fail
        (9_989, 10_000, False),
        (0, 10_000, False),
        (0, 0, True),
    ],
)
def test_no_more_rows_may_be_missing_than_operations_may_fail(
    met: int, meant: int, passed: bool
) -> None:
    assert audit_rows_met(step(met, meant), 0.001).passed is passed


def test_the_operation_and_both_numbers_are_told() -> None:
    assert audit_rows_met(step(875, 8753), 0.001).detail == (
        "rows are missing: update met 875 rows, where the workload means at least 8,753"
    )


def test_where_rows_are_not_known_it_does_not_run() -> None:
    audit = audit_rows_met(Step(clients=1), 0.001)
    assert audit.passed is None
    assert audit.detail == "needs the rows that its operations met"


def test_a_step_without_its_rows_decides_nothing() -> None:
    capacity = judge([step(9, 9), step(1, 9, clients=2)], Rules(confirmation=None))
    assert capacity.steps[1].consistent is False
    (note,) = [note for note in capacity.notes if "rows_met" in note]
    assert "update met 1 row, where the workload means at least 9" in note
    alone = judge([step(1, 9)], Rules(confirmation=None))
    assert (alone.verdict, alone.cause) == ("INCONSISTENT", "audit:rows_met")


def test_it_can_be_switched_off() -> None:
    rules = Rules(confirmation=None, audits_off=frozenset({"rows_met"}))
    assert "rows_met" not in {audit.name for audit in audit_step(step(1, 9), rules)}
    assert judge([step(1, 9)], rules).verdict != "INCONSISTENT"
