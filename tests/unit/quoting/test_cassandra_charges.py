"""What a Cassandra target costs: its instance, and what it has of EBS."""

import pytest

from plimsoll.model.aws.prices import HOURS_PER_MONTH, Item
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.quoting.charges import list_target_charges

SYSTEM = (Item.EBS_STORAGE, "gp3", 16.0)


@pytest.mark.parametrize(
    ("instance_type", "volume", "expected"),
    [
        ("i3.large", {"type": "nvme", "size_gib": 475}, []),
        ("r5.large", {"type": "gp2", "size_gib": 320}, [(Item.EBS_STORAGE, "gp2", 320.0)]),
        (
            "r5.large",
            {"type": "io1", "size_gib": 1000, "iops": 10_000},
            [(Item.EBS_STORAGE, "io1", 1000.0), (Item.EBS_IOPS, "io1", 10_000.0)],
        ),
        (
            "r5.large",
            {"type": "gp3", "size_gib": 100, "iops": 4000, "throughput_mib_s": 225},
            [
                (Item.EBS_STORAGE, "gp3", 100.0),
                (Item.EBS_IOPS, "gp3", 1000.0),
                (Item.EBS_THROUGHPUT, "gp3", 100.0),
            ],
        ),
    ],
)
def test_an_hour_of_an_instance_and_an_hours_part_of_a_month_of_storage(
    instance_type: str, volume: dict[str, object], expected: list[tuple[Item, str, float]]
) -> None:
    asked = {"kind": "cassandra", "instance_type": instance_type, "volume": volume}
    first, *rest = list_target_charges(CassandraTarget.model_validate(asked), 3600.0)
    assert (first.item, first.name, first.quantity) == (Item.EC2_INSTANCE, instance_type, 1.0)
    months = [(one.item, one.name, one.quantity * HOURS_PER_MONTH) for one in rest]
    assert [(item, name) for item, name, _ in months] == [
        (item, name) for item, name, _ in [SYSTEM, *expected]
    ]
    assert [n for *_, n in months] == pytest.approx([n for *_, n in [SYSTEM, *expected]])


def test_ec2_bills_a_minute_at_least() -> None:
    asked = {
        "kind": "cassandra",
        "instance_type": "r5.large",
        "volume": {"type": "gp2", "size_gib": 320},
    }
    first = list_target_charges(CassandraTarget.model_validate(asked), 10.0)[0]
    assert first.quantity == pytest.approx(1 / 60)
