"""vCPUs and memory of an instance class."""

import gzip
import json
from pathlib import Path

import moto
import pytest

from plimsoll.model.aws.instances import _TABLE, find_instance_size


@pytest.mark.parametrize(
    ("name", "vcpus", "memory_gib"),
    [
        ("db.m5.large", 2, 8),
        ("m5.large", 2, 8),
        ("db.r6g.2xlarge", 8, 64),
        ("db.t4g.medium", 2, 4),
        ("db.t3.xlarge", 4, 16),
        ("m7g.medium", 1, 4),
        ("r4.large", 2, 15.25),
        ("i3.16xlarge", 64, 488),
    ],
)
def test_a_class_has_the_size_that_its_name_says(name: str, vcpus: int, memory_gib: float) -> None:
    size = find_instance_size(name)
    assert size is not None
    assert (size.vcpus, size.memory_gib) == (vcpus, memory_gib)


@pytest.mark.parametrize("name", ["db.x1.tiny", "large", "db.m5.metal", "db.t3.4xlarge"])
def test_a_class_that_no_rule_knows_has_none(name: str) -> None:
    assert find_instance_size(name) is None


def test_every_class_with_limits_has_the_size_that_ec2_describes() -> None:
    data = Path(moto.__file__).parent / "ec2/resources/instance_types.json.gz"
    described = json.loads(gzip.decompress(data.read_bytes()))
    for name in _TABLE:
        size = find_instance_size(name)
        assert size is not None, name
        vcpus = described[name]["VCpuInfo"]["DefaultVCpus"]
        memory_mib = described[name]["MemoryInfo"]["SizeInMiB"]
        assert (size.vcpus, size.memory_gib * 1024) == (vcpus, memory_mib), name
