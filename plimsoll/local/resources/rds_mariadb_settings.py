"""MariaDB's settings on RDS, from the instance class, volume and parameter group."""

import math
from collections.abc import Mapping

from plimsoll.local.resources.rds_engines import evaluate_parameter
from plimsoll.model.aws.volumes import VolumeLimits

MIB = 2**20
_POOL_SHARE = 3 / 4  # RDS's default innodb_buffer_pool_size: {DBInstanceClassMemory*3/4}
_MIN_POOL_MIB = 8
_DEFAULT_IO_CAPACITY = 200


def server_settings(
    parameters: Mapping[str, str], *, memory_bytes: int, limits: VolumeLimits
) -> dict[str, str | int]:
    """Merge RDS's defaults and a parameter group.

    Args:
        parameters: The values in the DB parameter group, which override the defaults.
        memory_bytes: The instance's memory, as scaled for this machine.
        limits: The volume's limits. Page cleaning uses half of its IOPS as a rule and all of them
            at most.

    Returns:
        MariaDB's settings by name.
    """
    pool_mib = max(_MIN_POOL_MIB, round(memory_bytes * _POOL_SHARE / MIB))
    settings: dict[str, str | int] = {"innodb_buffer_pool_size": f"{pool_mib}M"}
    if limits.baseline_iops is not None:
        most = math.floor(limits.baseline_iops)
        capacity = max(_DEFAULT_IO_CAPACITY, most // 2)
        settings["innodb_io_capacity"] = capacity
        settings["innodb_io_capacity_max"] = max(capacity, most)
    for name, value in parameters.items():
        settings[name] = evaluate_parameter(value, memory_bytes)
    settings.setdefault("innodb_lru_scan_depth", _lru_scan_depth(settings))
    return settings


def _lru_scan_depth(settings: Mapping[str, str | int]) -> int:
    """Limit the pages that the cleaner keeps free to 1/32 of the pool.

    The default, 1,536, exceeds all pages of a pool scaled down to 16 MiB: the cleaner would evict
    each page as soon as it is read. 100 is the least that MariaDB accepts
    (mariadb.com/kb/en/innodb-system-variables/#innodb_lru_scan_depth).
    """
    pool = str(settings["innodb_buffer_pool_size"])
    factor = {"K": 2**10, "M": MIB, "G": 2**30}.get(pool[-1:].upper(), 1)
    pages = int(pool.rstrip("KMGkmg")) * factor // 16_384
    return min(1536, max(100, pages // 32))
