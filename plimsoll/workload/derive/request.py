"""A request that measures a derived workload on a database as RDS has it."""

import math
import re
from collections.abc import Mapping
from datetime import date
from typing import Any

from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of, rds_majors
from plimsoll.model.run.statements_seen import StatementsSeen

INSTANCE_CLASS = "db.m6i.large"
LEAST_GIB = 100  # gp3 has its full baseline at any size that RDS allows
PAGE_BYTES = 16_384  # InnoDB's
_VERSION = re.compile(r"\d+(?:\.\d+)*")


def write_request(
    seen: StatementsSeen,
    workload_file: str,
    *,
    name: str,
    records: int,
    limits_us: Mapping[str, float],
    today: date,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Write a request for a derived workload.

    Its target is of the server's engine and major version, or the next one that RDS supports.

    Args:
        seen: The statements and tables, with the server's version.
        workload_file: The path of the workload's file, relative to that of the request.
        name: The name of the request.
        records: The number of records.
        limits_us: The highest p99 of each operation, in microseconds; empty for none.
        today: The day by which RDS's support of versions is judged.

    Returns:
        The request, and notes on what was chosen in it.
    """
    engine = _find_engine(seen)
    major, note = _choose_major(engine, seen.server, today)
    size_gib = _choose_size_gib(seen)
    request: dict[str, Any] = {
        "name": name,
        "description": f"The statements that {seen.database} was sent",
        "target": {
            "kind": "rds",
            "engine": engine,
            "engine_version": major,
            "instance_class": INSTANCE_CLASS,
            "volume": {"type": "gp3", "size_gib": size_gib},
        },
        "workload": {"file": workload_file, "records": records},
        "search": {"strategy": "ramp", "connections_max": 256, "factor": 2},
        "load": {"warmup_s": 5, "duration_s": 20},
        "prepare": {"warm_s": 20},
    }
    if limits_us:
        request["limits"] = {"statistic": "p99", "limits_us": dict(limits_us)}
    chosen = f"the target is a guess: {INSTANCE_CLASS}, gp3 {size_gib} GiB"
    return request, tuple(filter(None, (chosen, note)))


def _find_engine(seen: StatementsSeen) -> RdsEngine:
    if seen.protocol == "postgres":
        return "postgres"
    return "mariadb" if "mariadb" in seen.server.lower() else "mysql"


def _choose_major(engine: RdsEngine, server: str, today: date) -> tuple[str, str | None]:
    """Return the server's major version, or else the next that RDS supports; and a note on that."""
    found = _VERSION.search(server)
    own = major_of(engine, found[0]) if found else ""
    supported = [
        name
        for name, major in rds_majors(engine).items()
        if not major.has_ended(today) and not major.is_extended(today)
    ]
    if own in supported:
        return own, None
    newer = [name for name in supported if _order(name) > _order(own)]
    chosen = min(newer, key=_order) if newer else max(supported, key=_order)
    return chosen, f"RDS has no standard support of {own or 'this version'}: {chosen} is taken"


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".") if number)


def _choose_size_gib(seen: StatementsSeen) -> int:
    """Return twice the size of the tables, if the server tells it; at least `LEAST_GIB`."""
    pages = sum(table.pages or 0 for table in seen.tables)
    return max(LEAST_GIB, math.ceil(2 * pages * PAGE_BYTES / 2**30))
