"""The cost of background work: steps at the answer's load with and without it, in turn. No I/O.

The search finds its answer with the background running. Then the same load is measured in pairs of
steps that differ only in the background. In a closed loop the cost is the ratio of throughputs; in
an open loop, whose rate is fixed, it is the ratio of latencies.
"""

from collections.abc import Mapping, Sequence

from plimsoll import words
from plimsoll.capacity.confirm.closing import split_closing_steps
from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import find_axis, plan_next_step
from plimsoll.capacity.statistics.pairing import Pairing, describe_missing_pairs, pair_neighbors
from plimsoll.capacity.steps.loads import Repetition, explain_dispute, select_undisputed
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


def plan_run_step(request: Request, finished: Sequence[Step]) -> NextStep | Done:
    """Return the next step: of the search, then of the pairs that measure the background's cost.

    Args:
        request: request of the run.
        finished: every finished step of the run, in the order in which they ran.

    Raises:
        UsageError: See `plan_next_step`.
    """
    of_search = [step for step in finished if step.purpose not in (WITH, WITHOUT)]
    seed = request.load.seed
    following = plan_next_step(request.search, of_search, request.limits, request.toggle, seed=seed)
    if isinstance(following, NextStep) or not request.background:
        return following
    wanted, tried = request.background_pairs, _select_pair_steps(finished)
    pairing = _make_pairing(tried, request.limits)
    purpose = pairing.next_state(
        WITH, wanted=wanted, tries_left=2 * wanted + SPARE_TRIES - len(tried), seed=seed
    )
    if purpose is None:
        return following
    load = find_pairs_load(of_search, request.limits, find_axis(request.search))
    if load is None:
        return following
    return NextStep(
        index=len(finished),
        clients=load.clients or 1,
        connections=load.connections or 1,
        rate_ops_per_second=load.rate_ops_per_second,
        purpose=purpose,
        state=request.toggle.states[0].name if request.toggle else None,  # the answer's state
        recover_first=True,
        why=f"pair {len(pairing.pairs) + 1} of {wanted}: cost of the background load",
    )


def find_pairs_load(finished: Sequence[Step], rules: Rules, axis: Axis) -> Step | None:
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


def _select_pair_steps(finished: Sequence[Step]) -> list[Step]:
    return [step for step in finished if step.purpose in (WITH, WITHOUT)]


def _make_pairing(tried: Sequence[Step], rules: Rules) -> Pairing[Repetition, Purpose | None]:
    undisputed = select_undisputed(tried, rules)
    return pair_neighbors(undisputed, lambda one: one.step.purpose, (WITHOUT, WITH))


def measure_background_cost(request: Request, finished: Sequence[Step]) -> BackgroundCost | None:
    """Return the cost of all backgrounds together; None if no pairs were to measure it.

    Args:
        request: request of the run.
        finished: every finished step of the run, in the order in which they ran.
    """
    tried, statistic = _select_pair_steps(finished), request.limits.statistic
    if not tried:
        return None
    names = [background.name for background in request.background]
    pairing = _make_pairing(tried, request.limits)
    throughput = pairing.ratio(lambda one: one.figures.throughput)
    latency = pairing.ratios(lambda one: one.figures.latency_us)
    if pairing.pairs:
        told = _describe_cost_detail(tried[0], names, statistic, throughput, latency)
        few = describe_missing_pairs(throughput, request.background_pairs)
        told += f"; {few}" if few else ""
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
            f"{slowest} {words.name_statistic(statistic)} is {_format_ratio(known[slowest])}"
            " times as long"
        )
        parts.append(told if parts else f"with {who}, {told}")
    at = (
        words.format_count(load.connections or 1, "connection")
        if closed
        else words.format_throughput(load.rate_ops_per_second)
    )
    count = words.format_count(throughput.pairs, "pair")
    return f"{'; '.join(parts)}; at {at} ({count} of steps with and without it)"


def _describe_cost(throughput: PairedRatio) -> str:
    """Describe the share of the throughput that it costs, with a 95 % interval in percent."""
    if throughput.ratio is None:
        return "costs an unknown share of the throughput: a step had none"
    share = words.format_percent(1 - throughput.ratio)
    if throughput.low is None or throughput.high is None:
        return f"costs {share} of the throughput"
    span = f"[{100 * (1 - throughput.high):.0f}, {100 * (1 - throughput.low):.0f}] %"
    if not throughput.differs:
        return f"costs no measurable share of the throughput: {share} (95 % interval {span})"
    if throughput.ratio > 1:
        gained = words.format_percent(throughput.ratio - 1)
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
