"""PostgreSQL's settings on RDS, from the instance class and parameter group."""

from collections.abc import Mapping
from dataclasses import dataclass

from plimsoll.errors import UsageError
from plimsoll.local.databases.certificates import CertificateFiles
from plimsoll.local.resources.rds_engines import evaluate_parameter

MIB = 2**20
# RDS's defaults, in the server's own units (pages of 8 KiB), as DescribeDBParameters answers
# (jkshah.blogspot.com/2019/09/tuning-db-parameters-for-postgresql-12.html, read 2026-11).
_DEFAULTS = {
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


def plan_server(
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
        for name, value in {**_DEFAULTS, **parameters}.items()
    }
    if "shared_buffers" not in parameters:
        settings["shared_buffers"] = max(_LEAST_BUFFERS, int(settings["shared_buffers"]))
    free = memory_bytes * 3 // 4 - _parse_bytes(str(settings["shared_buffers"]))
    return PostgresPlan(
        settings=settings,
        demands_tls=str(settings.setdefault(_FORCE_TLS, "1")) == "1",
        page_cache_mib=max(1, free // MIB),  # 0 would mean a machine without a page cache
    )


def tls_settings(certificate: CertificateFiles) -> dict[str, str | int]:
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
