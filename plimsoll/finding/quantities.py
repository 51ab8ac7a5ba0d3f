"""Limits as people write them on a command line: `read=5ms`, `p99 > 200ms`, `errors > 1%`."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from plimsoll import words
from plimsoll.complaints import Complaint, unknown
from plimsoll.errors import UsageError
from plimsoll.model.engine_report import SecondReport
from plimsoll.model.quantities import latency_us

_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?) ?%", re.ASCII)
_RULE = re.compile(r"(p50|p99|max|errors)(?:\.([\w-]{1,64}))?(?: ?> ?(.{1,24}))?")
RULES = "'p99 > 200ms', 'p99.read > 200ms' (or p50, max), errors, 'errors > 1%'"
Kind = Literal["p50", "p99", "max", "errors", "rate"]


def limits_us(given: Iterable[str], operations: Collection[str]) -> dict[str, float]:
    """Read `--limit` options: `read=5ms` for one operation, `5ms` for all that have none.

    Raises:
        UsageError: One is not a limit, or names an operation that the workload does not have.
    """
    limits: dict[str, float] = {}
    for_all: float | None = None
    for text in given:
        name, equals, value = text.rpartition("=")
        if not equals:
            for_all = latency_us(value, "--limit")
        elif name in limits:
            raise UsageError(f"--limit: {name} is there twice")
        elif name not in operations:
            raise UsageError(unknown("operation", name, operations, ("--limit",), value=name))
        else:
            limits[name] = latency_us(value, f"--limit {name}")
    others = {} if for_all is None else dict.fromkeys(operations, for_all)
    return {**others, **limits}


@dataclass(frozen=True)
class StopRule:
    """What ends the load at once.

    Attributes:
        text: As it was asked for.
        operation: The operation that it is about; None: each.
        kind: Of a second's latencies, or its errors, or its operations that succeeded.
        most: In microseconds, or the share that may fail, or operations.
    """

    text: str
    operation: str | None
    kind: Kind
    most: float

    @classmethod
    def parse(cls, text: str, operations: Collection[str]) -> "StopRule":
        """Read a rule.

        Raises:
            UsageError: It is none, or names an operation that the workload does not have.
        """
        match = _RULE.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"--stop-if: {text!r} is no rule: {RULES}")
        kind, operation, most = match.groups()
        if operation is not None and operation not in operations:
            path = ("--stop-if",)
            raise UsageError(unknown("operation", operation, operations, path, value=operation))
        if kind == "errors":
            return cls(f"--stop-if {text!r}", operation, "errors", _share(most) if most else 0.0)
        if most is None:
            raise UsageError(f"--stop-if: {text!r} has no limit: {RULES}")
        return cls(
            f"--stop-if {text!r}", operation, cast("Kind", kind), latency_us(most, "--stop-if")
        )

    @classmethod
    def of_rate(cls, most: float) -> "StopRule":
        """Make the rule that no second may have more successful operations than so."""
        return cls(f"--max-rate {most:g}", None, "rate", most)

    def broken_by(self, second: Sequence[SecondReport]) -> str | None:
        """Say what in one client's second breaks the rule; None: nothing does."""
        mine = [part for part in second if self.operation in (None, part.operation)]
        succeeded = sum(part.succeeded for part in mine)
        if self.kind == "rate":
            done_words = f"{succeeded:,} operations were done within a second"
            return done_words if succeeded > self.most else None
        if self.kind == "errors":
            failed = sum(part.errors for part in mine)
            done = failed + succeeded
            if not failed or failed <= self.most * done:
                return None
            return f"{failed:,} of {done:,} operations failed within a second"
        for part in mine:
            us = getattr(part, f"{self.kind}_us")
            if us is not None and us > self.most:
                name = words.statistic(self.kind)
                return f"{part.operation} {name} was {words.latency(us)} within a second"
        return None


def _share(text: str) -> float:
    match = _SHARE.fullmatch(text.strip())
    if match is None or float(match[1]) > 100:
        raise UsageError(Complaint(("--stop-if",), f"{text!r} is no share: write errors > 1%"))
    return float(match[1]) / 100
