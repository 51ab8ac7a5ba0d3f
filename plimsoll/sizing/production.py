"""What production asks of its database today, as `plimsoll size --observe` tells it."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.run.results import RunResult
from plimsoll.sizing.measured import Demand


class Spread(Model):
    """A figure over the samples of an observation; `Observation.sample_s` is how long each is."""

    mean: float
    p50: float
    p95: float
    peak: float  # the largest sample, a mean over its own time
    samples: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread | None":
        """Summarize samples, of those that are known; None where none is."""
        known = sorted(value for value in values if value is not None)
        if not known:
            return None
        return cls(
            mean=sum(known) / len(known),
            p50=_nearest(known, 0.5),
            p95=_nearest(known, 0.95),
            peak=known[-1],
            samples=len(known),
        )


def _nearest(ordered: Sequence[float], share: float) -> float:
    """Give the least sample that so many samples do not pass (nearest rank)."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Rates(Model):
    """What a database did, a second; None: nobody tells."""

    operations: Spread | None = None  # of the workload that its statements make
    statements: Spread | None = None
    read_iops: Spread | None = None
    write_iops: Spread | None = None
    iops: Spread | None = None
    mib: Spread | None = None  # read and written
    log_flushes: Spread | None = None
    row_lock_wait_s: Spread | None = None  # seconds that sessions waited, of each second
    cpu_percent: Spread | None = None  # of the instance's processors
    queue: Spread | None = None  # I/Os that wait


class OperationSeen(Model):
    """One operation of the workload that the statements make."""

    name: str
    ops_per_second: float
    share: float  # of all operations
    mean_us: float  # in the server; of a transaction all of its statements together
    statements: tuple[str, ...]  # each once, without values


class AgainstLine(Model):
    """Where production stands, of the most that a run of its workload sustained."""

    run_id: str
    line_ops_per_second: float
    bound: Bound | None  # of that figure
    mean_share: float
    peak_share: float | None  # of the busiest sample
    caveats: tuple[str, ...]


class Observation(Model):
    """Today's demand, as it was observed."""

    source: Literal["server", "cloudwatch"]
    database: str  # what was observed: a server as it names itself, or an RDS instance
    began: datetime
    ended: datetime
    sample_s: float
    rates: Rates
    demand: Demand | None = None  # of an operation; None: operations are not known
    operations: tuple[OperationSeen, ...] = ()
    share_of_calls: float | None = None  # of all statements, those that the operations hold
    line: AgainstLine | None = None
    notes: tuple[str, ...] = ()

    @property
    def window_s(self) -> float:
        """How long was observed."""
        return (self.ended - self.began).total_seconds()


# Production against the load line of its own workload: "it stands at 41 % of its line".


ALIKE_LEAST = 0.5  # of production's operations, those that the run has too
SHIFT_TOLD = 0.05  # of the mix


def against_line(seen: Observation, run: RunResult) -> AgainstLine:
    """Compare what is asked of a database with what a run of its derived workload sustained.

    Operations are those of the run's workload: an operation with the same statements counts, any
    other does not. Names do not matter, nor how many values a list has: both differ from one
    observation to the next.

    Raises:
        UsageError: The run has no figure, or is of another workload.
    """
    line = run.capacity.max_sustainable_throughput_ops_per_second if run.capacity else None
    if run.capacity is None or not line:
        verdict = run.capacity.verdict if run.capacity else run.state
        raise UsageError(f"--line: the run {run.run_id} has no figure ({verdict})")
    if not seen.operations or seen.rates.operations is None:
        raise UsageError(
            "--line: operations were not observed here: a DSN of the database tells them"
        )
    measured = _operations(run.request.workload.definition or {})
    alike = [one for one in seen.operations if _text(one.statements) in measured]
    share = sum(one.share for one in alike)
    if share < ALIKE_LEAST:
        raise UsageError(
            f"--line: the run {run.run_id} is of another workload: {words.percent(share)} of the"
            " operations observed are in it; `plimsoll workload derive` makes one of the same"
            " statements"
        )
    rate = seen.rates.operations
    return AgainstLine(
        run_id=run.run_id,
        line_ops_per_second=line,
        bound=run.capacity.bound,
        mean_share=rate.mean * share / line,
        peak_share=rate.peak * share / line,
        caveats=tuple(_caveats(seen, run, share, measured)),
    )


def _operations(definition: Mapping[str, Any]) -> dict[tuple[str, ...], float]:
    """Give the weights of a workload's operations, by their statements."""
    return {
        _text(
            statement.get("sql") or statement.get("postgres") or ""
            for statement in operation.get("statements", ())
        ): float(operation.get("weight", 0))
        for operation in definition.get("operations", {}).values()
    }


def _text(statements: Iterable[str]) -> tuple[str, ...]:
    """Give what is the same of an operation in every observation: each list with one value."""
    return tuple(re.sub(r"\?(?:, \?)+", "?", statement) for statement in statements)


def _caveats(
    seen: Observation, run: RunResult, share: float, weights: Mapping[tuple[str, ...], float]
) -> list[str]:
    found = []
    if share < 1:
        found.append(
            f"{words.percent(1 - share)} of the operations observed are not in the run's workload,"
            " and are not counted"
        )
    if seen.share_of_calls is not None and seen.share_of_calls < 1:
        found.append(
            f"the operations hold {words.percent(seen.share_of_calls)} of the statements: the rest"
            " takes its share of the database too"
        )
    total = sum(weights.values())
    shares = [
        (one, weights[_text(one.statements)] / total)
        for one in seen.operations
        if _text(one.statements) in weights and total
    ]
    one, was = max(shares, key=lambda each: abs(each[0].share - each[1]), default=(None, 0.0))
    if one is not None and abs(one.share - was) > SHIFT_TOLD:
        found.append(
            f"the mix has changed: {one.name} is {words.percent(one.share)} of the operations now,"
            f" and was {words.percent(was)} in the run"
        )
    target = describe_target(run.request.target)
    found.append(f"the line is that of {target}, with the run's limits and its dataset")
    found.append("which rows are asked for is a guess in a derived workload, and moves its line")
    if run.capacity and run.capacity.bound not in {None, "="}:
        found.append("the line is a bound, not the most")
    return found
