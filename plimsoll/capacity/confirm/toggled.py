"""Toggle: the next step of the pairs that compare two states of a target, and their result. No I/O.

The pairs follow the search as closing steps at the answer's load. The answer is that of the first
state; steps in the second state are no repetitions of its load.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import Shape, Wish, find_longest_factor
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.passing.assess import Assessed
from plimsoll.capacity.statistics.pairing import (
    METHOD,
    Pairing,
    describe_missing_pairs,
    describe_ratio,
    pair_neighbors,
)
from plimsoll.capacity.steps.loads import Repetition, explain_dispute, select_undisputed
from plimsoll.model.judging.capacity import Axis, Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.toggle import (
    SPARE_TRIES,
    StateFigures,
    Toggle,
    ToggledState,
    ToggleResult,
)

Readings = Mapping[str, Mapping[str, str]]  # {state: {parameter: the server's own value}}


def select_toggle_steps(steps: Sequence[Step]) -> list[Step]:
    """Return the steps of the pairs, including void ones."""
    return [step for step in steps if step.purpose == "toggle"]


def count_remaining_steps(toggle: Toggle | None, finished: Sequence[Step]) -> int:
    """Return the number of steps that the pairs still need; other closing steps must leave them."""
    return 0 if toggle is None else max(0, toggle.steps - len(select_toggle_steps(finished)))


def plan_toggle_step(toggle: Toggle | None, answer: Answer, seed: int) -> Wish | None:
    """Return the next step of the pairs; None if all are done, or there is no load for them.

    The load is the answer's. Without an answer, it is the search's only load, if it has just one.

    Args:
        toggle: toggle of the request; None if there is none.
        answer: answer of the search.
        seed: seed of the order within the pairs.
    """
    at = answer.at or (answer.judged[0] if len(answer.judged) == 1 else None)
    if toggle is None or at is None:
        return None
    tries = select_toggle_steps(answer.closing)
    pairing = _make_pairing(toggle, tries, answer.rules)
    counted = bool(pairing.pairs or pairing.waiting)
    state = pairing.next_state(
        toggle.states[0].name,
        wanted=toggle.pairs,
        tries_left=(toggle.steps if counted else 0) + SPARE_TRIES - len(tries),
        seed=seed,
    )
    if state is None:
        return None
    why = f"pair {len(pairing.pairs) + 1} of {toggle.pairs}: {state}"
    factor = find_longest_factor([r.step for r in at.point.repetitions])
    return Wish(0.0, "toggle", why, shape=_shape(at), window_factor=factor, state=state)


def _make_pairing(
    toggle: Toggle, tried: Sequence[Step], rules: Rules
) -> Pairing[Repetition, str | None]:
    first, second = toggle.states
    undisputed = select_undisputed(tried, rules)
    return pair_neighbors(undisputed, lambda one: one.step.state, (first.name, second.name))


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
    pairing = _make_pairing(toggle, tried, rules)
    pairs = pairing.pairs
    throughput = pairing.ratio(lambda one: one.figures.throughput)
    load = getattr(pairs[0][0].step, axis) if pairs else None
    states = (
        _figures(toggle.states[0], [a for a, _ in pairs], readings, addresses),
        _figures(toggle.states[1], [b for _, b in pairs], readings, addresses),
    )
    first, second = states
    told = [
        describe_ratio(throughput, second.name, first.name, at=words.format_load(load, axis)),
        None if pairs else explain_dispute(tried, rules),
        describe_missing_pairs(throughput, toggle.pairs),
        *_list_doubts(states, pairs, rules),
    ]
    return ToggleResult(
        states=states,
        axis=axis,
        load=load,
        statistic=rules.statistic,
        throughput=throughput,
        latency=pairing.ratios(lambda one: one.figures.latency_us),
        steps=tuple((a.step.index or 0, b.step.index or 0) for a, b in pairs),
        left_out=len(tried) - 2 * len(pairs),
        pairs_asked=toggle.pairs,
        method=METHOD,
        detail="; ".join(filter(None, told)),
    )


def _figures(
    state: ToggledState,
    steps: Sequence[Repetition],
    readings: Readings,
    addresses: Mapping[str, str],
) -> StateFigures:
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


def _list_doubts(
    states: Sequence[StateFigures],
    pairs: Sequence[tuple[Repetition, Repetition]],
    rules: Rules,
) -> list[str]:
    """Return remarks for the reader."""
    failing = [s for s in states if (s.errors_share or 0.0) > rules.errors_max_share]
    doubts = [
        f"{words.format_percent(s.errors_share)} of operations failed in {s.name}" for s in failing
    ]
    bound = sum(r.client_bound is not None for pair in pairs for r in pair)
    if bound:
        total = words.format_count(2 * len(pairs), "step")
        limit = f"the clients were the limit in {bound} of {total}"
        doubts.append(f"{limit}, so the states may differ by more")
    return doubts
