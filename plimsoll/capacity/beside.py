"""The cost of background work: steps at the answer's load with and without it, in turn. No I/O.

The search finds its answer with the background running. Then the same load is measured in pairs of
steps that differ only in the background. The order alternates (with, without; without, with), so
that drift favors neither side. In a closed loop the cost is the ratio of throughputs; in an open
loop, whose rate is fixed, it is the ratio of latencies.
"""

from collections.abc import Mapping, Sequence

from plimsoll import words
from plimsoll.capacity.confirm.closing import split_closing_steps
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import axis_of, plan_next_step
from plimsoll.capacity.statistics.intervals import next_state, pair_neighbors, paired_ratio
from plimsoll.capacity.steps.loads import explain_dispute, select_undisputed
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import Axis, Rules
from plimsoll.model.judging.closing import BackgroundCost, PairedRatio
from plimsoll.model.judging.steps import Purpose, Statistic, Step
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep

WITH: Purpose = "with_background"
WITHOUT: Purpose = "without_background"
SPARE_TRIES = 2  # spare steps beyond the pairs, in case one does not count
KEPT_UP = 0.97  # open loop: a lower share of the throughput is reported beside the latencies


def next_run_step(request: Request, finished: Sequence[Step]) -> NextStep | Done:
    """Return the next step: of the search, then of the pairs that measure the background's cost.

    Args:
        request: request of the run.
        finished: every finished step of the run, in the order in which they ran.

    Raises:
        UsageError: See `plan_next_step`.
    """
    of_search = [step for step in finished if step.purpose not in (WITH, WITHOUT)]
    following = plan_next_step(request.search, of_search, request.limits, request.toggle)
    if isinstance(following, NextStep) or not request.background:
        return following
    wanted, tried = request.background_pairs, _pair_steps(finished)
    pairs, waiting = pair_neighbors(_counting_steps(tried, request.limits), _pair_purpose)
    if len(pairs) >= wanted or len(tried) >= 2 * wanted + SPARE_TRIES:
        return following
    load = pairs_load(of_search, request.limits, axis_of(request.search))
    if load is None:
        return following
    return NextStep(
        index=len(finished),
        clients=load.clients or 1,
        connections=load.connections or 1,
        rate_ops_per_second=load.rate_ops_per_second,
        purpose=next_state(
            (WITH, WITHOUT), len(pairs), _pair_purpose(waiting) if waiting else None
        ),
        state=request.toggle.states[0].name if request.toggle else None,  # the answer's state
        recover_first=True,
        why=f"pair {len(pairs) + 1} of {wanted}: cost of the background load",
    )


def _pair_purpose(step: Step) -> Purpose:
    return WITH if step.purpose == WITH else WITHOUT


def pairs_load(finished: Sequence[Step], rules: Rules, axis: Axis) -> Step | None:
    """Return a step at the answer's load, or at the lightest load if there is no answer.

    Args:
        finished: steps of the search.
        rules: rules by which the search judges.
        axis: axis of the load.
    """
    searched, _ = split_closing_steps(finished)
    try:
        capacity = judge(finished, rules, axis)
    except UsageError:  # nothing can be judged; the run reports it when it concludes
        return None
    loads = {getattr(step, axis): step for step in searched}
    return loads.get(capacity.at) if capacity.at is not None else loads[min(loads)]


def _pair_steps(finished: Sequence[Step]) -> list[Step]:
    return [step for step in finished if step.purpose in (WITH, WITHOUT)]


def _counting_steps(tried: Sequence[Step], rules: Rules) -> list[Step]:
    return [repetition.step for repetition in select_undisputed(tried, rules)]


def background_cost(request: Request, finished: Sequence[Step]) -> BackgroundCost | None:
    """Return the cost of all backgrounds together; None if no pairs were to measure it.

    Args:
        request: request of the run.
        finished: every finished step of the run, in the order in which they ran.
    """
    tried, statistic = _pair_steps(finished), request.limits.statistic
    if not tried:
        return None
    names = [background.name for background in request.background]
    in_time, _ = pair_neighbors(_counting_steps(tried, request.limits), _pair_purpose)
    pairs = [_order_pair(*pair) for pair in in_time]
    throughput = paired_ratio(
        [(a.throughput_ops_per_second or 0.0, b.throughput_ops_per_second or 0.0) for a, b in pairs]
    )
    latency = {
        name: paired_ratio(known)
        for name in (pairs[0][0].latency_us if pairs else ())
        if len(known := _latencies(pairs, name, statistic)) == len(pairs)
    }
    if pairs:
        told = _describe_cost_detail(tried[0], names, statistic, throughput, latency)
        asked = words.plural(request.background_pairs, "pair")
        few = len(pairs) < request.background_pairs
        told += f"; only {len(pairs)} of {asked} could be measured" if few else ""
    else:
        lost = explain_dispute(tried, request.limits) or "no pair of steps counts"
        told = f"the cost of {_name_backgrounds(names)} is not known: {lost}"
    return BackgroundCost(
        names=tuple(names),
        connections=tried[0].connections or 1,
        rate_ops_per_second=tried[0].rate_ops_per_second,
        throughput=throughput,
        latency=latency,
        detail=told,
    )


def _name_backgrounds(names: Sequence[str]) -> str:
    return " and ".join(names)


def _order_pair(one: Step, other: Step) -> tuple[Step, Step]:
    """Return the step without the background, then the step with it."""
    return (one, other) if one.purpose == WITHOUT else (other, one)


def _latencies(
    pairs: Sequence[tuple[Step, Step]], name: str, statistic: Statistic
) -> list[tuple[float, float]]:
    found = [[step.latency_us.get(name, {}).get(statistic) for step in pair] for pair in pairs]
    return [(a, b) for a, b in found if a is not None and b is not None]


def _describe_cost_detail(
    load: Step,
    names: Sequence[str],
    statistic: Statistic,
    throughput: PairedRatio,
    latency: Mapping[str, PairedRatio],
) -> str:
    who, parts = _name_backgrounds(names), []
    closed = load.rate_ops_per_second is None
    known = {name: ratio for name, ratio in latency.items() if ratio.ratio is not None}
    if closed or not known or (throughput.ratio is not None and throughput.ratio < KEPT_UP):
        parts.append(f"{who} {_describe_cost(throughput)}")
    if known:
        slowest = max(known, key=lambda name: known[name].ratio or 0.0)
        told = (
            f"{slowest} {words.statistic(statistic)} is {_format_ratio(known[slowest])}"
            " times as long"
        )
        parts.append(told if parts else f"with {who}, {told}")
    at = (
        words.plural(load.connections or 1, "connection")
        if closed
        else words.throughput(load.rate_ops_per_second)
    )
    count = words.plural(throughput.pairs, "pair")
    return f"{'; '.join(parts)}; at {at} ({count} of steps with and without it)"


def _describe_cost(throughput: PairedRatio) -> str:
    """Describe the share of the throughput that it costs, with a 95 % interval in percent."""
    if throughput.ratio is None:
        return "costs an unknown share of the throughput: a step had none"
    share = words.percent(1 - throughput.ratio)
    if throughput.low is None or throughput.high is None:
        return f"costs {share} of the throughput"
    span = f"[{100 * (1 - throughput.high):.0f}, {100 * (1 - throughput.low):.0f}] %"
    if not throughput.differs:
        return f"costs no measurable share of the throughput: {share} (95 % interval {span})"
    if throughput.ratio > 1:
        gained = words.percent(throughput.ratio - 1)
        return (
            f"costs nothing: throughput is {gained} higher with it (95 % interval of the cost:"
            f" {span})"
        )
    return f"costs {share} of the throughput (95 % interval {span})"


def _format_ratio(ratio: PairedRatio) -> str:
    assert ratio.ratio is not None  # noqa: S101 - callers check
    if ratio.low is None or ratio.high is None:
        return f"{ratio.ratio:.2f}"
    return f"{ratio.ratio:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
