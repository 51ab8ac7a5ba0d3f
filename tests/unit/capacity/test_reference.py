"""Both tables of R1 give what was published, except for the row that cannot be right."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Rules
from tests.unit.capacity.reference import R1_1000_IOPS, R1_2000_IOPS

MEANS = Rules(statistic="mean", confirmation=None)
WITHOUT_AUDIT = MEANS.model_copy(update={"audits_off": frozenset({"littles_law"})})


@pytest.mark.parametrize("rules", [MEANS, WITHOUT_AUDIT])
def test_1000_iops_is_the_published_knee_with_and_without_the_audit(rules: Rules) -> None:
    capacity = judge(R1_1000_IOPS, rules)
    assert capacity.verdict == "KNEE"
    assert (capacity.max_sustainable_throughput_ops_per_second, capacity.bound) == (5600, "=")
    assert (capacity.axis, capacity.at, capacity.bracket) == ("clients", 3, (3, 4))
    assert capacity.cause == "latency:update"
    assert capacity.causes == ("latency:update", "retrograde")


def test_2000_iops_names_the_row_that_littles_law_refutes() -> None:
    capacity = judge(R1_2000_IOPS, MEANS)
    assert capacity.verdict == "LOWER_BOUND"
    assert (capacity.max_sustainable_throughput_ops_per_second, capacity.bound) == (7200, ">=")
    assert (capacity.at, capacity.bracket) == (4, (4, None))
    row = capacity.steps[-1]
    assert (row.load, row.passed, row.reasons) == (8, False, ("audit:littles_law",))
    assert (
        "9.85 concurrent operations, 8 connections (weighed by their shares)" in capacity.notes[0]
    )


def test_2000_iops_without_the_audit_believes_the_published_row() -> None:
    capacity = judge(R1_2000_IOPS, WITHOUT_AUDIT)
    assert (capacity.verdict, capacity.bound) == ("LOWER_BOUND", ">=")
    assert (capacity.max_sustainable_throughput_ops_per_second, capacity.at) == (12960, 8)


@pytest.mark.parametrize(
    ("deterioration", "figure"), [(2.2, 7200), (2.22, 12960), (3.0, 12960), (5.0, 12960)]
)
def test_why_3_any_factor_from_2_21_gives_the_published_answer_at_2000_iops(
    deterioration: float, figure: float
) -> None:
    rules = WITHOUT_AUDIT.model_copy(update={"deterioration": deterioration})
    assert judge(R1_2000_IOPS, rules).max_sustainable_throughput_ops_per_second == figure


@pytest.mark.parametrize(
    ("deterioration", "cause"), [(4.99, "latency:update"), (5.0, "retrograde")]
)
def test_why_3_from_5_on_the_latency_at_4_clients_no_longer_fails_at_1000_iops(
    deterioration: float, cause: str
) -> None:
    rules = MEANS.model_copy(update={"deterioration": deterioration})
    assert judge(R1_1000_IOPS, rules).cause == cause


def test_reads_alone_would_miss_the_knee() -> None:
    reads = [
        step.model_copy(update={"latency_us": {"read": step.latency_us["read"]}})
        for step in R1_1000_IOPS
    ]
    assert judge(reads, MEANS).cause == "retrograde"
