"""What a step used of its target's credits, by the rules of AWS."""

from typing import Any

import pytest

from plimsoll.model.aws.instances import find_cpu_credits
from plimsoll.model.judging.steps import CreditUse, TargetFigures, TargetSample
from plimsoll.model.request.request import Request
from plimsoll.workflow.target_figures import add_credits
from tests.support.requested import REQUESTED
from tests.support.synthetic_run import synthetic_run

STEP = synthetic_run()[0].steps[0]
STEP_TARGET = Request.model_validate(REQUESTED).target


def used(
    figures: dict[str, float], *, samples: tuple[TargetSample, ...] = (), **target: Any
) -> dict[str, CreditUse]:
    request = Request.model_validate({**REQUESTED, "target": {**REQUESTED["target"], **target}})
    seen = TargetFigures(period_s=60, points=1, **figures)
    step = add_credits(STEP.model_copy(update={"target": seen}), request.target, samples)
    return {use.bucket: use for use in step.step.credits or ()}


BUSY = {"read_iops": 2000.0, "write_iops": 1000.0, "read_mib_s": 90.0, "write_mib_s": 10.0}


def test_a_gp2_volume_earns_three_a_gib_and_holds_5_4_million() -> None:
    uses = used({**BUSY, "burst_balance_percent": 70.0}, volume={"type": "gp2", "size_gib": 100})
    volume = uses["volume"]
    assert (volume.used_per_s, volume.earned_per_s, volume.full) == (3000, 300, 5_400_000)
    assert volume.balance_percent == 70


def test_an_instance_earns_its_baseline_and_holds_half_an_hour_of_its_maximum() -> None:
    """m5.large: 3,600 IOPS and 650 Mb/s, 18,750 and 4,750 at the most."""
    uses = used({**BUSY, "ebs_io_balance_percent": 99.0})
    assert "volume" not in uses, "io1 has no credits"
    io, throughput = uses["instance_io"], uses["instance_throughput"]
    assert (io.used_per_s, io.earned_per_s, io.balance_percent) == (3000, 3600, 99)
    assert io.full == 1800 * (18_750 - 3_600)
    assert throughput.used_per_s == 100
    assert throughput.earned_per_s == pytest.approx(77.5, abs=5)


def test_a_class_that_has_no_burst_has_no_bucket() -> None:
    assert used(BUSY, instance_class="db.m5.4xlarge") == {}


def test_a_burstable_cpu_is_reckoned_where_cloudwatch_has_its_balance() -> None:
    """t3.large: 36 credits an hour, 864 at the most (AWS's own table)."""
    end = STEP.window_end_epoch_ms
    assert end is not None
    seen = {"cpu_percent": 50.0}
    balances = tuple(
        TargetSample(epoch_ms=end + moment, cpu_credits=left)
        for moment, left in ((-300_000, 432.0), (60_000, 1.0))
    )
    cpu = used(seen, samples=balances, instance_class="db.t3.large")["cpu"]
    assert cpu.earned_per_s * 3600 == pytest.approx(36)
    assert cpu.full == pytest.approx(864)
    assert cpu.used_per_s * 3600 == pytest.approx(60)
    assert cpu.balance_percent == pytest.approx(50)
    assert "cpu" not in used(seen, instance_class="db.t3.large"), "one machine has none to spend"


@pytest.mark.parametrize(
    ("name", "an_hour"),
    [("t3.micro", 12), ("t4g.medium", 24), ("t3.xlarge", 96), ("t3.2xlarge", 192)],
)
def test_credits_of_a_cpu_are_those_of_aws_table(name: str, an_hour: int) -> None:
    known = find_cpu_credits(name)
    assert known is not None
    assert known.earned_per_s * 3600 == pytest.approx(an_hour)
    assert find_cpu_credits("db.m5.large") is None


def test_what_was_not_measured_uses_nothing() -> None:
    assert used({}) == {}
    assert add_credits(STEP.model_copy(update={"target": None}), STEP_TARGET, ()).target is None


def test_without_points_of_its_io_nobody_knows_what_a_step_used() -> None:
    seen = TargetFigures(period_s=60, points=1, cpu_percent=50.0)
    step = add_credits(STEP.model_copy(update={"target": seen}), STEP_TARGET, ())
    assert step.step.credits is None
