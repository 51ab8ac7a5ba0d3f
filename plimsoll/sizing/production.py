"""Today's load on a production database (`plimsoll observe`), and its load line."""

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
    """Summary of a figure's samples; each lasts `Observation.sample_s`."""

    mean: float
    p50: float
    p95: float
    peak: float  # the largest sample, itself a mean over `sample_s`
    samples: int

    @classmethod
    def of(cls, values: Sequence[float | None]) -> "Spread | None":
        """Summarize the samples that are not None; None if there are none."""
        known = sorted(value for value in values if value is not None)
        if not known:
            return None
        return cls(
            mean=sum(known) / len(known),
            p50=_find_quantile(known, 0.5),
            p95=_find_quantile(known, 0.95),
            peak=known[-1],
            samples=len(known),
        )


def _find_quantile(ordered: Sequence[float], share: float) -> float:
    """Return a quantile by the nearest-rank method."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


class Rates(Model):
    """What a database did per second; a field is None if it is not reported."""

    operations: Spread | None = None  # operations of the workload derived from the statements
    statements: Spread | None = None
    read_iops: Spread | None = None
    write_iops: Spread | None = None
    iops: Spread | None = None
    mib: Spread | None = None  # read and written
    log_flushes: Spread | None = None
    row_lock_wait_s: Spread | None = None  # sessions' waiting time, in seconds per second
    cpu_percent: Spread | None = None  # CPU utilization of the instance
    queue: Spread | None = None  # waiting I/Os


class OperationSeen(Model):
    """One operation of the workload derived from the statements."""

    name: str
    ops_per_second: float
    share: float  # share of all operations
    mean_us: float  # time in the server, summed over the statements of a transaction
    statements: tuple[str, ...]  # each distinct one, without values


class AgainstLine(Model):
    """Production's load relative to the load line that a run of its workload measured."""

    run_id: str
    line_ops_per_second: float
    bound: Bound | None  # whether that figure is exact or a bound
    mean_share: float
    peak_share: float | None  # share at the busiest sample
    caveats: tuple[str, ...]


class Observation(Model):
    """The observed load."""

    source: Literal["server", "cloudwatch"]
    database: str  # the server's own name, or the RDS instance
    began: datetime
    ended: datetime
    sample_s: float
    rates: Rates
    demand: Demand | None = None  # use per operation; None if operations are not known
    operations: tuple[OperationSeen, ...] = ()
    share_of_calls: float | None = None  # share of all statements that belong to the operations
    line: AgainstLine | None = None
    notes: tuple[str, ...] = ()

    @property
    def window_s(self) -> float:
        """Length of the observation, in seconds."""
        return (self.ended - self.began).total_seconds()


# Production relative to the load line of its own workload: "it stands at 41 % of its line".


ALIKE_LEAST = 0.5  # share of production's operations that the run must contain
SHIFT_TOLD = 0.05  # change of an operation's share of the mix from which it is reported


def compare_with_line(seen: Observation, run: RunResult) -> AgainstLine:
    """Compare a database's load with what a run of its derived workload sustained.

    An operation counts if the run's workload has one with the same statements. Names and the
    lengths of value lists are ignored: both differ from one observation to the next.

    Raises:
        UsageError: The run has no figure, or has another workload.
    """
    line = run.capacity.max_sustainable_throughput_ops_per_second if run.capacity else None
    if run.capacity is None or not line:
        verdict = run.capacity.verdict if run.capacity else run.state
        raise UsageError(f"--line: the run {run.run_id} has no figure ({verdict})")
    if not seen.operations or seen.rates.operations is None:
        raise UsageError(
            "--line: no operations were observed: give a DSN of the database, whose statements tell"
        )
    measured = _compute_operation_weights(run.request.workload.definition or {})
    alike = [one for one in seen.operations if _normalize_statements(one.statements) in measured]
    share = sum(one.share for one in alike)
    if share < ALIKE_LEAST:
        raise UsageError(
            f"--line: the run {run.run_id} is of another workload: {words.format_percent(share)}"
            " of the"
            " observed operations are in it; `plimsoll workload derive` makes one"
        )
    rate = seen.rates.operations
    return AgainstLine(
        run_id=run.run_id,
        line_ops_per_second=line,
        bound=run.capacity.bound,
        mean_share=rate.mean * share / line,
        peak_share=rate.peak * share / line,
        caveats=tuple(_list_caveats(seen, run, share, measured)),
    )


def _compute_operation_weights(definition: Mapping[str, Any]) -> dict[tuple[str, ...], float]:
    """Return the weight of each of a workload's operations, keyed by its statements."""
    return {
        _normalize_statements(
            statement.get("sql") or statement.get("postgres") or ""
            for statement in operation.get("statements", ())
        ): float(operation.get("weight", 0))
        for operation in definition.get("operations", {}).values()
    }


def _normalize_statements(statements: Iterable[str]) -> tuple[str, ...]:
    """Normalize an operation's statements: each list of values is cut to one value."""
    return tuple(re.sub(r"\?(?:, \?)+", "?", statement) for statement in statements)


def _list_caveats(
    seen: Observation, run: RunResult, share: float, weights: Mapping[tuple[str, ...], float]
) -> list[str]:
    found = []
    if share < 1:
        found.append(
            f"{words.format_percent(1 - share)} of the observed operations are not in the run's"
            " workload,"
            " and are not counted"
        )
    if seen.share_of_calls is not None and seen.share_of_calls < 1:
        found.append(
            f"the operations cover {words.format_percent(seen.share_of_calls)} of the statements:"
            " the rest"
            " uses the database too"
        )
    total = sum(weights.values())
    shares = [
        (one, weights[_normalize_statements(one.statements)] / total)
        for one in seen.operations
        if _normalize_statements(one.statements) in weights and total
    ]
    one, was = max(shares, key=lambda each: abs(each[0].share - each[1]), default=(None, 0.0))
    if one is not None and abs(one.share - was) > SHIFT_TOLD:
        found.append(
            f"the mix has changed: {one.name} is {words.format_percent(one.share)} of the"
            " operations now,"
            f" and was {words.format_percent(was)} in the run"
        )
    target = describe_target(run.request.target)
    found.append(f"the load line was measured on {target}, with the run's limits and dataset")
    found.append("a derived workload guesses which rows are asked for, which moves its load line")
    if run.capacity and run.capacity.bound not in {None, "="}:
        found.append("the load line is only a bound")
    return found
