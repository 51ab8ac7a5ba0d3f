"""The engines that RDS offers, and its formulas for parameter values."""

import re
from collections.abc import Callable
from typing import get_args

from plimsoll.errors import UsageError
from plimsoll.model.databases import RdsEngine
from plimsoll.model.rds_versions import major_of, rds_majors

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
