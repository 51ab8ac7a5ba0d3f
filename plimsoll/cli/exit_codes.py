"""Exit codes. docs/command-line.md has the table for all verbs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from plimsoll.model.run.experiment_record import ExperimentResult
    from plimsoll.report.summaries import Summary


MET = 0  # success: there is an answer, and it is the expected one
FAILURE = 1  # the answer is a failure, or something else failed
NO_ANSWER = 3  # nothing could be measured or decided
NOT_SURE = 4  # `size`, `advise`: something may carry the load, but nothing surely does

_BOUNDARIES = {"decided": MET, "none carries it": FAILURE, "not decided": NO_ANSWER}
_CODES = {"met": MET, "not met": FAILURE, "failed": FAILURE, "no answer": NO_ANSWER}


def choose_exit_code_of_runs(summaries: Iterable[Summary]) -> int:
    """Return the code of several runs: a failure takes precedence over a missing answer."""
    codes = {_CODES[summary.outcome] for summary in summaries}
    return FAILURE if FAILURE in codes else max(codes, default=MET)


def choose_exit_code_of_experiment(result: ExperimentResult) -> int:
    """Return the code of an experiment: it failed, or no target has a figure for some question.

    For a boundary search: no cell carries the load, or the cheapest one remains undecided.
    """
    from plimsoll.model.run.run_record import RunState

    if result.state is not RunState.SUCCEEDED:
        return FAILURE
    if result.boundary is not None:
        return _BOUNDARIES[result.boundary.outcome]
    return MET if all(decision.best is not None for decision in result.decisions) else NO_ANSWER
