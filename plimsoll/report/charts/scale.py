"""Scales: where a value lies along an axis, and the ticks that the axis shows. Pure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from plimsoll import words

# Where axes have their ticks, and which of many marks are named: round, and far enough apart.


SPANS_S = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200)
TICKS_MOST = 10
HOUR_S = 3600
LABELS_MOST = 20  # so many numbers stand side by side, even on a telephone


def time_ticks(length_s: float) -> list[int]:
    """Ticks of a time axis, in seconds: at round times."""
    span = next((s for s in SPANS_S if length_s / s <= TICKS_MOST), None)
    if span is None:
        span = 86_400 * math.ceil(length_s / 86_400 / TICKS_MOST)
    return list(range(0, math.floor(length_s) + 1, span))


def whole_ticks(most: float) -> list[int]:
    """Ticks from 0 to `most` for what is counted: whole numbers, 1, 2 or 5 times a power of ten."""
    span = 1
    while most / span > TICKS_MOST:
        digits = len(str(span)) - 1
        span = {1: 2, 2: 5, 5: 10}[span // 10**digits] * 10**digits
    return list(range(0, math.floor(most) + 1, span))


def round_ticks(most: float, count: int) -> list[float]:
    """At most `count` ticks above 0, up to `most`: 1, 2 or 5 times a power of ten apart."""
    least = math.floor(math.log10(most / count))
    spans = (factor * 10.0**digits for digits in (least, least + 1) for factor in (1, 2, 5))
    span = next(span for span in spans if most / span <= count)
    return [place * span for place in range(math.floor(most / span) + 1)]


def clock_text(t: float, length_s: float) -> str:
    """Time on an axis of such a length: `min:s`, and `h:min:s` where that is over two hours."""
    minutes, seconds = divmod(int(t), 60)
    if not in_hours(length_s):
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def in_hours(length_s: float) -> bool:
    """Whether an axis of such a length is told in hours and minutes."""
    return length_s > 2 * HOUR_S


def named(count: int, always: Sequence[int] = ()) -> set[int]:
    """Which of `count` marks in a row are named: all if they are few, else every n-th of them."""
    every = math.ceil(count / LABELS_MOST) or 1
    return {*range(0, count, every), *always}


ROOM = 1.08  # an axis goes beyond the largest value by so much
LATENCY_ROOM = 1.25
LOG_TICKS_MOST = 9


@dataclass(frozen=True)
class Scale:
    """An axis.

    Attributes:
        low: The value at its beginning; of a logarithmic one above 0.
        high: The value at its end.
        title: What it shows, with its unit.
        log: Whether it is logarithmic.
        ticks: Value and text of each tick.
    """

    low: float
    high: float
    title: str = ""
    log: bool = False
    ticks: Sequence[tuple[float, str]] = ()

    def at(self, value: float) -> float:
        """Give the place of a value as a share of the axis: what lies beyond an end is at it."""
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(max(value, low))
        return min(1.0, max(0.0, (value - low) / (high - low)))


def linear(
    values: Iterable[float | None], title: str, *, count: int = 8, room: float = ROOM
) -> Scale:
    """An axis from 0 to a little beyond the largest value, with at most `count` round ticks."""
    high = room * (max((value for value in values if value), default=0) or 1)
    return Scale(0, high, title, ticks=_numbered(round_ticks(high, count)))


def counted(most: float, title: str, *, room: float = 1.04) -> Scale:
    """An axis of what is counted: its ticks are whole numbers."""
    high = room * (most or 1)
    return Scale(0, high, title, ticks=_numbered(whole_ticks(high)))


def percents(title: str) -> Scale:
    """An axis from 0 to 100 %."""
    return Scale(0, 100, title, ticks=_numbered([0, 50, 100]))


def latency(values_us: Iterable[float | None], title: str) -> Scale:
    """A logarithmic axis around what was measured, with ticks at 1, 2 and 5 times powers of ten."""
    known = [value for value in values_us if value]
    low = min(known, default=1) / LATENCY_ROOM
    high = max(known, default=1) * LATENCY_ROOM
    shown = tuple((us, _latency(us)) for us in _log_ticks(low, high))
    return Scale(low, high, title, log=True, ticks=shown)


def time(length_s: float, title: str) -> Scale:
    """An axis of the seconds of a run; its ticks are as wide as a whole minute where it is long."""
    hours = in_hours(length_s)
    shown = [(t, clock_text(t, length_s)) for t in time_ticks(length_s)]
    return Scale(
        0,
        length_s,
        title,
        ticks=[(t, text.removesuffix(":00") if hours else text) for t, text in shown],
    )


def _numbered(values: Iterable[float]) -> tuple[tuple[float, str], ...]:
    return tuple((value, words.number(value)) for value in values)


def _log_ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found: list[float] = []
    for factors in ((1, 2, 5), (1,)):
        found = [f * 10.0**d for d in decades for f in factors if low <= f * 10.0**d <= high]
        if len(found) <= LOG_TICKS_MOST:
            break
    return found if len(found) > 1 else [t for t in round_ticks(high, 16) if t >= low]


def _latency(us: float) -> str:
    """A tick in the unit that suits: `500 µs`, `2 ms`, `1 s`."""
    unit_us, unit = next(((u, n) for u, n in ((1e6, "s"), (1e3, "ms")) if us >= u), (1, "µs"))
    return f"{us / unit_us:g} {unit}"
