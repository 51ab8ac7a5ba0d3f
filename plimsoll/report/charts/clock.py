"""A run on one clock, as rows for charts: seconds since it was submitted, in whole-second bins.

A long run has bins of several seconds: counts are added, the worst latency is kept, and percentiles
are read from the merged histograms. Every chart names the width of its bins.
"""

import math
from bisect import bisect
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from plimsoll.model.histograms import find_percentile_us, merge_histograms
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.results import RunResult, Seconds, SecondTotals
from plimsoll.report.charts import scale

Row = dict[str, Any]

COLUMNS_MOST = 480  # more than a screen can show; keeps the page small
HEAT_COLUMNS_MOST = 240
USUAL_OPERATIONS = 3
HEAT_ROWS_PER_OCTAVE = 4  # rows in an octave of latency: each spans 19 %
HEAT_CLASSES = 7


def choose_bin_width_s(length_s: float, columns: int = COLUMNS_MOST) -> int:
    """Return the smallest bin width with which at most `columns` bins span the length."""
    widths = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600)
    return next((w for w in widths if length_s / w <= columns), math.ceil(length_s / columns))


class Clock:
    """Seconds since a run was submitted."""

    def __init__(self, result: RunResult, seconds: Seconds) -> None:
        self._zero_s = result.moments.submitted.timestamp()
        self._starts = {
            done.plan.index: done.plan.start_at_epoch_ms % 1000 / 1000 for done in result.steps
        }
        ends = [second.epoch_s + 1.0 for second in seconds.operations]
        ends += [sample.epoch_ms / 1000 for sample in seconds.target]
        if result.moments.ended is not None:
            ends.append(result.moments.ended.timestamp())
        self.length_s = max([end - self._zero_s for end in ends], default=1.0)
        operations = len({second.operation for second in seconds.operations})
        # with more operations, each gets fewer columns
        share = min(1.0, USUAL_OPERATIONS / max(1, operations))
        self.width_s = choose_bin_width_s(self.length_s, round(COLUMNS_MOST * share))
        self.heat_width_s = choose_bin_width_s(self.length_s, round(HEAT_COLUMNS_MOST * share))

    def at(self, epoch_s: float) -> float:
        """Seconds since the start, to the millisecond."""
        return round(epoch_s - self._zero_s, 3)

    def bin(self, epoch_s: float, width_s: int) -> float:
        """The start of the bin that holds a moment; a single second is its own bin."""
        at = self.at(epoch_s)
        return at if width_s == 1 else math.floor(at / width_s) * width_s

    def began(self, second: SecondTotals) -> float:
        """The start of a step's second, in epoch seconds: steps start between whole seconds."""
        return second.epoch_s + self._starts.get(second.step, 0.0)


def build_operation_rows(clock: Clock, seconds: Iterable[SecondTotals]) -> list[Row]:
    """Build a row for each bin and operation with figures; rates count measured seconds only."""
    bins: dict[tuple[float, str], list[SecondTotals]] = defaultdict(list)
    for second in seconds:
        t = clock.bin(clock.began(second), clock.width_s)
        bins[t, second.operation].append(second)
    rows = []
    for (t, operation), members in sorted(bins.items()):
        buckets = merge_histograms(member.buckets for member in members)
        worst = [member.max_us for member in members if member.max_us is not None]
        span_s = len({member.epoch_s for member in members})
        rows.append(
            {
                "t": t,
                "t2": t + clock.width_s,
                "middle": t + clock.width_s / 2,
                "step": members[0].step,
                "operation": operation,
                "rate": sum(member.succeeded for member in members) / span_s,
                "errors": sum(member.errors for member in members) / span_s,
                "p50_us": find_percentile_us(buckets, 0.50),
                "p99_us": find_percentile_us(buckets, 0.99),
                "max_us": max(worst, default=None),
            }
        )
    return rows


def build_target_rows(
    clock: Clock, samples: Iterable[TargetSample], names: Mapping[str, str]
) -> list[Row]:
    """Build a row for each bin and series, with the mean of its samples.

    Args:
        clock: The run's clock.
        samples: The samples from CloudWatch, or from the emulated volume.
        names: {field of `TargetSample`: title of its series}.
    """
    bins: dict[tuple[str, float], list[float]] = defaultdict(list)
    for sample in samples:
        for field, title in names.items():
            if (value := getattr(sample, field)) is not None:
                bins[title, clock.bin(sample.epoch_ms / 1000, clock.width_s)].append(value)
    return [
        {"t": t, "series": title, "value": sum(values) / len(values)}
        for (title, t), values in sorted(bins.items())
    ]


def stack_rows(rows: list[Row], series: str, value: str, names: Sequence[str]) -> list[Row]:
    """Stack the series of each moment; `from` and `to` are the edges of a block.

    Args:
        rows: One row for each moment `t` and series.
        series: The field that names a row's series.
        value: The field that is a block's height.
        names: The series from the lowest to the highest.
    """
    heights: dict[float, float] = defaultdict(float)
    placed = []
    for row in sorted(rows, key=lambda row: names.index(row[series])):
        low = heights[row["t"]]
        heights[row["t"]] = low + row[value]
        placed.append(row | {"from": low, "to": heights[row["t"]]})
    return placed


def number_segments(rows: list[Row], by: tuple[str, ...], gap_s: float) -> list[Row]:
    """Number the stretches of each series between gaps, so that no line crosses a gap."""
    last: dict[tuple[Any, ...], tuple[float, int]] = {}
    numbered = []
    for row in sorted(rows, key=lambda row: row["t"]):
        key = tuple(row[name] for name in by)
        before = last.get(key)
        joined = before is not None and row["t"] - before[0] <= gap_s
        segment = before[1] + (not joined) if before else 0
        last[key] = row["t"], segment
        numbered.append(row | {"segment": segment})
    return numbered


def sample_gap_s(samples: Iterable[TargetSample], width_s: int) -> float:
    """Return the gap between samples that interrupts a line: 1.5 x their usual distance."""
    times = sorted({sample.epoch_ms for sample in samples})
    distances = sorted(b - a for a, b in pairwise(times))
    usual_s = distances[len(distances) // 2] / 1000 if distances else 1.0
    return 1.5 * max(usual_s, width_s)


def build_heat_rows(clock: Clock, seconds: Iterable[SecondTotals]) -> list[Row]:
    """Build a row for each cell of the heat map: bin of time, bin of latency, and operations."""
    cells: dict[tuple[str, float, int], int] = defaultdict(int)
    for second in seconds:
        t = clock.bin(clock.began(second), clock.heat_width_s)
        for upper_us, count in second.buckets.items():
            row = math.ceil(HEAT_ROWS_PER_OCTAVE * math.log2(upper_us) - 0.1)
            cells[second.operation, t, row] += count
    return [
        {
            "operation": operation,
            "t": t,
            "t2": t + clock.heat_width_s,
            "from_us": round(2 ** ((row - 1) / HEAT_ROWS_PER_OCTAVE), 1),
            "to_us": round(2 ** (row / HEAT_ROWS_PER_OCTAVE), 1),
            "count": count,
        }
        for (operation, t, row), count in sorted(cells.items())
        if count
    ]


def classify_cells(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """Divide the cells by count into at most seven classes with geometric bounds.

    Returns:
        The rows, each with its `class`, and all classes from the smallest.
    """
    largest = max((row["count"] for row in rows), default=1)
    factor = max(2.0, largest ** (1 / HEAT_CLASSES))
    edges = [1]
    while len(edges) < HEAT_CLASSES and edges[-1] * factor < largest:
        edges.append(max(edges[-1] + 1, _round_two_digits(edges[-1] * factor)))
    lasts = [*(edge - 1 for edge in edges[1:]), largest]
    names = [
        f"{first:,}" if first == last else f"{first:,} to {last:,}"
        for first, last in zip(edges, lasts, strict=True)
    ]
    return [row | {"class": names[bisect(edges, row["count"]) - 1]} for row in rows], names


def _round_two_digits(value: float) -> int:
    """Round to two significant digits."""
    return int(round(value, 1 - math.floor(math.log10(value))))


# A run's phases and steps as rows.


def build_phase_rows(clock: Clock, result: RunResult) -> list[Row]:
    """Build rows for the phases before and after the steps, as far as the run came."""
    moments = result.moments
    starts = [done.plan.start_at_epoch_ms / 1000 for done in result.steps]
    warmed = datetime.fromtimestamp(min(starts), UTC) if starts else moments.teardown
    edges = [
        ("provision", moments.provision, moments.target_ready or moments.teardown),
        ("prepare", moments.prepare, moments.step or moments.teardown),
        ("warming", moments.step if result.request.prepare.warm_s else None, warmed),
        ("teardown", moments.teardown, moments.deleted or moments.ended),
    ]
    return [
        {"phase": name, "t": clock.at(a.timestamp()), "t2": clock.at(b.timestamp())}
        for name, a, b in edges
        if a is not None and b is not None
    ]


def build_step_rows(clock: Clock, result: RunResult) -> list[Row]:
    """Build rows for the steps' loads: warm-up and window."""
    rows = []
    shown = scale.choose_labels(len(result.steps))
    for place, done in enumerate(result.steps):
        start = done.plan.start_at_epoch_ms / 1000
        window = (done.window_start_epoch_ms or done.plan.window_start_epoch_ms) / 1000
        end = (done.window_end_epoch_ms or done.plan.window_end_epoch_ms) / 1000
        rows.append(
            {
                "step": done.plan.index,
                "label": str(done.plan.index) if place in shown else None,
                "clients": done.plan.clients,
                "t": clock.at(start),
                "window": clock.at(window),
                "t2": clock.at(end),
            }
        )
    return rows
