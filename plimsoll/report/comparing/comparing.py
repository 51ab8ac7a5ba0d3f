"""Compares runs: capacities, their ratios, latency at equal load, differences in requests. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from plimsoll import words
from plimsoll.model.base import Model
from plimsoll.model.judging.capacity import Bound, Capacity, Interval, Verdict
from plimsoll.model.judging.steps import Statistic
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import RampSearch, Search, StepsSearch
from plimsoll.model.run.experiment_record import FreshFigures, FreshRun
from plimsoll.model.run.results import RunResult
from plimsoll.quoting.costs import compute_usd_per_million
from plimsoll.report.charts.rows import find_capacity_load, index_by_load
from plimsoll.report.comparing.fresh_targets import (
    divide_fresh,
    make_fresh_cell_key,
    name_fresh_cell,
    summarize_fresh,
)
from plimsoll.report.comparing.ratios import Ratio, divide_capacities
from plimsoll.report.words import AS_IF, compute_hourly_usd, name_limit

# Differences: the fields in which requests differ, and names for runs made from them.


LABEL_FIELDS_MOST = 3
_UNITS = {
    "iops": "{:,} IOPS",
    "size_gib": "{:,} GiB",
    "throughput_mib_s": "{:,} MiB/s",
    "records": "{:,} records",
    "connections_per_client": "{:,} connections a client",
    "instance_class": "{}",
    "type": "{}",
    "name": "{}",
    "host": "{}",
}
_NOT_ASKED = {"name", "description", "tags", "team", "budget_usd", "time_limit_s", "expect"}


class Difference(Model):
    """A field in which requests differ, with its value in each; None if not given."""

    field: str
    values: tuple[str | None, ...]

    @property
    def part(self) -> str:
        """The part of a request to which it belongs: target, workload, load, search, limits ..."""
        return self.field.split(".")[0]


def _flatten(value: Any, path: str = "") -> dict[str, Any]:
    if isinstance(value, dict):
        fields: dict[str, Any] = {}
        for key, inner in value.items():
            fields |= _flatten(inner, f"{path}.{key}" if path else key)
        return fields
    return {path: value}


def _list_request_fields(request: Request) -> dict[str, Any]:
    return _flatten(request.model_dump(mode="json", exclude=_NOT_ASKED, exclude_none=True))


def list_field_differences(results: Sequence[RunResult]) -> tuple[Difference, ...]:
    """List the fields in which the runs' requests differ, and their places if those differ."""
    asked = [_list_request_fields(result.request) for result in results]
    differing = []
    for field in dict.fromkeys(field for request in asked for field in request):
        values = tuple(
            _format_value(request[field]) if field in request else None for request in asked
        )
        if len(set(values)) > 1:
            differing.append(Difference(field=field, values=values))
    places = tuple("one machine" if result.local else "AWS" for result in results)
    if len(set(places)) > 1:
        differing.append(Difference(field="measured on", values=places))
    return tuple(differing)


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def name_runs(results: Sequence[RunResult]) -> tuple[str, ...]:
    """Name each run uniquely: by what differs if that is little, else by its name or id."""
    differing = [
        d
        for d in list_field_differences(results)
        if d.field not in {"target.kind", "workload.kind"}
    ]
    short = tuple(_write_label(differing, index) for index in range(len(results)))
    if 1 <= len(differing) <= LABEL_FIELDS_MOST and len(set(short)) == len(short):
        return short
    for names in (
        tuple(result.name for result in results),
        tuple(result.run_id for result in results),
    ):
        if len(set(names)) == len(names):
            return names
    return tuple(f"{result.run_id} ({n})" for n, result in enumerate(results, 1))


def _write_label(differing: Sequence[Difference], index: int) -> str:
    return ", ".join(_write_part(d.field, d.values[index]) for d in differing)


def _write_part(field: str, value: str | None) -> str:
    name = field.rsplit(".", maxsplit=1)[-1]
    if value is None:
        return f"default {name}"
    if name == "engine":
        return words.ENGINES[value]
    if name in _UNITS:
        return _UNITS[name].format(int(value) if value.isdigit() else value)
    return f"{name} {value}"


def name_target(result: RunResult) -> str:
    """Return a key that is equal for runs of the same target."""
    return result.request.target.model_dump_json()


def make_question_key(result: RunResult) -> str:
    """Return a key that is equal for runs with the same question: workloads, load and limits.

    The search's part is only a client's connections, and the load if a single one is tried. Neither
    its strategy nor the number of repetitions belongs to the question.
    """
    request = result.request
    asked = request.model_dump(mode="json", include={"workload", "background", "load", "limits"})
    asked["limits"]["confirmation"] = request.limits.confirmation is not None
    asked["search"] = reduce_search(request.search).model_dump(mode="json")
    return json.dumps(asked, sort_keys=True)


def reduce_search(search: Search) -> Search:
    """Reduce a search to the parts that belong to the question."""
    if not isinstance(search, StepsSearch):
        return RampSearch()
    only = search.clients if len(search.clients) == 1 else (1, 2)
    return StepsSearch(clients=only, connections_per_client=search.connections_per_client)


class RunLine(Model):
    """One run of a comparison."""

    label: str
    run_id: str
    verdict: Verdict | None
    figure_ops_per_second: float | None
    bound: Bound | None
    interval: Interval | None
    load: str | None
    limiting_resource: str | None
    latency_us: dict[str, float]  # key: operation; the judged statistic at capacity
    statistic: str | None
    usd_per_million: float | None
    ratio: Ratio | None  # to the first run with the same question; None for that run


class EqualLoad(Model):
    """Latencies at a load that all runs tried, in the order of the runs."""

    load: str
    operation: str
    statistic: Statistic
    throughput_ops_per_second: tuple[float, ...]
    latency_us: tuple[float | None, ...]


class Comparison(Model):
    """A comparison of two or more runs."""

    sentences: tuple[str, ...]
    warnings: tuple[str, ...]
    runs: tuple[RunLine, ...]
    equal_loads: tuple[EqualLoad, ...]
    differences: tuple[Difference, ...]
    # Runs that an experiment repeated on fresh targets, by cell; empty if there are none
    fresh: tuple[FreshFigures, ...] = ()
    # Each cell of `fresh` to the first one with the same question
    fresh_ratios: tuple[Ratio, ...] = ()


def compare_runs(
    results: Sequence[RunResult], usd_per_hour: Sequence[float | None] = ()
) -> Comparison:
    """Compare each run with the first one that has the same question.

    Runs that an experiment repeated on fresh targets are compared by cells, not one by one.

    Args:
        results: Two or more runs.
        usd_per_hour: The price per hour of each target in dollars, in their order; empty to use the
            runs' own estimates.
    """
    names = name_runs(results)
    prices = list(usd_per_hour) or [compute_hourly_usd(result) for result in results]
    lines = []
    single = [i for i, result in enumerate(results) if make_fresh_cell_key(result) is None]
    for index, (name, result, price) in enumerate(zip(names, results, prices, strict=True)):
        alike = (i for i in single if make_question_key(results[i]) == make_question_key(result))
        first = next(alike, index)
        ratio = None
        if index in single and first != index:
            ratio = divide_capacities(name, result.capacity, names[first], results[first].capacity)
        lines.append(_write_line(name, result, price, ratio))
    ratios = [line.ratio.sentence for line in lines if line.ratio is not None]
    cells = group_fresh_cells(results)
    fresh = tuple(map(_summarize_cell, cells.keys(), cells.values()))
    fresh_ratios = tuple(_divide_cells(cells))
    warnings = _list_warnings(results, names)
    if cells and single:
        named = words.join_names(names[i] for i in single)
        warnings.append(f"Not compared with cells that were repeated on fresh targets: {named}.")
    return Comparison(
        sentences=(
            *ratios,
            *(ratio.sentence for ratio in fresh_ratios),
            *(cell.sentence for cell in fresh),
            *_describe_pairs(names, results),
        ),
        warnings=tuple(warnings),
        runs=tuple(lines),
        equal_loads=find_equal_loads(results),
        differences=list_field_differences(results),
        fresh=fresh,
        fresh_ratios=fresh_ratios,
    )


def group_fresh_cells(results: Sequence[RunResult]) -> dict[str, list[RunResult]]:
    """Group the runs that an experiment repeated on fresh targets; {name of the cell: its runs}."""
    by_key: dict[str, list[RunResult]] = {}
    for result in results:
        if (key := make_fresh_cell_key(result)) is not None:
            by_key.setdefault(key, []).append(result)
    groups = list(by_key.values())
    names = [name_fresh_cell(runs[0]) for runs in groups]
    if len(set(names)) < len(names):  # cells of two experiments
        names = [f"{runs[0].run_id} and its like" for runs in groups]
    return dict(zip(names, groups, strict=True))


def _summarize_cell(name: str, runs: Sequence[RunResult]) -> FreshFigures:
    told = []
    for run in runs:
        capacity = run.capacity
        figure = capacity.max_sustainable_throughput_ops_per_second if capacity else None
        told.append(
            FreshRun(
                name=run.name,
                run_id=run.run_id,
                figure_ops_per_second=figure,
                bound=capacity.bound if capacity else None,
                no_figure=None if figure is not None else _explain_no_figure(run),
            )
        )
    return summarize_fresh(name, told, [run.capacity for run in runs])


def _divide_cells(cells: Mapping[str, Sequence[RunResult]]) -> Iterator[Ratio]:
    """Yield the ratio of each repeated cell to the first one with the same question."""
    firsts: dict[str, str] = {}
    for name, runs in cells.items():
        first = firsts.setdefault(make_question_key(runs[0]), name)
        if first != name:
            a, b = ([run.capacity for run in cells[each]] for each in (name, first))
            if (ratio := divide_fresh(name, a, first, b)) is not None:
                yield ratio


def _describe_pairs(names: Sequence[str], results: Sequence[RunResult]) -> Iterator[str]:
    """Yield what pairs of steps in a run showed about its toggle or its background load."""
    for name, result in zip(names, results, strict=True):
        if result.toggle is not None:
            yield f"{name}: {result.toggle.detail}."
        closing = result.capacity.closing if result.capacity else None
        if closing is not None and closing.background is not None:
            yield f"{name}: {closing.background.detail}."


def _write_line(name: str, result: RunResult, price: float | None, ratio: Ratio | None) -> RunLine:
    capacity = result.capacity
    judged = capacity and find_capacity_load(capacity)
    return RunLine(
        label=name,
        run_id=result.run_id,
        verdict=capacity.verdict if capacity else None,
        figure_ops_per_second=capacity.max_sustainable_throughput_ops_per_second
        if capacity
        else None,
        bound=capacity.bound if capacity else None,
        interval=capacity.interval if capacity else None,
        load=words.format_load(capacity.at, capacity.axis) if capacity else None,
        limiting_resource=name_limit(result.limiting) if result.limiting else None,
        latency_us=judged.latency_us if judged else {},
        statistic=capacity.statistic if capacity else None,
        usd_per_million=compute_usd_per_million(capacity, price),
        ratio=ratio,
    )


def find_equal_loads(results: Sequence[RunResult]) -> tuple[EqualLoad, ...]:
    """List latencies at every load that all runs tried; empty if they cannot be compared."""
    capacities = [result.capacity for result in results if result.capacity is not None]
    if len(capacities) < len(results) or len({(c.axis, c.statistic) for c in capacities}) > 1:
        return ()
    if len({make_question_key(result) for result in results}) > 1:
        return ()
    steps = [index_by_load(capacity) for capacity in capacities]
    shared = sorted(set.intersection(*(set(by_load) for by_load in steps)))
    return tuple(
        EqualLoad(
            load=words.format_load(load, capacities[0].axis),
            operation=operation,
            statistic=capacities[0].statistic,
            throughput_ops_per_second=tuple(s[load].throughput_ops_per_second for s in steps),
            latency_us=tuple(s[load].latency_us.get(operation) for s in steps),
        )
        for load in shared
        for operation in dict.fromkeys(name for s in steps for name in s[load].latency_us)
    )


def _list_warnings(results: Sequence[RunResult], names: Sequence[str]) -> list[str]:
    warnings = []
    if len({result.local for result in results}) > 1:
        warnings.append("Some ran on one machine, some on AWS: such figures cannot be compared.")
    if any(result.local and compute_hourly_usd(result) is not None for result in results):
        warnings.append(AS_IF)
    versions = {(r.versions.plimsoll, r.versions.engine) for r in results}
    if len(versions) > 1:
        warnings.append("They were measured by different versions of Plimsoll.")
    for name, result in zip(names, results, strict=True):
        capacity = result.capacity
        if capacity is None or capacity.bound is None:
            warnings.append(f"{name} has no figure: {_explain_no_figure(result)}")
        elif capacity.bracket is not None and (wide := _describe_gap(capacity)):
            warnings.append(f"{name}: {wide}")
    return warnings


def _explain_no_figure(result: RunResult) -> str:
    if result.capacity is not None:
        return f"{result.capacity.verdict}; {result.capacity.summary}."
    return result.failure.cause if result.failure else f"it ended {result.state.value}."


def _describe_gap(capacity: Capacity) -> str | None:
    """Name the widest gap within the bracket in which no load was tried."""
    low, high = capacity.bracket or (None, None)
    if not low or not high:
        return None
    tried = sorted({low, high, *(j.load for j in capacity.steps if low < j.load < high)})
    whole = capacity.axis != "rate_ops_per_second"
    wide = [(a, b) for a, b in pairwise(tried) if b / a > 1.10 and not (whole and b - a <= 1)]
    if not wide:
        return None
    low, high = max(wide, key=lambda stretch: stretch[1] / stretch[0])
    between = (
        f"{words.format_load(low, capacity.axis)} and {words.format_load(high, capacity.axis)}"
    )
    warning = f"no load between {between} was tried, so its capacity may be somewhat higher"
    return f"{warning}; the interval does not cover that." if capacity.interval else f"{warning}."
