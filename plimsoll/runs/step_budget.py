"""What a run has planned so far, and whether its budget pays for one step more."""

from plimsoll import words
from plimsoll.aws.run_files import QUOTE, RunFiles, plan_path
from plimsoll.errors import BudgetPassedError
from plimsoll.model.fleet import StepPlan
from plimsoll.model.quote import Quote
from plimsoll.model.request import Request
from plimsoll.model.run_record import RunRecord
from plimsoll.quoting.budget import fleet_usd, used_by_fleet


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
    others = [other for other in planned_steps(files) if other.index != plan.index]
    plans = others + [plan] * (plan.round + 1)
    spent = fleet_usd(quote, used_by_fleet(record, request, plans))
    if spent > float(record.budget.fleet_usd):
        raise BudgetPassedError(
            f"the run's budget of {words.usd_each(float(record.budget.usd))} keeps"
            f" {words.usd_each(float(record.budget.fleet_usd))} for its load; with step"
            f" {plan.index} ({words.plural(plan.clients_in_all, 'client')}) it would be"
            f" {words.usd_each(spent)}"
        )


def planned_steps(files: RunFiles) -> list[StepPlan]:
    """Read every step that was ever planned, the warming one and one under way too."""
    paths = [path for path in files.paths("steps/") if path.endswith("/plan.json")]
    numbers = sorted(int(path.split("/")[1]) for path in paths)
    plans = [files.get(plan_path(number), StepPlan) for number in numbers]
    return [plan for plan in plans for _ in range(plan.round + 1)]  # of rounds, the last is written
