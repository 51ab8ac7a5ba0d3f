"""The soak: the answer's load held for `limits.soak_s`, to find what windows of a minute miss.

A stall every five minutes is outside most windows, and burst credits may last through some of
them. A soak is one load in consecutive windows, since a client cannot run longer than one; their
fleets follow each other without a pause (`fleet/relay.py`). It is judged as any load is, by all
operations of its windows and by the growth of write debt, and by the second (`Step.spans`,
`Step.stall_s`): the longest stall, and a falling trend of the throughput.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import Shape, Wish
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.statistics.trends import detect_trend
from plimsoll.capacity.steps.loads import Repetition
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.closing import Soak, SoakWindow
from plimsoll.model.judging.steps import Span, Step

STALL_S = 2.0  # almost no success for so long is a stall
BUCKET = 2 ** (1 / 8)  # width of a latency bucket; a span's latencies are upper bounds of buckets
FALL_SHARE = 0.10  # decrease of the throughput from the first third of the spans to the last
TREND_P = 0.01  # two-sided p-value
SPARE_TRIES = 2  # spare windows beyond those of the soak, since audits may dispute some
GAP_LEAST_S = 0.5  # a shorter time without load is no pause: fleets differ by their clocks


def count_soak_windows(rules: Rules) -> int:
    """Return the number of steps of a soak; the search must leave them to it."""
    return math.ceil(rules.soak_s / rules.soak_window_s)


def plan_soak_window(answer: Answer) -> Wish | None:
    """Return the next windows of the soak; None once a window has failed, or at its end."""
    wanted, tries = count_soak_windows(answer.rules), len(answer.find_tries("soak"))
    done = answer.find_held_windows()
    if not wanted or answer.at is None or not answer.at.point.counted:
        return None
    if (
        len(done) >= wanted
        or tries >= wanted + SPARE_TRIES
        or any(_list_soak_failures(answer, done))
    ):
        return None
    step = answer.at.point.counted[0].step
    shape = Shape(step.clients or 1, step.connections or 1, step.rate_ops_per_second)
    last = min(wanted, len(done) + wanted + SPARE_TRIES - tries)
    in_all = words.format_duration(answer.rules.soak_s)
    first, *then = (
        f"soak: window {number} of {wanted}, {in_all} in all"
        for number in range(len(done) + 1, last + 1)
    )
    each = answer.rules.soak_s / wanted
    return Wish(0.0, "soak", first, shape=shape, duration_s=each, then=tuple(then))


def judge_soak(answer: Answer) -> Soak | None:
    """Return the result of the soak; None if none was requested, or there is no answer to hold."""
    if not answer.rules.soak_s or answer.at is None:
        return None
    done = answer.find_held_windows()
    held_s = sum(repetition.step.window_s or 0.0 for repetition in done)
    reasons = tuple(_list_soak_failures(answer, done))
    whole = len(done) >= count_soak_windows(answer.rules)
    windows = list_windows(answer.find_tries("soak"))
    gaps = [window.gap_s for window in windows if window.gap_s is not None]
    overlaps = [window.overlap_s for window in windows if window.overlap_s]
    held = f"held for {words.format_duration(held_s)}"
    if gaps:
        held += _state_pauses(gaps, max(overlaps, default=0.0))
    if not whole and not reasons:
        why = "no step was left for the rest"
        if len(answer.find_valid("soak")) > len(answer.find_windows()):
            why = "the soak held another load, which was the answer then"
        held += f" of {words.format_duration(answer.rules.soak_s)}: {why}"
    stalls = [step.stall_s for step in (r.step for r in done) if step.stall_s is not None]
    return Soak(
        asked_s=answer.rules.soak_s,
        held_s=held_s,
        passed=False if reasons else True if whole else None,
        stall_max_s=max(stalls, default=None),
        spans=len(_list_spans(done)),
        spans_beyond=sum(
            1 for span in _list_spans(done) if _list_operations_beyond_limit(answer, span)
        ),
        throughput_ops_per_second=median(r.figures.throughput for r in done) if done else None,
        reasons=reasons,
        detail="; ".join((held, *reasons)),
        windows=windows,
        gap_s=sum(gaps) if gaps else None,
        overlap_max_s=max(overlaps, default=None),
    )


def list_windows(steps: Sequence[Step]) -> tuple[SoakWindow, ...]:
    """Return the windows of a soak, each with the time between it and the load before it.

    A window that audits dispute had its load, so no pause is where it was; a void one without
    clients had none.

    Args:
        steps: The windows, in the order in which they ran.
    """
    windows: list[SoakWindow] = []
    ended: int | None = None
    for step in steps:
        gap_s = overlap_s = None
        began, called = step.load_start_epoch_ms, step.called_epoch_ms
        if ended is not None and began is not None and called is not None:
            gap_s = max(0, began - ended) / 1000
            overlap_s = max(0, ended - called) / 1000
        windows.append(
            SoakWindow(
                step=step.index,
                clients=step.clients,
                connections=step.connections,
                throughput_ops_per_second=step.throughput_ops_per_second,
                gap_s=gap_s,
                overlap_s=overlap_s,
            )
        )
        ended = ended if step.load_end_epoch_ms is None else step.load_end_epoch_ms
    return tuple(windows)


def _state_pauses(gaps: Sequence[float], overlap_s: float) -> str:
    """Describe whether the load of several windows ever paused."""
    windows = f" in {words.format_count(len(gaps) + 1, 'window')}"
    pauses = [gap for gap in gaps if gap >= GAP_LEAST_S]
    if pauses:
        count = words.format_count(len(pauses), "pause")
        return f"{windows} with {count}, {words.format_duration(sum(pauses))} without load in all"
    beside = ""
    if overlap_s >= 1:
        beside = (
            f" (each fleet connected up to {words.format_duration(round(overlap_s))} before its"
            " turn)"
        )
    return f"{windows} without a pause{beside}"


def _list_soak_failures(answer: Answer, done: Sequence[Repetition]) -> Iterator[str]:
    """Yield why the load is not sustained, the most significant reason first."""
    if not done:
        return
    stalls = [r.step.stall_s for r in done if r.step.stall_s is not None]
    if max(stalls, default=0.0) >= STALL_S:
        yield f"almost no operation succeeded for {words.format_duration(max(stalls))}"
    if fell := _compute_throughput_fall(_list_spans(done)):
        yield f"throughput fell by {words.format_percent(fell)}"
    yield from (reason.text for reason in answer.failures(done))


def _list_spans(done: Sequence[Repetition]) -> list[Span]:
    return [span for repetition in done for span in repetition.step.spans]


def _list_operations_beyond_limit(answer: Answer, span: Span) -> list[str]:
    """List the operations that exceeded their limit in a span."""
    limit_us = answer.limit_us
    return [n for n, us in span.latency_us.items() if n in limit_us and us > BUCKET * limit_us[n]]


def _compute_throughput_fall(spans: Sequence[Span]) -> float | None:
    """Return the share by which the throughput fell; None if that is no significant trend."""
    rates = [span.throughput_ops_per_second for span in spans]
    third = len(rates) // 3
    if not third or not median(rates[:third]):
        return None
    fell = 1 - median(rates[-third:]) / median(rates[:third])
    found = detect_trend(rates)
    certain = found is not None and found.p_value < TREND_P and found.change_share < 0
    return fell if certain and fell > FALL_SHARE else None
