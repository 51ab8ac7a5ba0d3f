"""The hard budget: a run is refused where it cannot suffice, and stopped before it is passed. Pure.

The target's cost grows with time alone, so its part of the budget is a deadline. The run's own
deadline is the earlier of that and its time limit; what deletes targets at the time limit (the
armed schedule, the janitor) deletes the target then, whatever becomes of the workflow. Steps and
loaders spend the rest: the cost of each step is added before it starts, and the loaders have a
deadline too.
"""

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from plimsoll import words
from plimsoll.complaints import Complaint, FieldPath, Range
from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import Item
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import Amounts, Quote
from plimsoll.model.run.run_record import HeldBudget, RunRecord
from plimsoll.quoting.charges import CLIENT_GIB, Extent, fleet_charges
from plimsoll.quoting.extents import client_s, extent, longest_s

FLEET_ITEMS = {
    Item.LAMBDA,
    Item.STEP_FUNCTIONS,
    Item.DYNAMODB,
    Item.S3,
    Item.CLOUDWATCH,
}
CENT = 0.01
_ROUNDING_S = 1e-6  # 60 s, less what a division loses, are 60 s
LEAST_RUN_S = 60  # with less, there is no point in making a target


def held_budget(request: Request, quote: Quote) -> HeldBudget | None:
    """Divide a request's budget between its target's time and its load; None without a budget.

    The target gets the time that the quote expects, the load the rest; where that is too little,
    each its share. Of the target's time, the longest that its deletion may take is kept for that.

    Raises:
        UsageError: It cannot suffice, or a price or a number that it needs is not known.
    """
    budget = request.budget_usd
    if budget is None:
        return None
    require_countable(budget, quote)
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        problem = f"cannot be held, for no price is known for {lacking}"
        raise UsageError(Complaint(("budget_usd",), problem, budget))
    require_sufficient_budget(budget, quote)
    fleet = _fleet(quote)
    per_s = (quote.target_usd_per_hour or 0.0) / 3600
    kept = _kept_s(quote)
    least_target = per_s * (LEAST_RUN_S + kept)
    for_fleet = _part_of_fleet(request, quote, fleet, per_s)
    for_fleet = min(for_fleet, budget - least_target)
    target_s = float(request.time_limit_s)
    if per_s:
        target_s = min(target_s, (budget - for_fleet) / per_s - kept)
    loaders_usd_per_s = request.prepare.clients * CLIENT_GIB * _client_usd(quote)
    return HeldBudget(
        usd=f"{budget:g}",
        target_s=math.floor(target_s + _ROUNDING_S),
        fleet_usd=f"{for_fleet:.6f}",
        loading_s=math.floor(min(for_fleet / loaders_usd_per_s, request.time_limit_s))
        if loaders_usd_per_s
        else request.time_limit_s,
    )


def require_countable(
    budget_usd: float, quote: Quote, *, path: FieldPath = ("budget_usd",)
) -> None:
    """Refuse a budget where what is charged is counted only afterwards.

    Raises:
        UsageError: It is, of this quote's target.
    """
    if quote.io is not None and quote.io.charged:
        problem = (
            "cannot be held, for Aurora Standard charges I/Os, whose number is known only"
            " afterwards: leave it out, or choose `storage: io-optimized`"
        )
        raise UsageError(Complaint(path, problem, budget_usd))


def require_sufficient_budget(budget_usd: float, quote: Quote) -> None:
    """Refuse a budget with which no step could be; a quote without a sum refuses nothing.

    It must pay for a step, and for a minute of the target beside the time kept for its deletion.

    Raises:
        UsageError: It is too small, and what suffices; or nobody could hold it.
    """
    require_countable(budget_usd, quote)
    if quote.usd is None:
        return
    kept = _kept_s(quote)
    target_usd = (quote.target_usd_per_hour or 0.0) / 3600 * (LEAST_RUN_S + kept)
    least = max(quote.usd.least, target_usd + _fleet(quote).least)
    if budget_usd >= least:
        return
    deletion = f" and {words.duration(kept)} kept for its target's deletion" if kept else ""
    problem = (
        f"{words.usd_each(budget_usd)} is less than the run costs at least, with a single step"
        f"{deletion}"
    )
    enough = Range(least=Decimal(math.ceil(least / CENT)).scaleb(-2))
    raise UsageError(Complaint(("budget_usd",), problem, budget_usd, enough))


def used_by_fleet(record: RunRecord, request: Request, plans: list[StepPlan]) -> Extent:
    """Say what loading and these steps use, the target aside."""
    loads = [(plan.clients_in_all, plan.warmup_s + plan.duration_s) for plan in plans]
    return _used(record, request, loads, loaded_by=None)


def _used(
    record: RunRecord,
    request: Request,
    loads: Sequence[tuple[int, float]],
    *,
    loaded_by: datetime | None,
) -> Extent:
    """Say what loading and loads use: each load's clients, and for how many seconds they run."""
    loading_s, loaded_at = 0.0, record.step_at or loaded_by
    if record.prepare_at is not None and loaded_at is not None:
        loading_s = max(0.0, (loaded_at - record.prepare_at).total_seconds())
    return extent(
        target_s=0.0,
        loading_client_s=loading_s * request.prepare.clients,
        step_clients=[(clients, client_s(seconds, clients)) for clients, seconds in loads],
        polls=0.0,
    )


def spent_usd(
    quote: Quote, record: RunRecord, request: Request, steps: Sequence[Step], *, at: datetime
) -> float | None:
    """Estimate what a run has cost so far, by its quote's prices; None where one is missing.

    Args:
        quote: Its prices.
        record: When its phases were.
        request: What was asked for.
        steps: Those that have finished; one under way counts when it has.
        at: Now.
    """
    if quote.missing:
        return None
    target_s = 0.0
    if record.stack_id is not None and record.provision_at is not None:
        until = record.deleted_at or record.ended_at or at
        target_s = max(0.0, (until - record.provision_at).total_seconds())
    load = request.load
    loads = [
        (
            (step.clients or 1) + request.clients_beside,
            (step.window_factor or 1) * load.warmup_s + (step.window_s or load.duration_s),
        )
        for step in steps
    ]
    used = _used(record, request, loads, loaded_by=record.ended_at or at)
    return (quote.target_usd_per_hour or 0.0) * target_s / 3600 + fleet_usd(quote, used)


def fleet_usd(quote: Quote, used: Extent) -> float:
    """Price what the load uses by a quote's prices."""
    prices = {(line.price.item, line.price.name): line.price.usd or 0.0 for line in quote.lines}
    return sum(charge.quantity * prices[charge.item, charge.name] for charge in fleet_charges(used))


def _part_of_fleet(request: Request, quote: Quote, fleet: Amounts, usd_per_s: float) -> float:
    """Give the load what the target's expected time leaves; of too little, its share."""
    assert request.budget_usd is not None  # noqa: S101 - the caller has looked
    budget = request.budget_usd
    for_target = usd_per_s * min(quote.time_s.expected + _kept_s(quote), longest_s(request))
    if budget >= for_target + fleet.expected:
        return min(budget - for_target, fleet.most)
    return max(fleet.least, budget * fleet.expected / (for_target + fleet.expected))


def _kept_s(quote: Quote) -> float:
    """Give the longest that the target's deletion may take."""
    return next(phase.most_s for phase in quote.phases if phase.name == "teardown")


def _client_usd(quote: Quote) -> float:
    """Give the price of a load client's GiB and second."""
    prices = (line.price for line in quote.lines if line.price.name == "arm64-duration")
    return next((price.usd or 0.0 for price in prices), 0.0)


def _fleet(quote: Quote) -> Amounts:
    lines = [line.usd for line in quote.lines if line.price.item in FLEET_ITEMS and line.usd]
    return Amounts(
        least=sum(usd.least for usd in lines),
        expected=sum(usd.expected for usd in lines),
        most=sum(usd.most for usd in lines),
    )
