"""Runs beside published figures: the shapes of curves, knees and ratios, never absolute figures.

Throughput and latency are multiples of those at the lightest load that both tried, so that a
present machine can be compared with one of 2013. Pure.
"""

import csv
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from pydantic import ValidationError

from plimsoll import words
from plimsoll.documents import read_text
from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Capacity, JudgedStep
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.experiment import FRESH_TARGET
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.run.results import RunResult
from plimsoll.report.charts.rows import index_by_load
from plimsoll.report.comparing.ratios import divide_capacities
from plimsoll.report.tables import ReportCell, ReportTable
from plimsoll.words import escape_controls

# Published figures: `reference/*.csv`.


_OF_CURVES = {"iops", "clients", "throughput_ops_per_second", "knee", "doubt"}
_OF_RATIOS = {"of", "to", "ratio", "bound", "doubt"}
# Columns that every table of gains by a toggle has; further ones tell its rows apart
_GAIN_COLUMNS = {"workload", "ratio", "doubt"}
FACTOR = 2.0  # a measured gain is called alike up to this factor from the published range


class PublishedStep(Model):
    """One row of a published curve."""

    clients: int
    throughput_ops_per_second: float
    latency_us: dict[str, float]  # key: operation
    knee: bool
    doubt: str


class PublishedCurve(Model):
    """Throughput and latency at several numbers of clients, for one volume."""

    iops: int
    steps: tuple[PublishedStep, ...]


class PublishedRatio(Model):
    """The throughput of one target as a multiple of another's."""

    of: tuple[str, ...]  # variants that stand for the first target
    to: tuple[str, ...]
    where: dict[str, tuple[str, ...]]  # {axis: variants}; an axis that is absent may have any
    ratio: float
    bound: Bound
    doubt: str


class PublishedGain(Model):
    """The throughput with a feature as a multiple of that without it, for one workload."""

    workload: str
    where: str  # what tells this row from others of the workload: "8 cores"
    ratio: float
    doubt: str


class Reference(Model):
    """A study's published figures, and their known weaknesses."""

    title: str
    statistic: Statistic
    doubts: tuple[str, ...]
    curves: tuple[PublishedCurve, ...]
    ratios: tuple[PublishedRatio, ...]
    gains: tuple[PublishedGain, ...] = ()


def read_reference(path: Path) -> Reference:
    """Read a file of published figures.

    Raises:
        UsageError: The file cannot be read, or is invalid; the message names line and column.
    """
    try:
        lines = escape_controls(read_text(path)).splitlines()
    except UsageError as error:
        raise UsageError(f"--with {error}") from None
    try:
        return _read_lines(lines, path)
    except (csv.Error, ValidationError) as error:
        why = _describe_first(error) if isinstance(error, ValidationError) else error
        raise UsageError(f"--with {path}: {why}") from None


def _describe_first(error: ValidationError) -> str:
    """Describe the first of pydantic's errors, with the place in the model."""
    first = error.errors()[0]
    return ": ".join((*map(str, first["loc"]), first["msg"]))


def _read_lines(lines: Sequence[str], path: Path) -> Reference:
    said = [line[1:].partition(":") for line in lines if line.startswith("#")]
    facts = {key.strip(): text.strip() for key, _, text in said}
    numbers = [n for n, line in enumerate(lines, 1) if not line.startswith("#")]
    reader = csv.DictReader(lines[n - 1] for n in numbers)
    columns = set(reader.fieldnames or ())
    forms = (_OF_CURVES, _OF_RATIOS, _GAIN_COLUMNS)
    if not any(columns >= form for form in forms):
        wanted = " or ".join(", ".join(sorted(names)) for names in forms)
        raise UsageError(f"--with {path}: its columns must have {wanted}")
    curves: dict[int, list[PublishedStep]] = {}
    ratios, gains = [], []
    for row in reader:
        try:
            if columns >= _OF_CURVES:
                curves.setdefault(int(row["iops"]), []).append(_parse_step(row))
            elif columns >= _OF_RATIOS:
                ratios.append(_parse_ratio(row))
            else:
                gains.append(_parse_gain(row))
        except (ValueError, TypeError, ValidationError) as error:
            why = _describe_first(error) if isinstance(error, ValidationError) else error
            raise UsageError(f"--with {path}:{numbers[reader.line_num - 1]}: {why}") from None
    return Reference.model_validate(
        {
            "title": facts.get("title", path.name),
            "statistic": facts.get("statistic", "mean"),
            "doubts": [text.strip() for key, _, text in said if key.strip() == "doubt"],
            "curves": [{"iops": iops, "steps": steps} for iops, steps in curves.items()],
            "ratios": ratios,
            "gains": gains,
        }
    )


def _parse_step(row: Mapping[str, Any]) -> PublishedStep:
    latency = {
        name.removesuffix("_us"): float(value)
        for name, value in row.items()
        if name and name.endswith("_us") and value
    }
    return PublishedStep(
        clients=int(row["clients"]),
        throughput_ops_per_second=float(row["throughput_ops_per_second"]),
        latency_us=latency,
        knee=row["knee"] == "yes",
        doubt=row["doubt"] or "",
    )


def _parse_ratio(row: Mapping[str, Any]) -> PublishedRatio:
    where = {
        axis: tuple(names.split("|"))
        for axis, names in row.items()
        if axis not in _OF_RATIOS and names
    }
    return PublishedRatio(
        of=tuple(row["of"].split("|")),
        to=tuple(row["to"].split("|")),
        where=where,
        ratio=float(row["ratio"]),
        bound=row["bound"],
        doubt=row["doubt"] or "",
    )


def _parse_gain(row: Mapping[str, Any]) -> PublishedGain:
    where = ", ".join(
        f"{value} {name}" for name, value in row.items() if name not in _GAIN_COLUMNS and value
    )
    return PublishedGain(
        workload=row["workload"], where=where, ratio=float(row["ratio"]), doubt=row["doubt"] or ""
    )


# Published ratios beside measured ones.


def format_measured_ratio(of: RunResult, to: RunResult) -> str:
    """Format a measured ratio with its interval, or say that there is none."""
    ratio = divide_capacities(of.run_id, of.capacity, to.run_id, to.capacity)
    if ratio is None:
        return "none: one has no figure, or both are bounds"
    interval = f" (95 % {words.format_ratio_interval(ratio.low, ratio.high)})"
    tail = "" if ratio.low is None else interval
    return f"{words.format_ratio(ratio.value, ratio.bound)} times{tail}"


def describe_published_ratio(
    published: PublishedRatio, results: Sequence[RunResult]
) -> Iterator[str]:
    """Yield what was measured for a published ratio, for each question that has both targets."""
    for one in results:
        if not _has_variant(one, published.of) or not _meets_conditions(one, published.where):
            continue
        rest = _list_other_variants(one, published.of)
        for other in results:
            if (
                _has_variant(other, published.to)
                and _list_other_variants(other, published.to) == rest
            ):
                told = format_measured_ratio(one, other)
                said = words.format_ratio(published.ratio, published.bound)
                doubt = f" ({published.doubt})" if published.doubt else ""
                names = f"{_name(one, published.of)} to {_name(other, published.to)}"
                load = f"{', '.join(rest)}: " if rest else ""
                yield f"{load}{names}: published {said} times{doubt}, measured {told}."


def _list_variants(result: RunResult) -> list[str]:
    tags: Mapping[str, str] = result.request.tags
    return [value for key, value in tags.items() if key not in {"experiment", FRESH_TARGET}]


def _has_variant(result: RunResult, names: Sequence[str]) -> bool:
    return any(name in _list_variants(result) for name in names)


def _meets_conditions(result: RunResult, where: Mapping[str, Sequence[str]]) -> bool:
    return all(_has_variant(result, names) for names in where.values())


def _list_other_variants(result: RunResult, names: Sequence[str]) -> list[str]:
    return [variant for variant in _list_variants(result) if variant not in names]


def _name(result: RunResult, names: Sequence[str]) -> str:
    return next(variant for variant in _list_variants(result) if variant in names)


def describe_gains(
    published: Sequence[PublishedGain], results: Sequence[RunResult]
) -> Iterator[str]:
    """Yield what a toggle gained in each run of a published workload, and the order of the gains.

    A gain is "in kind" if it has the same sign and is within a factor of 2 of the published range.
    """
    measured: dict[str, float] = {}
    for result in results:
        workload, toggle = result.request.workload.name, result.toggle
        rows = [row for row in published if row.workload == workload]
        if not rows or toggle is None or workload is None:
            continue
        said = ", ".join(
            f"{words.format_ratio(row.ratio)} ({row.where})"
            if row.where
            else words.format_ratio(row.ratio)
            for row in rows
        )
        ratio = toggle.throughput
        found = "none" if ratio.ratio is None else f"{words.format_ratio(ratio.ratio)} times"
        judged = ""
        if ratio.ratio is not None:
            measured[workload] = ratio.ratio
            interval = (
                ""
                if ratio.low is None
                else f" {words.format_ratio_interval(ratio.low, ratio.high)}"
            )
            judged = f"{interval}; {_judge_gain(ratio.ratio, [row.ratio for row in rows])}"
        first, second = toggle.states
        names = f"{workload}, {second.name} to {first.name}"
        yield f"{names}: published {said}, measured {found}{judged}."
    if len(measured) > 1:
        ordered = sorted(measured, key=lambda name: measured[name], reverse=True)
        most = {
            name: max(row.ratio for row in published if row.workload == name) for name in measured
        }
        same = ordered == sorted(most, key=lambda name: most[name], reverse=True)
        how = "as" if same else "unlike"
        yield f"Gains from the largest: {', '.join(ordered)}, {how} in the largest published ones."


def _judge_gain(measured: float, published: Sequence[float]) -> str:
    low, high = min(published), max(published)
    if low <= measured <= high:
        return "in the published range"
    if (measured > 1) != (high > 1):
        return "of the other sign"
    off = low / measured if measured < low else measured / high
    kind = "in kind" if off <= FACTOR else "not in kind"
    return f"{words.format_ratio(off)} times off the published range: {kind}"


NEVER_ABSOLUTE = (
    "Shapes, knees and ratios are compared: hardware, versions and clients differ, so absolute"
    " figures say nothing."
)
MULTIPLES = "multiples of the lightest load that both tried"


class Against(Model):
    """Published and measured figures, as far as they can be compared."""

    title: str
    sentences: tuple[str, ...]
    shapes: tuple["Shape", ...]
    doubts: tuple[str, ...]


class Shape(Model):
    """A published curve beside a run's, in multiples of the lightest load that both tried."""

    published: str
    measured: str
    clients: tuple[float, ...]
    # multiples of each quantity, published and measured
    multiples: dict[str, tuple[tuple[float, float | None], ...]]


def compare_with_published(
    reference: Reference, results: Sequence[RunResult], names: Sequence[str]
) -> Against:
    """Compare runs with published figures.

    Args:
        reference: The published figures.
        results: The runs.
        names: The names of the runs, in their order.

    Raises:
        UsageError: A curve has no run, or none of the ratios' variants was measured.
    """
    matched = _match_curves(reference.curves, results, names) if reference.curves else []
    shapes = [
        _compare_shapes(curve, run, name, reference.statistic) for curve, run, name in matched
    ]
    sentences = [_describe_knees(curve, run, name) for curve, run, name in matched]
    for (low, slow, _), (high, fast, _) in pairwise(matched):
        sentences.append(_describe_step_up(low, high, format_measured_ratio(fast, slow)))
    told = [
        sentence for one in reference.ratios for sentence in describe_published_ratio(one, results)
    ]
    told += describe_gains(reference.gains, results)
    if (reference.ratios or reference.gains) and not told:
        raise UsageError("--with: no two of the runs are of variants that the file compares")
    doubtful = [
        f"{curve.iops:,} IOPS, {words.format_count(step.clients, 'client')}: {step.doubt}"
        for curve in reference.curves
        for step in curve.steps
        if step.doubt
    ]
    return Against(
        title=reference.title,
        sentences=(*sentences, *told),
        shapes=tuple(shapes),
        doubts=(*doubtful, *reference.doubts),
    )


Matched = tuple[PublishedCurve, RunResult, str]


def _match_curves(
    curves: Sequence[PublishedCurve], results: Sequence[RunResult], names: Sequence[str]
) -> list[Matched]:
    """Match runs and curves: by IOPS if all runs have those of a curve, else by order."""
    if len(results) > len(curves):
        raise UsageError(f"--with: {len(results)} runs for {len(curves)} published curves")
    for name, result in zip(names, results, strict=True):
        if result.capacity is None or result.capacity.axis == "rate_ops_per_second":
            raise UsageError(f"--with: {name} has no figures of loads by clients")
    by_iops = {curve.iops: curve for curve in curves}
    own = [_find_iops(result) for result in results]
    if set(own) <= set(by_iops) and len(set(own)) == len(own):
        chosen = [by_iops[iops] for iops in own if iops is not None]
    else:
        chosen = list(curves[: len(results)])
    return sorted(zip(chosen, results, names, strict=True), key=lambda one: one[0].iops)


def _find_iops(result: RunResult) -> int | None:
    target = result.request.target
    return None if isinstance(target, EndpointTarget | AuroraTarget) else target.volume.iops


def _compare_shapes(
    curve: PublishedCurve, run: RunResult, name: str, statistic: Statistic
) -> Shape:
    assert run.capacity is not None  # noqa: S101 - `_match_curves` has refused others
    measured = index_by_load(run.capacity)
    published = {float(step.clients): step for step in curve.steps}
    first = next((load for load in published if load in measured), None)
    if first is None:
        raise UsageError(f"--with: {name} tried none of the published numbers of clients")
    operations = [
        op for op in published[first].latency_us if _find_latency(measured[first], op, statistic)
    ]
    columns: dict[str, tuple[tuple[float, float | None], ...]] = {
        "throughput": tuple(
            (
                _divide_throughput(step, published[first]),
                _divide_measured(measured.get(load), measured[first]),
            )
            for load, step in published.items()
        )
    }
    for op in operations:
        base = _find_latency(measured[first], op, statistic)
        columns[op] = tuple(
            (
                step.latency_us[op] / published[first].latency_us[op],
                _divide_known(_find_latency(measured.get(load), op, statistic), base),
            )
            for load, step in published.items()
        )
    return Shape(
        published=f"{curve.iops:,} IOPS",
        measured=name,
        clients=tuple(published),
        multiples=columns,
    )


def _divide_throughput(step: PublishedStep, first: PublishedStep) -> float:
    return step.throughput_ops_per_second / first.throughput_ops_per_second


def _divide_measured(judged: JudgedStep | None, first: JudgedStep) -> float | None:
    figure = judged.throughput_ops_per_second if judged else None
    return _divide_known(figure, first.throughput_ops_per_second)


def _find_latency(judged: JudgedStep | None, operation: str, statistic: Statistic) -> float | None:
    """Return the median over a load's repetitions; None if it was not measured."""
    steps = judged.steps if judged else ()
    values = [step.latency_us.get(operation, {}).get(statistic) for step in steps]
    found = [value for value in values if value is not None]
    return median(found) if found else None


def _divide_known(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def _describe_knees(curve: PublishedCurve, run: RunResult, name: str) -> str:
    """Describe both knees, as a load and as a multiple of the first load's throughput."""
    knee = next((step for step in curve.steps if step.knee), None)
    published = "no maximum published"
    if knee is not None:
        times = words.format_ratio(_divide_throughput(knee, curve.steps[0]))
        load = words.format_count(knee.clients, "client")
        published = f"published at {load}, {times} times the throughput of the first load"
    return (
        f"Knee with {curve.iops:,} IOPS: {published}; measured ({name})"
        f" {_describe_measured_knee(run)}."
    )


def _describe_measured_knee(run: RunResult) -> str:
    capacity: Capacity | None = run.capacity
    figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
    if capacity is None or not figure or capacity.at is None or not capacity.steps:
        return "none"
    first = min(capacity.steps, key=lambda judged: judged.load)
    times = words.format_ratio(figure / first.throughput_ops_per_second)
    bound = "" if capacity.bound == "=" else "not reached up to "
    return f"{bound}at {words.format_load(capacity.at, capacity.axis)}, {times} times"


def _describe_step_up(low: PublishedCurve, high: PublishedCurve, measured: str) -> str:
    below, above = (next((s for s in one.steps if s.knee), None) for one in (low, high))
    published = "not published"
    if below is not None and above is not None:
        published = f"published {words.format_ratio(_divide_throughput(above, below))} times"
        if above.doubt or below.doubt:
            published += " (doubtful)"
    return f"From {low.iops:,} to {high.iops:,} IOPS: {published}, measured {measured}."


def make_shape_table(shape: Shape) -> ReportTable:
    """Build a table of published and measured multiples, one row for each published load."""
    groups = (("", 1), *((what, 2) for what in shape.multiples))
    rows = []
    for place, clients in enumerate(shape.clients):
        cells = [ReportCell(words.format_number(clients))]
        for pairs in shape.multiples.values():
            published, measured = pairs[place]
            shown = words.NOTHING if measured is None else words.format_ratio(measured)
            cells += [ReportCell(words.format_ratio(published)), ReportCell(shown, "strong")]
        rows.append(tuple(cells))
    columns = ("clients", *(["published", "measured"] * len(shape.multiples)))
    return ReportTable(columns=columns, rows=tuple(rows), groups=groups)
