"""Repeated cells: their figures over fresh targets, and ratios of them. Pure.

Each run has a target of its own and gives one figure. These figures are the sample: repetitions
within a run share its target, and say nothing of how targets differ.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from plimsoll import words
from plimsoll.capacity.statistics.contrasts import Estimate, estimate_contrast, estimate_mean
from plimsoll.capacity.statistics.fresh_targets import METHOD, estimate_over_targets
from plimsoll.model.judging.capacity import Bound, Capacity
from plimsoll.model.request.experiment import FRESH_TARGET
from plimsoll.model.run.experiment_record import FreshFigures, FreshRun
from plimsoll.model.run.results import RunResult
from plimsoll.report.comparing.ratios import (
    RATE,
    Ratio,
    compute_edge_deviation,
    divide_bounds,
    find_only_load,
    name_sample,
    tell_ratio,
)
from plimsoll.report.tables import ReportCell, ReportTable

WELCH_METHOD = "Welch's t on logarithms, over fresh targets"


@dataclass(frozen=True)
class FreshSample:
    """The figures of runs on fresh targets of one kind.

    Attributes:
        figures: The figure of each run that has one, in ops/s.
        bound: The bound of their geometric mean; None if there is no figure, or if some are at
            least and some at most what they say.
        load: The only load that all of them tried, in words; None if there is none. At it,
            figures are exact.
        deviation_least: A lower bound on the standard deviation of their logarithms.
    """

    figures: tuple[float, ...]
    bound: Bound | None
    load: str | None
    deviation_least: float

    @property
    def mean(self) -> float | None:
        """The geometric mean of the figures; None without a bound."""
        if self.bound is None:
            return None
        return math.exp(fmean(math.log(figure) for figure in self.figures))

    def estimate(self) -> Estimate:
        """Estimate the mean over targets of this kind; equal figures do not tell its error."""
        mean = estimate_mean(self.figures, self.deviation_least)
        told = estimate_over_targets(self.figures, self.deviation_least)
        return mean if told else replace(mean, error=None)


def sample_fresh(
    capacities: Sequence[Capacity | None], beside: Sequence[Capacity | None] = ()
) -> FreshSample:
    """Return the figures of runs on fresh targets.

    Args:
        capacities: The capacity that each run found; None if it has none.
        beside: Those of the runs that they are compared with.
    """
    known = [c for c in capacities if c and c.bound and c.max_sustainable_throughput_ops_per_second]
    load = _find_common_load([*capacities, *beside])
    bounds = {c.bound for c in known}
    bound: Bound | None = None
    if known and (load is not None or bounds == {"="}):
        bound = "="
    elif known and bounds <= {"=", ">="}:
        bound = ">="
    elif known and bounds <= {"=", "<"}:
        bound = "<"
    edges = [c.edge for c in known if c.axis == RATE and c.edge is not None]
    return FreshSample(
        figures=tuple(c.max_sustainable_throughput_ops_per_second or 0.0 for c in known),
        bound=bound,
        load=load,
        deviation_least=math.sqrt(fmean(compute_edge_deviation(edge) ** 2 for edge in edges))
        if edges
        else 0.0,
    )


def _find_common_load(capacities: Sequence[Capacity | None]) -> str | None:
    """Return the single load that all runs with a figure tried, in words; None if there is none."""
    known = [c for c in capacities if c is not None and c.bound is not None]
    load = find_only_load(*known)
    return None if load is None else words.format_load(load, known[0].axis)


def divide_fresh(
    of: str, a: Sequence[Capacity | None], to: str, b: Sequence[Capacity | None]
) -> Ratio | None:
    """Divide the mean over `a`'s fresh targets by that over `b`'s.

    Returns:
        None if one side has no figure, or if bounds allow any ratio.
    """
    mine, theirs = sample_fresh(a, beside=b), sample_fresh(b, beside=a)
    if not mine.mean or not theirs.mean or mine.bound is None or theirs.bound is None:
        return None
    counts = len(mine.figures), len(theirs.figures)
    value = mine.mean / theirs.mean
    if mine.bound != "=" or theirs.bound != "=":
        ratio = divide_bounds(of, to, value, mine.bound, theirs.bound)
        return ratio and ratio.model_copy(update={"fresh_targets": counts})
    subject = f"{of} sustains" if mine.load is None else f"At {mine.load}, {of} gives"
    found = estimate_contrast((1, -1), [mine.estimate(), theirs.estimate()])
    if found.low is None:
        sentence = (
            f"{subject} {words.format_ratio(value)} times the throughput of {to}; without different"
            " figures of two fresh targets of both there is no interval, so the difference may be"
            " noise."
        )
        return Ratio(of=of, to=to, value=value, fresh_targets=counts, sentence=sentence)
    ratio = tell_ratio(
        of,
        to,
        subject,
        found,
        method=WELCH_METHOD,
        sample=name_sample(None, counts),
        noise="the noise between targets",
    )
    return ratio.model_copy(update={"fresh_targets": counts})


def summarize_fresh(
    name: str, runs: Sequence[FreshRun], capacities: Sequence[Capacity | None]
) -> FreshFigures:
    """Summarize the runs of a repeated cell.

    Args:
        name: The cell.
        runs: The runs of the cell.
        capacities: The capacity that each run found, in their order; None if it has none.
    """
    sample = sample_fresh(capacities)
    estimate = (
        estimate_over_targets(sample.figures, sample.deviation_least)
        if sample.bound == "="
        else None
    )
    summary = FreshFigures(
        name=name,
        runs=tuple(runs),
        load=sample.load,
        mean_ops_per_second=sample.mean,
        bound=sample.bound,
        mean_low_ops_per_second=estimate and estimate.mean_low,
        mean_high_ops_per_second=estimate and estimate.mean_high,
        next_low_ops_per_second=estimate and estimate.next_low,
        next_high_ops_per_second=estimate and estimate.next_high,
        method=METHOD if estimate else None,
        sentence="",
    )
    return summary.model_copy(update={"sentence": _write_sentence(summary, sample)})


def _write_sentence(summary: FreshFigures, sample: FreshSample) -> str:
    """Describe the mean over fresh targets and the next run, and name runs without a figure."""
    figures, runs = len(sample.figures), words.format_count(len(summary.runs), "fresh target")
    counted = runs if figures == len(summary.runs) else f"{figures} of {runs}"
    at = f" at {summary.load}" if summary.load else ""
    mean = words.prepend_bound(words.format_throughput(summary.mean_ops_per_second), summary.bound)
    told = f"{summary.name}: {mean}{at}, the geometric mean over {counted}"
    if not figures:
        told = f"{summary.name}: none of {runs} gave a figure"
    elif summary.bound is None:
        told = (
            f"{summary.name}: no mean over {counted}, since some figures are lower and some upper"
            " bounds"
        )
    elif summary.method is not None:
        told += (
            f"; the 95 % interval of the mean over such targets is {format_mean_interval(summary)}"
            " ops/s, and the 95 % prediction interval for the next fresh run's figure is"
            f" {format_next_interval(summary)} ops/s"
        )
        if figures == 2:
            told += " (two figures leave both intervals wide; five are a good number)"
    else:
        told += f"; no interval, since {_explain_no_interval(summary)}"
    if figures and summary.silent:
        told += f"; no figure from {words.join_names(run.name for run in summary.silent)}"
    return f"{told}."


def _explain_no_interval(summary: FreshFigures) -> str:
    if summary.bound != "=":
        return "some figures are only bounds"
    if len(summary.runs) - len(summary.silent) < 2:
        return "there is only one figure"
    return "all figures are the same offered rate, whose edge is not known"


def format_mean_interval(figures: FreshFigures) -> str:
    """Format the 95 % interval of the mean over targets, in ops/s; a dash if there is none."""
    return _format_span(figures.mean_low_ops_per_second, figures.mean_high_ops_per_second)


def format_next_interval(figures: FreshFigures) -> str:
    """Format the 95 % prediction interval for the next run, in ops/s; a dash if there is none."""
    return _format_span(figures.next_low_ops_per_second, figures.next_high_ops_per_second)


def _format_span(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return words.NOTHING
    return f"{words.format_rate(low)} to {words.format_rate(high)}"


FRESH_COLUMNS = (
    "cell",
    "figure of each run, ops/s",
    "mean, ops/s",
    "95 % interval of the mean over targets",
    "95 % prediction interval for the next fresh run",
)
FRESH_NOTE = (
    "Each run had a target that was created, prepared and deleted for it alone. Geometric means of"
    " the runs' figures; both intervals by Student's t on their logarithms. They cover what a new"
    " target changes; the interval beside a single run's figure does not."
)


def make_fresh_table(cells: Sequence[FreshFigures]) -> ReportTable | None:
    """Build a table with one row for each repeated cell; None if no cell is repeated."""
    if not cells:
        return None
    rows = [
        (
            ReportCell(cell.name + (f", at {cell.load}" if cell.load else "")),
            ReportCell(" · ".join(_format_figure(run, cell) for run in cell.runs)),
            ReportCell(
                words.prepend_bound(words.format_rate(cell.mean_ops_per_second), cell.bound),
                "strong",
            ),
            ReportCell(format_mean_interval(cell)),
            ReportCell(format_next_interval(cell)),
        )
        for cell in cells
    ]
    return ReportTable(columns=FRESH_COLUMNS, rows=tuple(rows))


def _format_figure(run: FreshRun, cell: FreshFigures) -> str:
    if run.figure_ops_per_second is None:
        return f"none ({run.name})"
    bound = run.bound if cell.load is None else "="  # throughput at one load is exact
    return words.prepend_bound(words.format_rate(run.figure_ops_per_second), bound)


def make_fresh_cell_key(result: RunResult) -> str | None:
    """Return a key that is equal for the runs of one repeated cell; None for any other run."""
    request = result.request
    if FRESH_TARGET not in request.tags or not request.target.provisioned:
        return None
    tags = {name: value for name, value in request.tags.items() if name != FRESH_TARGET}
    asked = request.model_dump(mode="json", exclude={"name", "tags", "description"})
    return json.dumps([tags, asked], sort_keys=True)


def name_fresh_cell(result: RunResult) -> str:
    """Return the name of the cell that a run repeats: `iops-1000` of `iops-1000-r2`."""
    return result.name.removesuffix(f"-r{result.request.tags.get(FRESH_TARGET)}")
