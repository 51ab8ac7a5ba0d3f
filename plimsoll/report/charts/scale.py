"""Scales: the position of a value along an axis, and the axis's ticks. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll import words

# Ticks: round, and far enough apart. Labels: only as many as there is room for.


SPANS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200)
TICKS_MOST = 10
HOUR_S = 3600
LABELS_MOST = 20  # so many numbers fit side by side, even on a telephone


def choose_time_ticks(length_s: float) -> list[int]:
    """Return round ticks of a time axis, in seconds."""
    span = next((s for s in SPANS_S if length_s / s <= TICKS_MOST), None)
    if span is None:
        span = 86_400 * math.ceil(length_s / 86_400 / TICKS_MOST)
    return list(range(0, math.floor(length_s) + 1, span))


def choose_whole_ticks(most: float) -> list[int]:
    """Return whole-number ticks from 0 to `most`: 1, 2 or 5 times a power of ten apart."""
    span = 1
    while most / span > TICKS_MOST:
        digits = len(str(span)) - 1
        span = {1: 2, 2: 5, 5: 10}[span // 10**digits] * 10**digits
    return list(range(0, math.floor(most) + 1, span))


def round_ticks(most: float, count: int) -> list[float]:
    """Return at most `count` ticks above 0, up to `most`: 1, 2 or 5 times a power of ten apart."""
    least = math.floor(math.log10(most / count))
    spans = (factor * 10.0**digits for digits in (least, least + 1) for factor in (1, 2, 5))
    span = next(span for span in spans if math.floor(most / span) <= count)
    return [place * span for place in range(math.floor(most / span) + 1)]


def format_clock(t: float, length_s: float) -> str:
    """Format a time on an axis of such a length: `min:s`, or `h:min:s` above two hours."""
    minutes, seconds = divmod(int(t), 60)
    if not is_in_hours(length_s):
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def is_in_hours(length_s: float) -> bool:
    """Return whether an axis of such a length is labelled in hours and minutes."""
    return length_s > 2 * HOUR_S


def choose_labels(count: int, always: Sequence[int] = ()) -> set[int]:
    """Choose which of `count` marks in a row have a label: all if they are few, else every n-th."""
    every = math.ceil(count / LABELS_MOST) or 1
    return {*range(0, count, every), *always}


ROOM = 1.08  # end of an axis as a multiple of the largest value
LATENCY_ROOM = 1.25
COUNT_ROOM = 1.04
LOG_TICKS_MOST = 9


@dataclass(frozen=True)
class Scale:
    """An axis.

    Attributes:
        low: The value at its start; above 0 if it is logarithmic.
        high: The value at its end.
        title: The quantity, with its unit.
        log: Whether it is logarithmic.
        ticks: The value and text of each tick.
    """

    low: float
    high: float
    title: str = ""
    log: bool = False
    ticks: Sequence[tuple[float, str]] = ()

    def at(self, value: float) -> float:
        """Return the position of a value as a share of the axis, limited to its ends."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return min(1.0, max(0.0, (value - low) / (high - low)))


def make_linear_scale(
    values: Iterable[float | None], title: str, *, count: int = 8, room: float = ROOM
) -> Scale:
    """Build an axis from 0 to just above the largest value, with at most `count` round ticks."""
    high = room * (max((value for value in values if value), default=0) or 1)
    return Scale(0, high, title, ticks=_number_ticks(round_ticks(high, count)))


def count_scale(most: float, title: str) -> Scale:
    """Build an axis of counts: its ticks are whole numbers."""
    high = COUNT_ROOM * (most or 1)
    return Scale(0, high, title, ticks=_number_ticks(choose_whole_ticks(high)))


def make_percent_scale(title: str) -> Scale:
    """Build an axis from 0 to 100 %."""
    return Scale(0, 100, title, ticks=_number_ticks([0, 50, 100]))


def make_latency_scale(values_us: Iterable[float | None], title: str) -> Scale:
    """Build a logarithmic axis around the measured values, with ticks at 1, 2 and 5 times 10^n."""
    known = [value for value in values_us if value]
    low = min(known, default=1) / LATENCY_ROOM
    high = max(known, default=1) * LATENCY_ROOM
    shown = tuple((us, _format_latency(us)) for us in _log_ticks(low, high))
    return Scale(low, high, title, log=True, ticks=shown)


def make_time_scale(length_s: float, title: str) -> Scale:
    """Build an axis of a run's seconds; a long one has ticks at whole minutes."""
    hours = is_in_hours(length_s)
    shown = [(t, format_clock(t, length_s)) for t in choose_time_ticks(length_s)]
    return Scale(
        0,
        length_s,
        title,
        ticks=[(t, text.removesuffix(":00") if hours else text) for t, text in shown],
    )


def _number_ticks(values: Iterable[float]) -> tuple[tuple[float, str], ...]:
    return tuple((value, words.format_number(value)) for value in values)


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for factors in ((1, 2, 5), (1,)):
        found = [f * 10.0**d for d in decades for f in factors if low <= f * 10.0**d <= high]
        if len(found) <= LOG_TICKS_MOST:
            break
    if len(found) > 1:
        return found
    return [t for t in round_ticks(high, int(LOG_TICKS_MOST * high / (high - low))) if t >= low]


def _format_latency(us: float) -> str:
    """Format a tick in a suitable unit: `500 µs`, `2 ms`, `1 s`."""
    unit_us, unit = next(((u, n) for u, n in ((1e6, "s"), (1e3, "ms")) if us >= u), (1, "µs"))
    return f"{us / unit_us:g} {unit}"
