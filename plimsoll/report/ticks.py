"""Where axes have their ticks, and which of many marks are named: round, and far enough apart."""

import math
from collections.abc import Sequence

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
