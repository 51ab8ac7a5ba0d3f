"""Words for a run: its steps, limiting resource, target, toggle and cost. Pure."""

from plimsoll import words
from plimsoll.model.judging.closing import PairedRatio
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.toggle import StateFigures, ToggleResult
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import LimitingResource, RunResult, StepResult
from plimsoll.report.tables import ReportCell, ReportTable


def announce_plan(plan: StepPlan) -> str:
    """Describe a step that begins, in one line, and why if the load is repeated."""
    why = f"; {plan.why}" if plan.purpose == "again" else ""
    return f"{describe_plan(plan)}{why}"


def describe_plan(plan: StepPlan, of: int | None = None) -> str:
    """Describe a step that begins, in one line.

    Args:
        plan: The step's plan.
        of: The approximate number of steps; None leaves it out.
    """
    if plan.index == WARMING_STEP:
        return f"warming: {words.format_duration(plan.duration_s)} of unmeasured load"
    parts = [
        words.format_count(plan.clients, "client"),
        words.format_count(plan.connections, "connection"),
    ]
    if plan.phase is not None:
        parts.insert(0, plan.why if plan.operations is not None else f"phase {plan.phase}")
    if plan.rate_ops_per_second:
        parts.append(words.format_load(plan.rate_ops_per_second, "rate_ops_per_second"))
    if plan.background:
        parts.append(
            f"with {' and '.join(load.name for load in plan.background)} in the background"
        )
    elif plan.purpose == "without_background":
        parts.append("without background")
    if plan.window_factor > 1:
        parts.append(
            f"window of {words.format_duration(plan.duration_s)}, since its halves differed"
        )
    about = "" if of is None or plan.index > of else f" of about {of}"
    return f"step {plan.index}{about}: {', '.join(parts)}"


def describe_finished_step(step: StepResult, statistic: Statistic) -> str:
    """Describe a finished step in one line."""
    figure, length_s = step.step.throughput_ops_per_second, step.step.window_s
    parts = ["nothing succeeded" if figure is None else words.format_throughput(figure)]
    parts += [
        f"{name} {words.name_statistic(statistic)} {words.format_latency(latencies.get(statistic))}"
        for name, latencies in sorted(step.step.latency_us.items())
    ]
    if step.plan.operations is not None and length_s:
        records = sum(totals.records for totals in step.operations.values())
        rate = f"{words.format_rate(records / length_s)} records/s"
        parts = [
            f"{words.format_number(records)} records in {words.format_duration(length_s)}: {rate}"
        ]
    if step.step.errors:
        parts.append(words.format_count(step.step.errors, "error"))
    return "; ".join(parts)


# What set the limit: its name, how near it was, and the remedy.


def name_limit(limiting: LimitingResource | None) -> str:
    """Name what set the limit, for a cell; mark a resource that was only nearest to its limit."""
    if limiting is None:
        return words.NOTHING
    name = words.RESOURCES[limiting.resource]
    return (
        name if _is_reached(limiting) else f"nearest: {name} {words.format_percent(limiting.share)}"
    )


def list_limit_facts(limiting: LimitingResource) -> list[tuple[str, str]]:
    """Name what set the limit, what comes second, and the remedies."""
    step = "" if limiting.step is None else f" (step {limiting.step})"
    name, near = words.RESOURCES[limiting.resource], words.format_percent(limiting.share)
    met = ("Limited by", f"{name}{step}")
    facts = [met if _is_reached(limiting) else ("Nearest to its limit", f"{name}, {near}{step}")]
    if limiting.to_change is not None:
        facts.append(("Remedy", limiting.to_change))
    if limiting.second is not None:
        second = limiting.second
        share = "" if second.share is None else f", {words.format_percent(second.share)}"
        text = f"{words.RESOURCES[second.resource]}{share}; remedy: {second.to_change}"
        facts.append(("Next limit", text))
    return facts


def describe_limiting(limiting: LimitingResource) -> str:
    """Describe what set the limit, as a part of a sentence."""
    name = words.RESOURCES[limiting.resource]
    if limiting.resource == "unknown":
        return "the target's metrics do not show what set the limit"
    if _is_reached(limiting):
        return f"{name} set the limit"
    return f"nothing that was measured was at its limit; closest: {name}" + (
        "" if limiting.share is None else f" ({words.format_percent(limiting.share)})"
    )


def _is_reached(limiting: LimitingResource) -> bool:
    """Return whether the resource set the limit; older results name no other."""
    return limiting.reached is not False or limiting.resource == "unknown"


# The target: its version and size, or its stand-in on this machine.


def describe_run_target(result: RunResult) -> str:
    """Name a run's target: `MariaDB 11.4.5 on this machine, for MariaDB 11.4 on ...`."""
    versions, target = result.versions, result.request.target
    stand_in = versions.server if result.local and target.provisioned else None
    return describe_target(target, version=versions.database, stand_in=stand_in)


# What a toggle showed.


def describe_toggle(found: ToggleResult) -> list[str]:
    """Describe each state's figure and settings, and the latencies."""
    lines = [
        f"{state.name}: {words.format_throughput(state.throughput_ops_per_second)}"
        f" ({_describe_state(state)})"
        for state in found.states
    ]
    statistic = words.name_statistic(found.statistic)
    lines += [
        f"{name} {statistic}: {words.format_ratio(ratio.ratio)} times ({_format_interval(ratio)})"
        for name, ratio in found.latency.items()
        if ratio.ratio is not None
    ]
    if found.left_out:
        lines.append(f"{words.format_count(found.left_out, 'step')} of the pairs left out")
    return lines


def make_toggle_table(found: ToggleResult | None) -> ReportTable | None:
    """Build a table of throughput, latencies and parameters with one column for each state."""
    if found is None:
        return None
    first, second = found.states
    statistic = words.name_statistic(found.statistic)
    rows = [
        (
            "throughput, ops/s",
            *(words.format_rate(state.throughput_ops_per_second) for state in found.states),
            *_format_cells(found.throughput),
        ),
        *(
            (f"{name}, {statistic} latency", words.NOTHING, words.NOTHING, *_format_cells(ratio))
            for name, ratio in found.latency.items()
        ),
        *(
            [("reached at", first.endpoint, second.endpoint or "", "", "")]
            if first.endpoint
            else []
        ),
        *(
            (
                name,
                _choose_reported_value(first, name),
                _choose_reported_value(second, name),
                "",
                "",
            )
            for name in sorted(first.parameters)
        ),
    ]
    columns = ("", first.name, second.name, f"{second.name} / {first.name}", "95 % interval")
    cells = tuple(tuple(ReportCell(text) for text in row) for row in rows)
    return ReportTable(columns=columns, rows=cells)


def _format_cells(ratio: PairedRatio) -> tuple[str, str]:
    value = words.NOTHING if ratio.ratio is None else words.format_ratio(ratio.ratio)
    return value, _format_interval(ratio)


def _format_interval(ratio: PairedRatio) -> str:
    return words.format_ratio_interval(ratio.low, ratio.high)


def _choose_reported_value(state: StateFigures, parameter: str) -> str:
    """Return a parameter's value from the server; if it did not report it, the requested one."""
    return state.server_says.get(parameter, f"{state.parameters[parameter]} (as requested)")


def _describe_state(state: StateFigures) -> str:
    """Describe what makes a state, and whether the server has confirmed it."""
    if state.endpoint is not None:
        return f"reached at {state.endpoint}"
    doubt = "" if state.server_says else ", not confirmed by the server"
    return f"{_format_settings(state.server_says or state.parameters)}{doubt}"


def _format_settings(values: dict[str, str] | dict[str, str | int]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())


# Dollars: the target's price per hour and its source, and the cost of a run.


AS_IF = (
    "Dollars are AWS list prices divided by this machine's throughput: they compare these targets"
    " with each other, and say nothing about AWS."
)


def compute_hourly_usd(result: RunResult, given: float | None = None) -> float | None:
    """Return the target's price per hour in dollars: `given`, else the run's estimate.

    None if it is not known. If I/Os are charged, those of the answer's load are included.
    """
    if given is not None:
        return given
    cost = result.cost
    if cost is None or cost.target_usd_per_hour is None:
        return None
    if cost.io is None or cost.io.usd == 0:
        return cost.target_usd_per_hour
    capacity, each = result.capacity, cost.io.usd_per_million_operations
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if each is None or figure is None:
        return None
    return cost.target_usd_per_hour + each * figure * 3600 / 1e6


def explain_no_price(result: RunResult) -> str:
    """Explain why the target's price per hour is not known."""
    cost = result.cost
    if cost is None:
        return "no cost was estimated"
    if cost.missing:
        return f"no price is known of {', '.join(cost.missing)}"
    if cost.target_usd_per_hour is None:
        return "the price of an endpoint is not known"
    return "its I/Os are charged, but were not counted"


def name_price_source(result: RunResult, given: float | None = None) -> str:
    """Name the source of the price per hour."""
    if given is not None or result.cost is None:
        return "as given"
    charged = result.cost.io is not None and result.cost.io.usd != 0
    listed = f"list price of {result.cost.region}, {result.cost.as_of}"
    if charged:
        listed += ", its I/Os at this load included"
    if result.cost.basis == "as-if-on-aws":
        return f"the AWS {listed}, of such a target, with this machine's throughput"
    return listed


def describe_run_cost(result: RunResult) -> str | None:
    """Describe what the run has cost; None if nothing was spent or estimated."""
    cost = result.cost
    if cost is None or cost.basis == "as-if-on-aws":
        return None
    of_io = f"; {cost.io.sentence}" if cost.io else ""
    if cost.usd is None:
        why = f": no price for {', '.join(cost.missing)}" if cost.missing else ""
        return f"not known{why}{of_io}"
    listed = f"estimated by list prices of {cost.region} ({cost.as_of})"
    return f"{words.format_usd(cost.usd)}, {listed}{of_io}"
