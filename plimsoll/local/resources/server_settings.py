"""What a database server is told, as RDS would: from class, volume and parameters."""

import math
import re
from collections.abc import Mapping

from plimsoll.errors import UsageError
from plimsoll.model.volumes import VolumeLimits

MIB = 2**20
# RDS writes defaults as formulas of the class's memory in bytes:
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ParamValuesRef.html (read 2026-11)
_FORMULA = re.compile(r"\{DBInstanceClassMemory(?:\*(\d+))?(?:/(\d+))?\}")
_POOL_SHARE = 3 / 4  # RDS's default innodb_buffer_pool_size: {DBInstanceClassMemory*3/4}
_MIN_POOL_MIB = 8
_DEFAULT_IO_CAPACITY = 200
# Major versions that RDS is known to offer and MariaDB stands in for. Not checked against RDS's
# release notes: a version that is missing here is refused on one machine, not on AWS.
_OFFERED = {
    "mysql": ("5.7", "8.0", "8.4"),
    "mariadb": ("10.4", "10.5", "10.6", "10.11", "11.4", "11.8"),
}


def check_engine(engine: str, version: str) -> None:
    """Refuse what RDS does not offer, or this machine cannot stand in for.

    Raises:
        UsageError: In RDS's words where it is RDS that refuses.
    """
    if engine not in _OFFERED:
        raise UsageError(
            f"{engine} cannot run on one machine yet: there are mysql and mariadb (MariaDB is "
            "the server for both)"
        )
    if not re.fullmatch(r"\d+\.\d+(\.\d+)*", version) or not any(
        version == offered or version.startswith(f"{offered}.") for offered in _OFFERED[engine]
    ):
        raise UsageError(f"Cannot find version {version} for {engine}")


def server_settings(
    parameters: Mapping[str, str], *, memory_bytes: int, limits: VolumeLimits
) -> dict[str, str | int]:
    """Merge RDS's defaults and a parameter group.

    Args:
        parameters: Of the DB parameter group; they win.
        memory_bytes: The instance's, as scaled for this machine.
        limits: What the volume promises: page cleaning is matched to it, half of it as a rule and
            all of it at most.

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
        settings[name] = evaluate(value, memory_bytes)
    settings.setdefault("innodb_lru_scan_depth", _lru_scan_depth(settings))
    return settings


def _lru_scan_depth(settings: Mapping[str, str | int]) -> int:
    """Scale the pages that the cleaner keeps free to the pool, of which they are 1/32 at most.

    The default, 1,536, is more than all pages of a pool scaled down to 16 MiB: the cleaner would
    evict each page as soon as it is read. 100 is the least that MariaDB takes
    (mariadb.com/kb/en/innodb-system-variables/#innodb_lru_scan_depth).
    """
    pool = str(settings["innodb_buffer_pool_size"])
    factor = {"K": 2**10, "M": MIB, "G": 2**30}.get(pool[-1:].upper(), 1)
    pages = int(pool.rstrip("KMGkmg")) * factor // 16_384
    return min(1536, max(100, pages // 32))


def evaluate(value: str, memory_bytes: int) -> str | int:
    """Work out a parameter's value: text as it is, a formula of the class's memory as a number."""
    if found := _FORMULA.fullmatch(value.strip()):
        return memory_bytes * int(found[1] or 1) // int(found[2] or 1)
    return value
