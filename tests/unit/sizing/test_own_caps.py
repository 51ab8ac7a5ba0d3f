"""What a run's own target let through while it was measured: as much as its credits paid for."""

from typing import Any

import pytest

from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.results import ServerWaits
from plimsoll.sizing.caps import Caps
from plimsoll.sizing.from_run import prepare_run
from tests.support.synthetic_run import synthetic_run

LIMITS = {"read": 20_000.0, "update": 50_000.0}


def own(name: str, volume: Volume, **target: Any) -> Caps:
    """Give what a run on AWS says of its own target, whose metrics had such figures."""
    result, _ = synthetic_run()
    request = result.request
    assert isinstance(request.target, RdsTarget)
    changed = request.target.model_copy(update={"instance_class": name, "volume": volume})
    steps = tuple(
        step.model_copy(update={"target": step.target and step.target.model_copy(update=target)})
        for step in result.steps
    )
    run = result.model_copy(
        update={
            "local": False,
            "request": request.model_copy(update={"target": changed}),
            "volume_limits": limits(volume, service=changed.service),
            "steps": steps,
        }
    )
    waits = [ServerWaits()] * len(steps)
    return prepare_run(
        run, waits, statistic="p99", limits_us=LIMITS, processors=None
    ).known.profile.own


STRIPED = Volume(type="gp2", size_gib=400)  # four of 100 GiB: 1,200 IOPS, and 12,000 by credits


@pytest.mark.parametrize(
    ("name", "balances", "iops", "owner"),
    [
        ("db.m6i.large", {"burst_balance_percent": 50.0}, 12_000, "volume"),
        ("db.m6i.large", {"burst_balance_percent": 0.0}, 1_200, "volume"),
        # of a small instance, its own burst is less than the volume's
        ("db.t3.micro", {"burst_balance_percent": 50.0}, 11_800, "instance"),
        # ... and without credits of its own it falls to what it earns
        ("db.t3.micro", {"burst_balance_percent": 50.0, "ebs_io_balance_percent": 0.0}, 500,
         "instance"),
        ("db.m6i.large", {"burst_balance_percent": 50.0, "ebs_io_balance_percent": 0.4}, 3_600,
         "instance"),
        ("db.m6i.large", {"burst_balance_percent": 50.0, "ebs_io_balance_percent": 7.0}, 12_000,
         "volume"),
    ],
)  # fmt: skip
def test_the_least_of_volume_and_instance_holds_by_the_credits_that_each_had(
    name: str, balances: dict[str, float], iops: float, owner: str
) -> None:
    caps = own(name, STRIPED, **balances)
    assert (caps.iops, caps.iops_of) == (iops, owner)


@pytest.mark.parametrize(
    ("balances", "mb_s"),
    [({}, 250 * 4 * 1.048576), ({"ebs_byte_balance_percent": 0.0}, 81.25)],
)
def test_so_with_throughput(balances: dict[str, float], mb_s: float) -> None:
    volume = Volume(type="gp2", size_gib=800)
    caps = own("db.m6i.large", volume, **balances)
    assert caps.mib_s == pytest.approx(mb_s / 1.048576, rel=1e-3)
