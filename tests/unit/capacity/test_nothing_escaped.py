"""A step whose database did I/O past its emulated volume is never believed."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.steps.audits import audit_escapes
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step


def step(iops: float, mib_s: float, percent: float, clients: int = 1) -> Step:
    return Step(
        clients=clients,
        throughput_ops_per_second=1000.0 * clients,
        latency_us={"update": {"p99": 100.0}},
        escaped_iops=iops,
        escaped_mib_s=mib_s,
        escaped_percent=percent,
    )


@pytest.mark.parametrize(
    ("iops", "mib_s", "percent", "passed"),
    [
        (0.0, 0.0, 0.0, True),
        (100.0, 0.4, 1.0, True),
        (100.0, 0.4, 1.1, False),
        (10.0, 1.0, 100.0, True),  # an idle database's messages
        (11.0, 0.1, 100.0, False),
        (2.0, 30.0, 100.0, False),  # few, and large
    ],
)
def test_one_in_a_hundred_may_escape_and_what_is_no_load(
    iops: float, mib_s: float, percent: float, passed: bool
) -> None:
    assert audit_escapes(step(iops, mib_s, percent)).passed is passed


def test_the_amount_is_told() -> None:
    assert audit_escapes(step(12_844, 50.17, 98.6)).detail == (
        "12,844 IOPS and 50.2 MiB/s bypassed the emulated volume, 98.6 % of all I/O"
    )


def test_without_an_emulated_volume_it_does_not_run() -> None:
    audit = audit_escapes(Step(clients=1))
    assert audit.passed is None
    assert audit.detail == "needs the I/O that bypassed the emulated volume"


def test_a_step_that_escaped_decides_nothing() -> None:
    steps = [step(0, 0, 0), step(500, 2, 40, clients=2)]
    capacity = judge(steps, Rules(confirmation=None))
    (note,) = [note for note in capacity.notes if "nothing_escaped" in note]
    assert "500 IOPS and 2.0 MiB/s bypassed the emulated volume, 40 %" in note
    assert capacity.steps[1].consistent is False


def test_what_escapes_is_not_waited_for_as_a_busy_machine_is() -> None:
    busy = {"host_others_percent": 40.0, "host_idle_percent": 5.0}
    steps = [step(500, 2, 40).model_copy(update=busy)]
    capacity = judge(steps, Rules(confirmation=None))
    assert capacity.verdict == "INCONSISTENT"
    assert capacity.causes == ("audit:nothing_escaped", "audit:undisturbed")
    assert "bypassed the emulated volume" in capacity.summary
