"""What runs beside a load takes: the load of the answer with it and without it, taking turns. Pure.

The search finds its answer with the background on. Then the same load is measured in pairs of steps
that differ in nothing else. Their order alternates (with, without; without, with), so that a drift
favors neither side. In a closed loop the ratio of throughputs is what the background takes; in an
open loop, where the rate is given, the ratio of latencies.
"""

from collections.abc import Mapping, Sequence

from plimsoll import words
from plimsoll.capacity.closing import parted
from plimsoll.capacity.judge import judge
from plimsoll.capacity.pairs import paired_ratio
from plimsoll.capacity.search import axis_of, next_step
from plimsoll.errors import UsageError
from plimsoll.model.capacity import Axis, Rules
from plimsoll.model.closing import BackgroundCost
from plimsoll.model.paired import PairedRatio
from plimsoll.model.request import Request
from plimsoll.model.search_request import Done, NextStep
from plimsoll.model.steps import Purpose, Statistic, Step

WITH: Purpose = "with_background"
WITHOUT: Purpose = "without_background"
SPARE_TRIES = 2  # steps more than the pairs need: one may say nothing
KEPT_UP = 0.97  # open loop: with less of the throughput than this, it is told beside the latencies


def next_of_all(request: Request, finished: Sequence[Step]) -> NextStep | Done:
    """Say which step comes next: the search's, then the pairs that tell what the background takes.

    Args:
        request: What is asked for.
        finished: Every finished step of the run, in the order in which they ran.

    Raises:
        UsageError: As `next_step`.
    """
    of_search = [step for step in finished if step.purpose not in (WITH, WITHOUT)]
    following = next_step(request.search, of_search, request.limits, request.toggle)
    if isinstance(following, NextStep) or not request.background:
        return following
    wanted, done = 2 * request.background_pairs, len(_valid(finished))
    tries = len(finished) - len(of_search)
    if done >= wanted or tries >= wanted + SPARE_TRIES:
        return following
    load = pairs_load(of_search, request.limits, axis_of(request.search))
    if load is None:
        return following
    pair = done // 2 + 1
    return NextStep(
        index=len(finished),
        clients=load.clients or 1,
        connections=load.connections or 1,
        rate_ops_per_second=load.rate_ops_per_second,
        purpose=_purpose(done),
        state=request.toggle.states[0].name if request.toggle else None,  # that of the answer
        recover_first=True,
        why=f"pair {pair} of {request.background_pairs}: what does the background take?",
    )


def _purpose(number: int) -> Purpose:
    """Of a step of the pairs, by its number from 0: with, without, without, with, with ..."""
    first, second = (WITH, WITHOUT) if number // 2 % 2 == 0 else (WITHOUT, WITH)
    return second if number % 2 else first


def pairs_load(finished: Sequence[Step], rules: Rules, axis: Axis) -> Step | None:
    """Find a step at the answer's load; at the lightest one where there is no answer.

    Args:
        finished: The steps of the search.
        rules: By which it judges.
        axis: What its load is.
    """
    searched, _ = parted(finished)
    try:
        capacity = judge(finished, rules, axis)
    except UsageError:  # nothing that can be judged: the run says so when it concludes
        return None
    loads = {getattr(step, axis): step for step in searched}
    return loads.get(capacity.at) if capacity.at is not None else loads[min(loads)]


def _valid(finished: Sequence[Step]) -> list[Step]:
    return [s for s in finished if s.purpose in (WITH, WITHOUT) and s.void is None]


def background_cost(
    finished: Sequence[Step], names: Sequence[str], statistic: Statistic
) -> BackgroundCost | None:
    """Say what the background takes; None where no pair was measured.

    Args:
        finished: Every finished step of the run, in the order in which they ran.
        names: Of the backgrounds, which are told together: all of them were on, or none.
        statistic: Of the latencies.
    """
    steps = _valid(finished)
    pairs = [_ordered(*pair) for pair in zip(steps[::2], steps[1::2], strict=False)]
    if not pairs:
        return None
    throughput = paired_ratio(
        [(a.throughput_ops_per_second or 0.0, b.throughput_ops_per_second or 0.0) for a, b in pairs]
    )
    latency = {
        name: paired_ratio(known)
        for name in pairs[0][0].latency_us
        if len(known := _latencies(pairs, name, statistic)) == len(pairs)
    }
    load = steps[0]
    return BackgroundCost(
        names=tuple(names),
        connections=load.connections or 1,
        rate_ops_per_second=load.rate_ops_per_second,
        throughput=throughput,
        latency=latency,
        detail=_detail(load, names, statistic, throughput, latency),
    )


def _ordered(one: Step, other: Step) -> tuple[Step, Step]:
    """Without it, with it."""
    return (one, other) if one.purpose == WITHOUT else (other, one)


def _latencies(
    pairs: Sequence[tuple[Step, Step]], name: str, statistic: Statistic
) -> list[tuple[float, float]]:
    found = [[step.latency_us.get(name, {}).get(statistic) for step in pair] for pair in pairs]
    return [(a, b) for a, b in found if a is not None and b is not None]


def _detail(
    load: Step,
    names: Sequence[str],
    statistic: Statistic,
    throughput: PairedRatio,
    latency: Mapping[str, PairedRatio],
) -> str:
    who, parts = " and ".join(names), []
    closed = load.rate_ops_per_second is None
    if closed or (throughput.ratio is not None and throughput.ratio < KEPT_UP):
        parts.append(f"{who} {_taken(throughput)}")
    known = {name: ratio for name, ratio in latency.items() if ratio.ratio is not None}
    if known:
        slowest = max(known, key=lambda name: known[name].ratio or 0.0)
        told = f"{slowest} {words.statistic(statistic)} is {_times(known[slowest])} times as long"
        parts.append(told if parts else f"with {who}, {told}")
    at = (
        words.plural(load.connections or 1, "connection")
        if closed
        else words.throughput(load.rate_ops_per_second)
    )
    count = words.plural(throughput.pairs, "pair")
    return f"{'; '.join(parts)}; at {at} ({count} of steps with and without it)"


def _taken(throughput: PairedRatio) -> str:
    """What of the throughput it takes: a share, with its 95 % interval in percent."""
    if throughput.ratio is None:
        return "takes a share of the throughput that is not known: a step had none"
    share = words.percent(1 - throughput.ratio)
    if throughput.low is None or throughput.high is None:
        return f"takes {share} of the throughput"
    span = f"[{100 * (1 - throughput.high):.0f}, {100 * (1 - throughput.low):.0f}] %"
    if not throughput.differs:
        return f"takes no share of the throughput that can be told from none: {share}, {span}"
    if throughput.ratio > 1:
        gained = words.percent(throughput.ratio - 1)
        return f"takes nothing: throughput is {gained} higher with it, {span} less"
    return f"takes {share} of the throughput, {span}"


def _times(ratio: PairedRatio) -> str:
    assert ratio.ratio is not None  # noqa: S101 - the caller has looked
    if ratio.low is None or ratio.high is None:
        return f"{ratio.ratio:.2f}"
    return f"{ratio.ratio:.2f} [{ratio.low:.2f}, {ratio.high:.2f}]"
