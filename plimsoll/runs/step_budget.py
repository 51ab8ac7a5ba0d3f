"""The load's part of a budget: a step that it does not pay for is not started."""

from plimsoll.aws.run_files import QUOTE, RunFiles, plan_path
from plimsoll.aws.run_records import BudgetPassedError
from plimsoll.figures import plural
from plimsoll.model.fleet import StepPlan
from plimsoll.model.quote import Quote
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord
from plimsoll.quoting.charges import Extent, fleet_charges
from plimsoll.quoting.extents import client_s, extent


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
    others = [planned for planned in planned_steps(files) if planned.index != plan.index]
    spent = fleet_usd(quote, used_by_fleet(record, request, [*others, plan]))
    if spent > float(record.budget.fleet_usd):
        raise BudgetPassedError(
            f"the run's budget of ${record.budget.usd} keeps ${record.budget.fleet_usd} for its"
            f" load; with step {plan.index} ({plural(plan.clients, 'client')}) it would be"
            f" ${spent:.6f}"
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


def planned_steps(files: RunFiles) -> list[StepPlan]:
    """Read every step that was ever planned, the warming one and one under way too."""
    paths = [path for path in files.paths("steps/") if path.endswith("/plan.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    return [files.get(plan_path(number), StepPlan) for number in numbers]
