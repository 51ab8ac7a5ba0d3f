"""The budget: a run that it cannot pay for is refused, and one that would exceed it stops. Pure.

The target's cost depends on time alone, so its share of the budget becomes a deadline. The run's
deadline is the earlier of that and its time limit. Whatever deletes targets at the time limit (the
armed schedule, the janitor) then deletes the target even if the workflow is dead. Steps and loaders
spend the rest: the cost of each step is added before it starts, and the loaders have a deadline
too.
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
from plimsoll.model.request.load_request import RELAY_EARLY_S
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import Amounts, Quote, add_amounts
from plimsoll.model.run.run_record import HeldBudget, RunRecord
from plimsoll.quoting.charges import CLIENT_GIB, Extent, list_fleet_charges
from plimsoll.quoting.extents import (
    bill_client_s,
    compute_extent,
    estimate_longest_target_s,
)

FLEET_ITEMS = {
    Item.LAMBDA,
    Item.STEP_FUNCTIONS,
    Item.DYNAMODB,
    Item.S3,
    Item.CLOUDWATCH,
}
CENT = 0.01
_ROUNDING_S = 1e-6  # tolerance of divisions, so that 60 s do not become 59 s
LEAST_RUN_S = 60  # creating a target for less time makes no sense


def divide_budget(request: Request, quote: Quote) -> HeldBudget | None:
    """Divide a request's budget between the target's time and the load; None without a budget.

    The target gets the time that the quote expects, and the load gets the rest. If that is too
    little, both get proportional shares. The target's part includes the longest time that its
    deletion may take.

    Raises:
        UsageError: The budget cannot suffice, or cannot be enforced because a price or a number is
            unknown.
    """
    budget = request.budget_usd
    if budget is None:
        return None
    require_countable(budget, quote)
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        problem = f"cannot be enforced: no price is known for {lacking}"
        raise UsageError(Complaint(("budget_usd",), problem, budget))
    require_sufficient_budget(budget, quote)
    fleet = _sum_fleet_amounts(quote)
    per_s = (quote.target_usd_per_hour or 0.0) / 3600
    kept = _find_longest_deletion_s(quote)
    least_target = per_s * (LEAST_RUN_S + kept)
    for_fleet = _compute_fleet_share_usd(request, quote, fleet, per_s)
    for_fleet = min(for_fleet, budget - least_target)
    target_s = float(request.time_limit_s)
    if per_s:
        target_s = min(target_s, (budget - for_fleet) / per_s - kept)
    loaders_usd_per_s = request.prepare.clients * CLIENT_GIB * _find_client_gib_s_usd(quote)
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
    """Refuse a budget for a target whose I/Os are charged: they are counted only afterwards.

    Raises:
        UsageError: The target of this quote is such a target.
    """
    if quote.io is not None and quote.io.charged:
        problem = (
            "cannot be enforced: Aurora Standard charges I/Os, whose number is known only"
            " afterwards. Leave the budget out, or choose `storage: io-optimized`"
        )
        raise UsageError(Complaint(path, problem, budget_usd))


def require_sufficient_budget(budget_usd: float, quote: Quote) -> None:
    """Refuse a budget that is too small for a single step. A quote without a sum is accepted.

    It must pay for one step, and for the target during a minute and its deletion.

    Raises:
        UsageError: The budget is too small (the error names the least), or cannot be enforced.
    """
    require_countable(budget_usd, quote)
    if quote.usd is None:
        return
    kept = _find_longest_deletion_s(quote)
    target_usd = (quote.target_usd_per_hour or 0.0) / 3600 * (LEAST_RUN_S + kept)
    least = max(quote.usd.least, target_usd + _sum_fleet_amounts(quote).least)
    if budget_usd >= least:
        return
    deletion = f" and {words.format_duration(kept)} for the deletion of its target" if kept else ""
    problem = (
        f"{words.format_unit_usd(budget_usd)} does not pay for a run of a single step{deletion}"
    )
    enough = Range(least=Decimal(math.ceil(least / CENT)).scaleb(-2))
    raise UsageError(Complaint(("budget_usd",), problem, budget_usd, enough))


def measure_fleet_use(record: RunRecord, request: Request, plans: list[StepPlan]) -> Extent:
    """Return what the loading and these steps use, without the target."""
    loads = [
        (
            plan.clients_in_all,
            plan.fill_s
            + plan.warmup_s
            + plan.duration_s
            + RELAY_EARLY_S * (plan.relay is not None),
        )
        for plan in plans
    ]
    relayed = [plan for plan in plans if plan.relay is not None]
    return _measure_use(
        record,
        request,
        loads,
        loaded_by=None,
        relayed=(
            sum(plan.clients_in_all for plan in relayed),
            math.fsum(plan.clients_in_all * plan.duration_s for plan in relayed),
        ),
    )


def _measure_use(
    record: RunRecord,
    request: Request,
    loads: Sequence[tuple[int, float]],
    *,
    loaded_by: datetime | None,
    relayed: tuple[float, float] = (0.0, 0.0),
) -> Extent:
    """Return what the loading and the loads use; a load is its clients and its seconds."""
    loading_s, loaded_at = 0.0, record.step_at or loaded_by
    if record.prepare_at is not None and loaded_at is not None:
        loading_s = max(0.0, (loaded_at - record.prepare_at).total_seconds())
    return compute_extent(
        target_s=0.0,
        loading_client_s=loading_s * request.prepare.clients,
        step_clients=[(clients, bill_client_s(seconds, clients)) for clients, seconds in loads],
        polls=0.0,
        relayed=relayed,
    )


def estimate_spent_usd(
    quote: Quote, record: RunRecord, request: Request, steps: Sequence[Step], *, at: datetime
) -> float | None:
    """Estimate what a run has cost so far, at its quote's prices; None if one is missing.

    Args:
        quote: The run's quote.
        record: The run's record, which has the times of its phases.
        request: What was asked for.
        steps: The finished steps. A running step counts only when it has finished.
        at: The current time.
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
    used = _measure_use(record, request, loads, loaded_by=record.ended_at or at)
    return (quote.target_usd_per_hour or 0.0) * target_s / 3600 + price_fleet_usd(quote, used)


def price_fleet_usd(quote: Quote, used: Extent) -> float:
    """Price what the load uses, at a quote's prices."""
    prices = {(line.price.item, line.price.name): line.price.usd or 0.0 for line in quote.lines}
    return math.fsum(
        charge.quantity * prices[charge.item, charge.name] for charge in list_fleet_charges(used)
    )


def _compute_fleet_share_usd(
    request: Request, quote: Quote, fleet: Amounts, usd_per_s: float
) -> float:
    """Return the load's part: what the target's expected time leaves; if too little, a share."""
    assert request.budget_usd is not None  # noqa: S101 - the caller has looked
    budget = request.budget_usd
    for_target = usd_per_s * min(
        quote.time_s.expected + _find_longest_deletion_s(quote), estimate_longest_target_s(request)
    )
    if budget >= for_target + fleet.expected:
        return min(budget - for_target, fleet.most)
    return max(fleet.least, budget * fleet.expected / (for_target + fleet.expected))


def _find_longest_deletion_s(quote: Quote) -> float:
    """Return the longest time that the target's deletion may take, in seconds."""
    return next(phase.most_s for phase in quote.phases if phase.name == "teardown")


def _find_client_gib_s_usd(quote: Quote) -> float:
    """Return the price of one GiB-second of a load client."""
    prices = (line.price for line in quote.lines if line.price.name == "arm64-duration")
    return next((price.usd or 0.0 for price in prices), 0.0)


def _sum_fleet_amounts(quote: Quote) -> Amounts:
    lines = (line.usd for line in quote.lines if line.price.item in FLEET_ITEMS)
    return add_amounts(usd for usd in lines if usd)
