"""Judges whether a capacity meets a rule: met, not met, or no answer. No I/O.

The result is "no answer" if the figures do not decide the rule.
"""

from collections.abc import Sequence
from statistics import median_high

from plimsoll import words
from plimsoll.capacity.steps.loads import group_by_load
from plimsoll.model.judging.capacity import Capacity, JudgedStep
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.expectations import Answer, CapacityRule, Expectation, LatencyRule

# A failing load up to this factor above the rule's load shows that the rule's load fails too
NEAR = 1.10


def has_answer(capacity: Capacity) -> bool:
    """Return whether a verdict tells something about the target: a figure, or nothing passes."""
    figure = capacity.max_sustainable_throughput_ops_per_second
    return figure is not None or capacity.verdict == "BELOW_FIRST_STEP"


def judge_capacity(rule: CapacityRule, capacity: Capacity) -> Expectation:
    """Compare the figure of a capacity with the expected minimum."""
    figure, bound = capacity.max_sustainable_throughput_ops_per_second, capacity.bound
    if figure is None or bound is None:
        return Expectation(rule=rule.text, answer="no answer", because=capacity.sentence)
    least = rule.least_ops_per_second
    answer: Answer = "no answer"
    if bound != "<" and figure >= least:
        answer = "met"
    elif bound == "=" or (bound == "<" and figure <= least):
        answer = "not met"
    because = f"the capacity is {words.prepend_bound(words.format_throughput(figure), bound)}"
    if bound == "=" and (sure := capacity.interval) is not None:
        low, high = sure.low_ops_per_second, sure.high_ops_per_second
        because += f" (95 % interval {words.format_rate(low)} to {words.format_throughput(high)})"
    if answer == "no answer":
        because += (
            f", a bound that does not decide whether {words.format_throughput(least)} is reached"
        )
    return Expectation(rule=rule.text, answer=answer, because=because)


def judge_latency(rule: LatencyRule, capacity: Capacity) -> Expectation:
    """Compare the latencies of the lightest load that reaches the rule's load with the limit.

    A load reaches it if the median throughput of its repetitions does; in an open loop, if its rate
    does and it kept up. Loads that an audit disputes or whose clients were the limit are left out.
    If that load is far above the rule's load, a latency beyond the limit decides only if a lighter
    load exceeds the limit too.
    """
    loads = [step for step in capacity.steps if step.consistent and not step.client_bound]
    at = words.format_throughput(rule.at_ops_per_second)
    open_loop = capacity.axis == "rate_ops_per_second"
    reached = [s for s in loads if _load_size(s, open_loop=open_loop) >= rule.at_ops_per_second]
    if not reached:
        why = f"no load that counts reached {at}"
        return Expectation(rule=rule.text, answer="no answer", because=why)
    chosen = min(reached, key=lambda s: _load_size(s, open_loop=open_loop))
    done = chosen.throughput_ops_per_second
    near = _load_size(chosen, open_loop=open_loop) <= NEAR * rule.at_ops_per_second
    if open_loop and done < capacity.rules.kept_up_share * rule.at_ops_per_second:
        because = (
            f"at {words.format_load(chosen.load, capacity.axis)}, only"
            f" {words.format_throughput(done)} were"
            " completed"
        )
        return Expectation(
            rule=rule.text, answer="not met" if near else "no answer", because=because
        )
    lighter = [s for s in loads if _load_size(s, open_loop=open_loop) < rule.at_ops_per_second]
    names = [rule.operation] if rule.operation is not None else list(chosen.limit_us)
    found = [_judge_operation(rule, name, capacity, chosen, lighter, near=near) for name in names]
    where = f" at {words.format_throughput(done)} ({words.format_load(chosen.load, capacity.axis)})"
    because = "; ".join(text for _, text in found) + where
    answers = [answer for answer, _ in found]
    order: tuple[Answer, ...] = ("not met", "no answer", "met")
    answer: Answer = next((one for one in order if one in answers), "no answer")
    if answer == "no answer" and "not known" not in because:
        because += f", and no load nearer to {at} was tried"
    return Expectation(rule=rule.text, answer=answer, because=because)


def _load_size(step: JudgedStep, *, open_loop: bool) -> float:
    return step.load if open_loop else step.throughput_ops_per_second


def _judge_operation(
    rule: LatencyRule,
    name: str,
    capacity: Capacity,
    chosen: JudgedStep,
    lighter: Sequence[JudgedStep],
    *,
    near: bool,
) -> tuple[Answer, str]:
    """Judge one operation. Returns the answer and the figure in words."""
    what = f"{name} {words.name_statistic(rule.statistic)}"
    us = _find_latency_us(capacity, chosen, name, rule.statistic)
    if us is None:
        return "no answer", f"{what} is not known"
    text = f"{what} was {words.format_latency(us)}"
    if us <= rule.most_us:
        return "met", text
    before = [_find_latency_us(capacity, step, name, rule.statistic) for step in lighter]
    decided = near or any(us is not None and us > rule.most_us for us in before)
    return ("not met" if decided else "no answer"), text


def _find_latency_us(
    capacity: Capacity, load: JudgedStep, operation: str, statistic: Statistic
) -> float | None:
    """Return the latency of a load in microseconds; None if unknown.

    For a statistic that was not judged, it is that of the middle undisputed repetition, or the
    slower of the middle two: the mean of percentiles is no percentile.
    """
    if statistic == capacity.statistic:
        return load.latency_us.get(operation)
    points = group_by_load(load.steps, capacity.rules, capacity.axis)
    latencies = [r.step.latency_us.get(operation, {}) for point in points for r in point.counted]
    known = [latency[statistic] for latency in latencies if statistic in latency]
    return median_high(known) if known else None
