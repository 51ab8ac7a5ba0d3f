"""Toggle: the next step of the pairs that compare two states of a target, and their result. No I/O.

The pairs follow the search as closing steps at the answer's load. The answer is that of the first
state; steps in the second state are no repetitions of its load. The order is ABBA (A B, B A,
A B ...): a steady drift favors the second step of each pair, which is of either state in turn, so
the drift cancels over two pairs.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import Shape, Wish, longest_factor
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.intervals import METHOD, next_state, pair_neighbors, paired_ratio
from plimsoll.capacity.steps.loads import Repetition, explain_dispute, select_undisputed
from plimsoll.model.judging.capacity import Axis, Rules
from plimsoll.model.judging.closing import PairedRatio
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.toggle import SPARE_TRIES, StateFigures, Toggle, ToggleResult

WORTH_SHARE = 0.10  # a difference that could be larger than this is not reported as "no difference"

Readings = Mapping[str, Mapping[str, str]]  # {state: {parameter: the server's own value}}


def select_toggle_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the steps of the pairs, including void ones."""
    return [step for step in steps if step.purpose == "toggle"]


def count_remaining_steps(toggle: Toggle | None, finished: Sequence[Step]) -> int:
    """Return the number of steps that the pairs still need; other closing steps must leave them."""
    return 0 if toggle is None else max(0, toggle.steps - len(select_toggle_steps(finished)))


def plan_toggle_step(toggle: Toggle | None, answer: Answer) -> Wish | None:
    """Return the next step of the pairs; None if all are done, or there is no load for them.

    The load is the answer's. Without an answer, it is the search's only load, if it has just one.
    """
    at = answer.at or (answer.judged[0] if len(answer.judged) == 1 else None)
    if toggle is None or at is None:
        return None
    tries = select_toggle_steps(answer.closing)
    pairs, waiting = pair_neighbors(select_undisputed(tries, answer.rules), _state)
    most = toggle.steps + SPARE_TRIES if pairs or waiting else SPARE_TRIES
    if len(pairs) >= toggle.pairs or len(tries) >= most:
        return None
    first, second = (state.name for state in toggle.states)
    state = next_state((first, second), len(pairs), _state(waiting) if waiting else None)
    why = f"pair {len(pairs) + 1} of {toggle.pairs}: {state}"
    factor = longest_factor([r.step for r in at.point.repetitions])
    return Wish(0.0, "toggle", why, shape=_shape(at), window_factor=factor, state=state)


def _state(repetition: Repetition) -> str:
    return repetition.step.state or ""


def _shape(at: Assessed) -> Shape:
    step = (at.point.counted or at.point.repetitions)[0].step
    return Shape(step.clients or 1, step.connections or 1, None)


def judge_toggle(
    toggle: Toggle,
    steps: Sequence[Step],
    rules: Rules,
    *,
    axis: Axis,
    readings: Readings,
    addresses: Mapping[str, str],
) -> ToggleResult:
    """Return the comparison of the two states.

    Args:
        toggle: toggle of the request.
        steps: all steps of the run.
        rules: rules of the search; its audits may dispute steps of the pairs too.
        axis: axis of the load.
        readings: the server's own values of the parameters in each state.
        addresses: address of an existing database in each state; empty for a created target.
    """
    tried = select_toggle_steps(steps)
    first = toggle.states[0].name
    in_time, _ = pair_neighbors(select_undisputed(tried, rules), _state)
    pairs = [(a, b) if _state(a) == first else (b, a) for a, b in in_time]
    throughput = paired_ratio([(a.figures.throughput, b.figures.throughput) for a, b in pairs])
    left_out = len(tried) - 2 * len(pairs)
    load = getattr(pairs[0][0].step, axis) if pairs else None
    found = ToggleResult(
        states=(
            _figures(toggle, 0, [a for a, _ in pairs], readings, addresses),
            _figures(toggle, 1, [b for _, b in pairs], readings, addresses),
        ),
        axis=axis,
        load=load,
        statistic=rules.statistic,
        throughput=throughput,
        latency=_latency(pairs),
        steps=tuple((a.step.index or 0, b.step.index or 0) for a, b in pairs),
        left_out=left_out,
        pairs_asked=toggle.pairs,
        method=METHOD,
        detail="",
    )
    lost = None if pairs else explain_dispute(tried, rules)
    detail = "; ".join(
        [_describe_result(found), *filter(None, [lost]), *_list_doubts(found, pairs, rules)]
    )
    return found.model_copy(update={"detail": detail})


def _figures(
    toggle: Toggle,
    number: int,
    steps: Sequence[Repetition],
    readings: Readings,
    addresses: Mapping[str, str],
) -> StateFigures:
    state = toggle.states[number]
    rates = [repetition.figures.throughput for repetition in steps]
    mean = math.exp(fmean(map(math.log, rates))) if rates and min(rates) > 0 else None
    failed = sum(repetition.step.errors or 0 for repetition in steps)
    asked = failed + sum(repetition.step.operations or 0 for repetition in steps)
    return StateFigures(
        name=state.name,
        parameters=state.parameters,
        endpoint=addresses.get(state.name),
        server_says=dict(readings.get(state.name, {})),
        throughput_ops_per_second=mean,
        errors_share=failed / asked if asked else None,
    )


def _latency(pairs: Sequence[tuple[Repetition, Repetition]]) -> dict[str, PairedRatio]:
    """Return the latency ratios of the operations for which every step of the pairs has them."""
    figures = [(a.figures.latency_us, b.figures.latency_us) for a, b in pairs]
    names = figures[0][0] if figures else ()
    return {
        name: paired_ratio([(before[name], after[name]) for before, after in figures])
        for name in names
        if all(name in before and name in after for before, after in figures)
    }


def _describe_result(found: ToggleResult) -> str:
    ratio, (first, second) = found.throughput, (state.name for state in found.states)
    if not found.steps:
        return f"{first} and {second} were not compared: no pair of steps counts"
    at = f"at {words.load(found.load, found.axis)}" if found.load is not None else ""
    if ratio.ratio is None:
        return f"{first} and {second} have no ratio {at}: nothing succeeded in one of the steps"
    pairs = words.plural(ratio.pairs, "pair")
    value = words.ratio(ratio.ratio)
    if ratio.differs is None or ratio.difference_max_share is None:
        few = f"{pairs} are too few for an interval, so the difference may be noise"
        return f"{second} gives {value} times the throughput of {first} {at}: {few}"
    interval = f"{words.ratio_interval(ratio.low, ratio.high)}"
    if ratio.differs:
        sure = f"({interval}, 95 % interval from {pairs})"
        return f"{second} gives {value} times the throughput of {first} {at} {sure}"
    if ratio.difference_max_share > WORTH_SHARE:
        return (
            f"it is not decided whether {first} and {second} differ {at}: the ratio of the"
            f" throughputs is {value}, 95 % interval {interval} from {pairs}; more pairs or longer"
            " windows would narrow it"
        )
    most = words.percent(ratio.difference_max_share)
    return (
        f"{first} and {second} show no measurable difference {at}: throughput differs by at most"
        f" {most} (ratio {value}, 95 % interval {interval}, {pairs})"
    )


def _list_doubts(
    found: ToggleResult, pairs: Sequence[tuple[Repetition, Repetition]], rules: Rules
) -> list[str]:
    """Return remarks for the reader."""
    doubts = []
    if found.steps and len(found.steps) < found.pairs_asked:
        asked = words.plural(found.pairs_asked, "pair")
        doubts.append(f"only {len(found.steps)} of {asked} could be measured")
    failing = [s for s in found.states if (s.errors_share or 0.0) > rules.errors_max_share]
    doubts += [f"{words.percent(s.errors_share)} of operations failed in {s.name}" for s in failing]
    bound = sum(r.client_bound is not None for pair in pairs for r in pair)
    if bound:
        total = words.plural(2 * len(pairs), "step")
        limit = f"the clients were the limit in {bound} of {total}"
        doubts.append(f"{limit}, so the states may differ by more")
    return doubts
