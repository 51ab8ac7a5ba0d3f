"""A step in one line: as it begins, and as it ends. Pure."""

from plimsoll import words
from plimsoll.model.fleet import WARMING_STEP, StepPlan
from plimsoll.model.results import StepResult
from plimsoll.model.steps import Statistic


def planned_words(plan: StepPlan, of: int | None = None) -> str:
    """Describe a step that begins, of about how many; None: that is not said."""
    if plan.index == WARMING_STEP:
        return f"warming: {words.duration(plan.duration_s)} of unmeasured load"
    parts = [words.plural(plan.clients, "client"), words.plural(plan.connections, "connection")]
    if plan.phase is not None:
        parts.insert(0, plan.why if plan.operations is not None else f"phase {plan.phase}")
    if plan.rate_ops_per_second:
        parts.append(words.load(plan.rate_ops_per_second, "rate_ops_per_second"))
    if plan.background:
        parts.append(f"with {' and '.join(load.name for load in plan.background)} beside")
    elif plan.purpose == "without_background":
        parts.append("nothing beside")
    if plan.window_factor > 1:
        parts.append(f"{words.duration(plan.duration_s)} of window, since its halves disagreed")
    about = "" if of is None or plan.index > of else f" of about {of}"
    return f"step {plan.index}{about}: {', '.join(parts)}"


def finished_words(step: StepResult, statistic: Statistic) -> str:
    """Describe a finished step in one line."""
    figure, length_s = step.step.throughput_ops_per_second, step.step.window_s
    parts = ["nothing succeeded" if figure is None else words.throughput(figure)]
    parts += [
        f"{name} {words.statistic(statistic)} {words.latency(latencies.get(statistic))}"
        for name, latencies in sorted(step.step.latency_us.items())
    ]
    if step.plan.operations is not None and length_s:
        records = sum(totals.records for totals in step.operations.values())
        rate = f"{words.rate(records / length_s)} records/s"
        parts = [f"{words.number(records)} records in {words.duration(length_s)}: {rate}"]
    if step.step.errors:
        parts.append(words.plural(step.step.errors, "error"))
    return "; ".join(parts)
