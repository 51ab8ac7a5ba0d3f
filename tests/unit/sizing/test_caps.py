"""What a target lets through, by the tables of volumes, instances and credits."""

from typing import Any

import pytest

from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.sizing.caps import assume_speed, find_caps, replace_processors
from tests.unit.sizing.test_prices import rds


@pytest.mark.parametrize(
    ("name", "volume", "iops", "owner", "lasting"),
    [
        ("m5.large", {"type": "io1", "size_gib": 100, "iops": 2000}, 2000, "volume", True),
        # m5.large sustains 3,600, and lets through 18,750 for half an hour
        ("m5.large", {"type": "io1", "size_gib": 100, "iops": 5000}, 3600, "instance", True),
        ("m5.large", {"type": "io1", "size_gib": 100, "iops": 5000}, 5000, "volume", False),
        # 3 for each GiB, whatever it bursts to
        ("m5.large", {"type": "gp2", "size_gib": 200}, 600, "volume", True),
        ("m5.large", {"type": "gp2", "size_gib": 200}, 600, "volume", False),
        ("m5.4xlarge", {"type": "gp3", "size_gib": 400}, 12_000, "volume", True),
    ],
)
def test_the_volume_or_the_instance_whichever_is_less(
    name: str, volume: dict[str, Any], iops: float, owner: str, lasting: bool
) -> None:
    caps = find_caps(rds(name, **volume), lasting=lasting)
    assert (caps.iops, caps.iops_of) == (iops, owner)


def test_a_burstable_class_has_the_processors_that_its_credits_last_for() -> None:
    """t4g.large: two vCPUs, 30 % of each."""
    target = rds("t4g.large", type="gp3", size_gib=100)
    assert find_caps(target).processors == pytest.approx(0.6)
    assert find_caps(target, lasting=False).processors == 2


def test_aurora_and_disks_of_the_instances_own_have_no_limit_of_iops() -> None:
    aurora = AuroraTarget.model_validate(
        {
            "kind": "aurora",
            "engine": "aurora-mysql",
            "engine_version": "8.0",
            "instance_class": "db.r6g.large",
        }
    )
    own = CassandraTarget.model_validate(
        {
            "kind": "cassandra",
            "instance_type": "i3.large",
            "volume": {"type": "nvme", "size_gib": 400},
        }
    )
    assert (find_caps(aurora).iops, find_caps(aurora).base_latency_us) == (None, None)
    assert (find_caps(own).iops, find_caps(own).base_latency_us) == (None, 100)


@pytest.mark.parametrize(
    ("name", "local", "slowest"),
    [("m5.xlarge", False, 1 / 1.05), ("r6g.large", False, 1 / 1.4), ("m5.large", True, 1 / 1.5)],
)
def test_how_fast_other_processors_are_is_a_guess(name: str, local: bool, slowest: float) -> None:
    measured = find_caps(rds("m5.large", type="gp3", size_gib=100))
    asked = find_caps(rds(name, type="gp3", size_gib=100))
    speed = assume_speed(asked, measured, local=local).speed
    assert (speed.low, speed.mid) == pytest.approx((slowest, 1))


def test_this_machine_stands_in_with_its_own_processors() -> None:
    caps = replace_processors(find_caps(rds("m5.4xlarge", type="gp3", size_gib=400)), 2)
    assert (caps.processors, caps.speed.low) == (2, 1)
