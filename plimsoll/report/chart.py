"""A chart with its rows, and the scales that charts share."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import altair as alt

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Chart:
    """A Vega-Lite chart whose data is named: charts share rows, and a page holds them once."""

    id: str
    spec: alt.TopLevelMixin
    data: dict[str, Rows]

    def vega_lite(self) -> dict[str, Any]:
        """The chart without its rows, checked against Vega-Lite's schema."""
        made: dict[str, Any] = self.spec.to_dict()
        for key in ("$schema", "config"):
            made.pop(key, None)
        return made


# labels in the unit that suits each: 500 µs, 2 ms, 1 s
LATENCY_LABEL = (
    "datum.value >= 1e6 ? format(datum.value / 1e6, '~g') + ' s'"
    " : datum.value >= 1e3 ? format(datum.value / 1e3, '~g') + ' ms'"
    " : format(datum.value, '~g') + ' µs'"
)


def latency_y(field: str, title: str, values_us: Iterable[float | None]) -> alt.Y:
    """A logarithmic axis around what was measured, with ticks at 1, 2 and 5 times powers of ten."""
    known = [value for value in values_us if value]
    low, high = min(known, default=1) / 1.25, max(known, default=1) * 1.25
    ticks = _ticks(low, high)
    return alt.Y(
        field,
        title=title,
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(labelExpr=LATENCY_LABEL, values=ticks),
    )


def _ticks(low: float, high: float) -> list[float]:
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        ticks = [f * 10.0**d for d in decades for f in factors if low <= f * 10.0**d <= high]
        if len(ticks) <= 9:
            break
    return ticks
