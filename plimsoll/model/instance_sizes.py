"""How many vCPUs and how much memory an instance class has, by the rules of its name.

Source: EC2 `DescribeInstanceTypes`, `VCpuInfo` and `MemoryInfo`, as recorded in moto 5.2.5's data;
a test compares every class of `plimsoll/model/instances.py` with it. 2026-11-23.
"""

import re

from plimsoll.model.base import Model

_VCPUS = {"medium": 1, "large": 2, "xlarge": 4}
_BURSTABLE_GIB = {
    "nano": 0.5,
    "micro": 1,
    "small": 2,
    "medium": 4,
    "large": 8,
    "xlarge": 16,
    "2xlarge": 32,
}
_GIB_PER_VCPU = {"c": 2.0, "m": 4.0, "r": 8.0, "i": 8.0}  # by the family's first letter
_OLDER_GIB_PER_VCPU = {"r3": 7.625, "r4": 7.625, "i3": 7.625}
_NAME = re.compile(r"(?:db\.)?(?P<family>(?P<kind>[a-z]+)\d[a-z-]*)\.(?P<size>\w+)")


class InstanceSize(Model):
    """What an instance class computes with."""

    vcpus: int
    memory_gib: float


def instance_size(instance_class: str) -> InstanceSize | None:
    """Give those of a class, written `m5.large` or `db.m5.large`; None where no rule is known."""
    named = _NAME.fullmatch(instance_class)
    if named is None:
        return None
    family, kind, size = named["family"], named["kind"], named["size"]
    times = re.fullmatch(r"(\d+)xlarge", size)
    vcpus = 4 * int(times[1]) if times else _VCPUS.get(size)
    if kind == "t":
        memory_gib = _BURSTABLE_GIB.get(size)
        vcpus = vcpus if size in {"xlarge", "2xlarge"} else 2
    else:
        each_gib = _OLDER_GIB_PER_VCPU.get(family) or _GIB_PER_VCPU.get(kind)
        memory_gib = None if vcpus is None or each_gib is None else vcpus * each_gib
    if vcpus is None or memory_gib is None:
        return None
    return InstanceSize(vcpus=vcpus, memory_gib=memory_gib)
