"""The engines that RDS offers, and the settings that it gives a server.

They follow from the instance class, the volume and the parameter group.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import get_args

from plimsoll.errors import UsageError
from plimsoll.local.databases.certificates import CertificateFiles
from plimsoll.model.aws.volumes import VolumeLimits
from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of, rds_majors

MIB = 2**20
# RDS writes defaults as formulas of the class's memory in bytes:
# https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/USER_ParamValuesRef.html (read 2026-11)
_FORMULA = re.compile(r"\{DBInstanceClassMemory(?:\*(\d+))?(?:/(\d+))?\}")
_FUNCTION = re.compile(r"(LEAST|GREATEST|SUM)\(([^()]*)\)")
_FUNCTIONS: dict[str, Callable[[list[int]], int]] = {"LEAST": min, "GREATEST": max, "SUM": sum}


def check_engine(engine: str, version: str) -> RdsEngine:
    """Refuse an engine that RDS does not offer, or this machine cannot stand in for.

    Returns:
        The engine.

    Raises:
        UsageError: The engine is refused, in RDS's words if RDS would refuse it.
    """
    known: RdsEngine | None = next((name for name in get_args(RdsEngine) if name == engine), None)
    if known is None:
        raise UsageError(
            f"{engine} cannot run on one machine: there are mysql and mariadb (MariaDB is the"
            " server for both), and postgres"
        )
    is_version = re.fullmatch(r"\d+(\.\d+)*", version)
    if not is_version or major_of(known, version) not in rds_majors(known):
        raise UsageError(f"Cannot find version {version} for {engine}")
    return known


def evaluate_parameter(value: str, memory_bytes: int) -> str | int:
    """Evaluate a parameter's value: text stays text, a formula becomes a number.

    A formula is `{DBInstanceClassMemory*3/4}`, or the least, the greatest or the sum of such terms
    and numbers: `LEAST({DBInstanceClassMemory/9531392},5000)`.
    """
    text = value.strip()
    if function := _FUNCTION.fullmatch(text):
        parts = [
            str(evaluate_parameter(part.strip(), memory_bytes)) for part in function[2].split(",")
        ]
        if all(re.fullmatch(r"-?\d+", part) for part in parts):
            return _FUNCTIONS[function[1]]([int(part) for part in parts])
    if formula := _FORMULA.fullmatch(text):
        return memory_bytes * int(formula[1] or 1) // int(formula[2] or 1)
    return value


# MariaDB, which stands in for MySQL too.


_POOL_SHARE = 3 / 4  # RDS's default innodb_buffer_pool_size: {DBInstanceClassMemory*3/4}
_MIN_POOL_MIB = 8
_DEFAULT_IO_CAPACITY = 200


def plan_mariadb_settings(
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
    settings.setdefault("innodb_lru_scan_depth", _limit_scan_depth(settings))
    return settings


def _limit_scan_depth(settings: Mapping[str, str | int]) -> int:
    """Limit the pages that the cleaner keeps free to 1/32 of the pool.

    The default, 1,536, exceeds all pages of a pool scaled down to 16 MiB: the cleaner would evict
    each page as soon as it is read. 100 is the least that MariaDB accepts
    (mariadb.com/kb/en/innodb-system-variables/#innodb_lru_scan_depth).
    """
    pool = str(settings["innodb_buffer_pool_size"])
    factor = {"K": 2**10, "M": MIB, "G": 2**30}.get(pool[-1:].upper(), 1)
    pages = int(pool.rstrip("KMGkmg")) * factor // 16_384
    return min(1536, max(100, pages // 32))


# PostgreSQL.


# RDS's defaults, in the server's own units (pages of 8 KiB), as DescribeDBParameters answers
# (jkshah.blogspot.com/2019/09/tuning-db-parameters-for-postgresql-12.html, read 2026-11).
_POSTGRES_DEFAULTS = {
    "shared_buffers": "{DBInstanceClassMemory/32768}",  # a quarter of the memory
    "effective_cache_size": "{DBInstanceClassMemory/16384}",  # half of the memory
    "max_connections": "LEAST({DBInstanceClassMemory/9531392},5000)",
}
_LEAST_BUFFERS = 1024  # pages; with fewer, connections would soon wait for each other's buffers
_UNSCALED = {"max_connections"}  # a run on one machine has as many clients as one on AWS
_FORCE_TLS = "rds.force_ssl"  # 1 by RDS's default from PostgreSQL 15 on
_PAGE = 8192
_UNITS = {"": _PAGE, "B": 1, "kB": 2**10, "MB": MIB, "GB": 2**30, "TB": 2**40}


@dataclass(frozen=True)
class PostgresPlan:
    """How an RDS instance is started on this machine.

    Attributes:
        settings: PostgreSQL's settings by name.
        demands_tls: Whether logins without TLS are refused.
        page_cache_mib: The part of the instance's memory for the operating system's page cache.
    """

    settings: dict[str, str | int]
    demands_tls: bool
    page_cache_mib: int


def plan_postgres(
    parameters: Mapping[str, str], *, memory_bytes: int, class_memory_bytes: int
) -> PostgresPlan:
    """Merge RDS's defaults and a parameter group.

    A quarter of the memory is left to processes and the operating system. The rest, less the shared
    buffers, is page cache: half of the memory by RDS's defaults, as `effective_cache_size` says.

    Args:
        parameters: The values in the DB parameter group, which override the defaults.
        memory_bytes: The instance's memory, as scaled for this machine.
        class_memory_bytes: The instance class's memory on AWS.
    """
    settings = {
        name: evaluate_parameter(value, class_memory_bytes if name in _UNSCALED else memory_bytes)
        for name, value in {**_POSTGRES_DEFAULTS, **parameters}.items()
    }
    if "shared_buffers" not in parameters:
        settings["shared_buffers"] = max(_LEAST_BUFFERS, int(settings["shared_buffers"]))
    free = memory_bytes * 3 // 4 - _parse_bytes(str(settings["shared_buffers"]))
    return PostgresPlan(
        settings=settings,
        demands_tls=str(settings.setdefault(_FORCE_TLS, "1")) == "1",
        page_cache_mib=max(1, free // MIB),  # 0 would mean a machine without a page cache
    )


def list_tls_settings(certificate: CertificateFiles) -> dict[str, str | int]:
    """Return the settings that make PostgreSQL offer TLS."""
    return {
        "ssl": "on",
        "ssl_cert_file": str(certificate.certificate),
        "ssl_key_file": str(certificate.key),
    }


def _parse_bytes(size: str) -> int:
    """Parse a size as PostgreSQL writes it: pages, or with a unit."""
    digits = size.rstrip("kMGTB ")
    try:
        return int(float(digits) * _UNITS[size.removeprefix(digits).strip()])
    except (ValueError, KeyError):
        raise UsageError(f"shared_buffers: {size!r} is not a size") from None
