"""A step of results that are in memory."""

from collections.abc import Iterable, Sequence

from plimsoll.fleet.fold import Fold, fold_clients
from plimsoll.fleet.step import build_step
from plimsoll.model.run.fleet import ClientResult, FailedClient, ServerCounters, StepPlan
from plimsoll.model.run.results import StepResult


def merge_step(
    plan: StepPlan,
    results: Iterable[ClientResult],
    failed: Sequence[FailedClient],
    *,
    server_after: ServerCounters | None,
    beside: Sequence[Fold] = (),
) -> StepResult:
    """Compute a step from its clients' results; see `build_step`."""
    fold = fold_clients(plan, results)
    return build_step(fold, failed, server_after=server_after, statistic="p99", beside=beside)
