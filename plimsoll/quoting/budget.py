"""The hard budget: refused where it cannot suffice, and never passed under way.

The target's cost is linear in time, so its part of the budget is a deadline: the run's own is the
earlier of that and its time limit, and everything that deletes a target at its time limit (the
armed schedule, the janitor) deletes it then, whatever becomes of the workflow. The rest is spent by
steps alone, each of which is reckoned with before it starts, and by the loaders, whose part is a
deadline too.
"""

import math

from plimsoll import words
from plimsoll.aws.run_files import QUOTE, RunFiles, plan_path
from plimsoll.aws.run_records import BudgetPassedError
from plimsoll.model.fleet import StepPlan
from plimsoll.model.prices import Item
from plimsoll.model.quote import Amounts, Quote
from plimsoll.model.request import Request
from plimsoll.model.run_record import HeldBudget, RunRecord
from plimsoll.quoting.charges import CLIENT_GIB, Extent, fleet_charges
from plimsoll.quoting.extents import TEARDOWN_S, client_s, extent, longest_s
from plimsoll.requests.complaints import Complaint, ComplaintsError

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
    each its share. Of the target's time 15 minutes are kept for its deletion.

    Raises:
        ComplaintsError: It cannot suffice, or a price that it needs is not known.
    """
    budget = request.budget_usd
    if budget is None:
        return None
    if quote.usd is None:
        lacking = f"{', '.join(quote.missing)} in {quote.region}"
        message = f"cannot be held, for no price is known for {lacking}"
        raise ComplaintsError([Complaint(("budget_usd",), message, budget)])
    require_sufficient_budget(budget, quote)
    fleet = _fleet(quote)
    per_s = (quote.target_usd_per_hour or 0.0) / 3600
    kept = TEARDOWN_S[1]
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


def require_sufficient_budget(budget_usd: float, quote: Quote) -> None:
    """Refuse a budget with which no step could be; a quote without a sum refuses nothing.

    It must pay for a step, and for a minute of the target beside the time kept for its deletion.

    Raises:
        ComplaintsError: It is too small; says what suffices.
    """
    if quote.usd is None:
        return
    target_usd = (quote.target_usd_per_hour or 0.0) / 3600 * (LEAST_RUN_S + TEARDOWN_S[1])
    least = max(quote.usd.least, target_usd + _fleet(quote).least)
    if budget_usd >= least:
        return
    enough = f">= {math.ceil(least / CENT) * CENT:.2f}"
    raise ComplaintsError(
        [
            Complaint(
                ("budget_usd",),
                f"{words.usd_each(budget_usd)} is less than the run costs at least, with a single"
                f" step and 15 minutes kept for its target's deletion (allowed: {enough})",
                budget_usd,
                (enough,),
            )
        ]
    )


def require_step_budget(
    files: RunFiles, record: RunRecord, request: Request, plan: StepPlan
) -> None:
    """Let a step start only if the load's part of the budget pays for it too.

    Raises:
        BudgetPassedError: It does not.
    """
    if record.budget is None:
        return
    quote = files.get(QUOTE, Quote)
    plans = [*(one for one in planned_steps(files) if one.index != plan.index), plan]
    spent = fleet_usd(quote, used_by_fleet(record, request, plans))
    if spent > float(record.budget.fleet_usd):
        raise BudgetPassedError(
            f"the run's budget of {words.usd_each(float(record.budget.usd))} keeps"
            f" {words.usd_each(float(record.budget.fleet_usd))} for its load; with step"
            f" {plan.index} ({words.plural(plan.clients, 'client')}) it would be"
            f" {words.usd_each(spent)}"
        )


def used_by_fleet(record: RunRecord, request: Request, plans: list[StepPlan]) -> Extent:
    """Say what loading and these steps use, the target aside."""
    loading_s = 0.0
    if record.prepare_at is not None and record.step_at is not None:
        loading_s = max(0.0, (record.step_at - record.prepare_at).total_seconds())
    return extent(
        target_s=0.0,
        loading_client_s=loading_s * request.prepare.clients,
        step_clients=[
            (plan.clients, client_s(plan.warmup_s + plan.duration_s, plan.clients))
            for plan in plans
        ],
        polls=0.0,
    )


def fleet_usd(quote: Quote, used: Extent) -> float:
    """Price what the load uses by a quote's prices."""
    prices = {(line.price.item, line.price.name): line.price.usd or 0.0 for line in quote.lines}
    return sum(charge.quantity * prices[charge.item, charge.name] for charge in fleet_charges(used))


def _part_of_fleet(request: Request, quote: Quote, fleet: Amounts, usd_per_s: float) -> float:
    """Give the load what the target's expected time leaves; of too little, its share."""
    assert request.budget_usd is not None  # noqa: S101 - the caller has looked
    budget = request.budget_usd
    for_target = usd_per_s * min(quote.time_s.expected + TEARDOWN_S[1], longest_s(request))
    if budget >= for_target + fleet.expected:
        return min(budget - for_target, fleet.most)
    return max(fleet.least, budget * fleet.expected / (for_target + fleet.expected))


def _client_usd(quote: Quote) -> float:
    """Give the price of a load client's GiB and second."""
    found = (line.price for line in quote.lines if line.price.name == "arm64-duration")
    return next((price.usd or 0.0 for price in found), 0.0)


def _fleet(quote: Quote) -> Amounts:
    lines = [line.usd for line in quote.lines if line.price.item in FLEET_ITEMS and line.usd]
    return Amounts(
        least=sum(usd.least for usd in lines),
        expected=sum(usd.expected for usd in lines),
        most=sum(usd.most for usd in lines),
    )


def planned_steps(files: RunFiles) -> list[StepPlan]:
    """Read every step that was ever planned, the warming one and one under way too."""
    paths = [path for path in files.paths("steps/") if path.endswith("/plan.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    return [files.get(plan_path(number), StepPlan) for number in numbers]
