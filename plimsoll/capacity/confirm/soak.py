"""The answer's load held for `limits.soak_s`: what windows of a minute do not show.

A stall every five minutes lies outside most windows, and credits last through some of them. The
soak is one load in consecutive windows, since no client may run for longer than one. It is read
second by second (`Step.spans`, `Step.stall_s`): how long next to nothing succeeded, in how many
spans of ten seconds an operation was beyond its limit, whether throughput went down all the while.
"""

import math
from collections.abc import Iterator, Sequence
from statistics import median

from plimsoll import words
from plimsoll.capacity.confirm.next_loads import Shape, Wish
from plimsoll.capacity.passing.answer import Answer
from plimsoll.capacity.statistics.trends import trend
from plimsoll.capacity.steps.loads import Repetition
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.closing import Soak
from plimsoll.model.judging.steps import SOAK_WINDOW_MAX_S, Span

STALL_S = 2.0  # so long with next to nothing that succeeds is a stall
SPANS_SHARE = 0.10  # of the spans that may be beyond a limit: single ones scatter more than windows
BUCKET = 2 ** (1 / 8)  # the latencies of a span are upper bounds of buckets so much apart
FALL_SHARE = 0.10  # of the throughput, from the first third of the spans to the last
TREND_P = 0.01  # two-sided
SPARE_TRIES = 2  # windows more than a soak needs: an audit may dispute some


def windows(rules: Rules) -> int:
    """How many steps a soak takes; they are kept out of the probes of the search itself."""
    return math.ceil(rules.soak_s / SOAK_WINDOW_MAX_S)


def soak_wish(answer: Answer) -> Wish | None:
    """Ask for the next window of the soak; none after one that has failed already."""
    wanted, tries = windows(answer.rules), len(answer.tries("soak"))
    done = answer.held()
    if not wanted or answer.at is None or not answer.at.point.counted:
        return None
    if len(done) >= wanted or tries >= wanted + SPARE_TRIES or any(_reasons(answer, done)):
        return None
    step = answer.at.point.counted[0].step
    shape = Shape(step.clients or 1, step.connections or 1, step.rate_ops_per_second)
    why = f"window {len(done) + 1} of {wanted}: does it last {words.duration(answer.rules.soak_s)}?"
    each = answer.rules.soak_s / wanted
    return Wish(0.0, "soak", why, shape=shape, duration_s=each)


def soak(answer: Answer) -> Soak | None:
    """Say what the soak showed; None where none was asked for, or there is no answer to hold."""
    if not answer.rules.soak_s or answer.at is None:
        return None
    done = answer.held()
    held_s = sum(repetition.step.window_s or 0.0 for repetition in done)
    reasons = tuple(_reasons(answer, done))
    whole = len(done) >= windows(answer.rules)
    held = f"held for {words.duration(held_s)}"
    if not whole and not reasons:
        why = "no step was left for the rest"
        if len(answer.counted("soak")) > len(answer.windows()):
            why = "another load was held, which the search had found"
        held += f" of {words.duration(answer.rules.soak_s)}: {why}"
    stalls = [step.stall_s for step in (r.step for r in done) if step.stall_s is not None]
    return Soak(
        asked_s=answer.rules.soak_s,
        held_s=held_s,
        passed=False if reasons else True if whole else None,
        stall_max_s=max(stalls, default=None),
        spans=len(_spans(done)),
        spans_beyond=sum(1 for span in _spans(done) if _beyond(answer, span)),
        throughput_ops_per_second=median(r.figures.throughput for r in done) if done else None,
        reasons=reasons,
        detail="; ".join((held, *reasons)),
    )


def _reasons(answer: Answer, done: Sequence[Repetition]) -> Iterator[str]:
    """Why the load does not last, the most telling reason first."""
    if not done:
        return
    stalls = [r.step.stall_s for r in done if r.step.stall_s is not None]
    if max(stalls, default=0.0) >= STALL_S:
        yield f"next to nothing succeeded for {words.duration(max(stalls))}"
    spans = _spans(done)
    beyond = [name for span in spans for name in _beyond(answer, span)[:1]]
    if len(beyond) > SPANS_SHARE * len(spans):
        name = max(sorted(set(beyond)), key=beyond.count)
        yield f"{name} was beyond its limit in {len(beyond)} of {len(spans)} spans of 10 s"
    if fell := _fall(spans):
        yield f"throughput fell by {words.percent(fell)}"
    yield from (reason.text for reason in answer.failures(done))


def _spans(done: Sequence[Repetition]) -> list[Span]:
    return [span for repetition in done for span in repetition.step.spans]


def _beyond(answer: Answer, span: Span) -> list[str]:
    """Operations that were beyond their limit in a span."""
    limit_us = answer.limit_us
    return [n for n, us in span.latency_us.items() if n in limit_us and us > BUCKET * limit_us[n]]


def _fall(spans: Sequence[Span]) -> float | None:
    """The share by which throughput fell, where that is a trend and no wave; else None."""
    rates = [span.throughput_ops_per_second for span in spans]
    third = len(rates) // 3
    if not third or not median(rates[:third]):
        return None
    fell = 1 - median(rates[-third:]) / median(rates[:third])
    found = trend(rates)
    certain = found is not None and found.p_value < TREND_P and found.change_share < 0
    return fell if certain and fell > FALL_SHARE else None
