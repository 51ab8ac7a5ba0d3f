"""What an instance lets through to its volumes."""

import gzip
import json
from pathlib import Path

import moto
import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.instances import _TABLE, instance_limits


def test_a_database_class_has_the_limits_of_the_instance_under_it() -> None:
    got = instance_limits("db.m5.large")
    assert (got.baseline_iops, got.burst_iops) == (3_600, 18_750)
    assert got.baseline_throughput_mib_s == pytest.approx(77.486, abs=0.001)  # 81.25 MB/s
    assert got == instance_limits("m5.large")


def test_an_unknown_class_is_refused_by_name() -> None:
    with pytest.raises(UsageError, match=r"db\.x1\.tiny is not known; known families: t3, t4g, m5"):
        instance_limits("db.x1.tiny")


def test_every_row_is_what_ec2_describes() -> None:
    data = Path(moto.__file__).parent / "ec2/resources/instance_types.json.gz"
    described = json.loads(gzip.decompress(data.read_bytes()))
    assert len(_TABLE) > 100
    for name, row in _TABLE.items():
        info = described[name]["EbsInfo"]["EbsOptimizedInfo"]
        assert row == (
            info["BaselineIops"],
            info["MaximumIops"],
            info["BaselineThroughputInMBps"],
            info["MaximumThroughputInMBps"],
        )
