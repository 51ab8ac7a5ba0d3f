"""Production against the load line of its own workload: "it stands at 41 % of its line"."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.descriptions import describe_target
from plimsoll.model.results import RunResult
from plimsoll.observing.observation import AgainstLine, Observation

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
