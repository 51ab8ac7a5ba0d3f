"""`plimsoll capacity`: judges finished steps, whatever tool measured them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from plimsoll import words
from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.options import NumberList, NumberRange, WholeRange
from plimsoll.cli.output import console, fold_line, make_table, print_figures
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.model.judging.capacity import AuditName

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from plimsoll.model.judging.capacity import Axis, Capacity, JudgedStep, Rules
    from plimsoll.model.judging.steps import Statistic
    from plimsoll.model.request.expectations import Expectation


# Output: the curve, every step's verdict with its reason, and the answer.


LABEL_WIDTH = 11  # columns in which `bracket`, `interval`, `cause` and the like stand


def print_capacity(capacity: Capacity, console: Console) -> None:
    """Print the loads as a table, then the verdict with everything that qualifies it."""
    from rich.markup import escape
    from rich.text import Text

    from plimsoll.model.judging.verdicts import find_verdict_facts

    print_figures(console, _make_loads_table(capacity))
    style = f"bold {find_verdict_facts(capacity.verdict).color}"
    answer = Text.assemble((capacity.verdict, style), "  ", capacity.summary)
    console.print(answer, soft_wrap=not console.is_terminal)
    width = console.width if console.is_terminal else None
    for label, text in [*_list_facts(capacity), *(("note", note) for note in capacity.notes)]:
        folded = escape(fold_line(text, LABEL_WIDTH, width))
        console.print(f"[bold]{label:<{LABEL_WIDTH}}[/]{folded}", highlight=False, soft_wrap=True)


ANSWERS = {"met": "green", "not met": "bold red", "no answer": "bold yellow"}


def print_expectations(expectations: Sequence[Expectation], console: Console) -> None:
    """Print the outcome of each rule."""
    from rich.text import Text

    for one in expectations:
        text = Text.assemble((one.answer, ANSWERS[one.answer]), f"  {one.rule}: {one.because}")
        console.print(text, soft_wrap=not console.is_terminal)


def _make_loads_table(capacity: Capacity) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.markup import escape

    limits_us = capacity.steps[0].limit_us
    repeated = any(step.repetitions > 1 for step in capacity.steps)
    statistic = words.name_statistic(capacity.statistic)
    figures = [
        words.LOAD_UNITS[capacity.axis],
        "ops/s",
        *(["runs", "CV"] if repeated else []),
        *(
            f"{escape(name)} {statistic}\n[dim]limit {words.format_latency(limit_us)}[/]"
            for name, limit_us in limits_us.items()
        ),
    ]
    table = make_table(*figures, "", "why", right=figures, box=SIMPLE_HEAD)
    for step in capacity.steps:
        cells = [words.format_number(step.load), words.format_rate(step.throughput_ops_per_second)]
        if repeated:
            cells.append(f"{step.repetitions_passed} of {step.repetitions}")
            cells.append(
                "" if step.throughput_cv is None else words.format_percent(step.throughput_cv)
            )
        cells += [_describe_latency(step, name) for name in limits_us]
        table.add_row(*cells, _mark(step, capacity), escape("; ".join(step.explanations)))
    return table


def _describe_latency(step: JudgedStep, name: str) -> str:
    latency_us = step.latency_us.get(name)
    if latency_us is None:
        return "[dim]not known[/]"
    text = words.format_latency(latency_us)
    return f"[red]{text}[/]" if latency_us > step.limit_us[name] else text


def _mark(step: JudgedStep, capacity: Capacity) -> str:
    if step.outcome != "passed":
        return f"[{'red' if step.outcome == 'failed' else 'yellow'}]{step.outcome}[/]"
    best = capacity.at == step.load and capacity.max_sustainable_throughput_ops_per_second
    return "[bold green]passed <[/]" if best else "[green]passed[/]"


def _list_facts(capacity: Capacity) -> list[tuple[str, str]]:
    """List name and text of the facts below the sentence."""
    facts = [("question", capacity.question)] if capacity.question else []
    if capacity.bracket is not None:
        facts.append(("bracket", words.format_bracket(capacity.bracket, capacity.axis)))
    if capacity.burst is not None:
        facts.append(("burst", capacity.burst.summary))
    if capacity.verdict == "KNEE":
        facts.append(("edge", _describe_edge(capacity)))
    if capacity.causes:
        facts.append(("cause", ", ".join(capacity.causes)))
    if capacity.interval is not None and capacity.median_ops_per_second is not None:
        interval = capacity.interval
        ends = (interval.low_ops_per_second, interval.high_ops_per_second)
        text = (
            f"{words.format_rate(ends[0])} to {words.format_throughput(ends[1])},"
            f" {words.format_percent(interval.confidence)} ({interval.method},"
            f" {interval.repetitions} repetitions,"
            f" median {words.format_rate(capacity.median_ops_per_second)}); {words.INTERVAL_COVERS}"
        )
        facts.append(("interval", text))
    elif capacity.at is not None:
        facts.append(("interval", "none: one repetition"))
    facts += capacity.closing.findings if capacity.closing else ()
    facts.append(("USL", _describe_usl(capacity)))
    if capacity.power_point is not None:
        load = words.format_load(capacity.power_point.load, capacity.axis)
        facts.append(("power", f"greatest throughput / latency at {load}"))
    return facts


def _describe_edge(capacity: Capacity) -> str:
    edge = capacity.edge
    if edge is None:
        return "not known: too few repetitions"
    span = words.format_load_range(edge.low, edge.high, edge.confidence, capacity.axis)
    return f"{span} ({edge.method}, {edge.windows} steps)"


def _describe_usl(capacity: Capacity) -> str:
    fit = capacity.usl
    if fit is None or not fit.converged or fit.ideal_ops_per_second is None:
        return f"no fit: {fit.why_not if fit else 'not tried'}"
    peak = "no peak"
    if fit.peak_load is not None:
        at = words.format_load(float(f"{fit.peak_load:.3g}"), capacity.axis)
        peak = f"peak {words.format_throughput(fit.peak_ops_per_second)} at {at}"
    return (
        f"lambda {words.format_throughput(fit.ideal_ops_per_second)}, sigma {fit.contention:.3g},"
        f" kappa {fit.coherency:.3g}, {peak} (annotation only)"
    )


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--limit-us",
    "limit_texts",
    multiple=True,
    metavar="OPERATION=N",
    help="Latency limit of an operation in microseconds; repeatable.",
)
@click.option(
    "--deterioration",
    type=NumberRange(min=1, min_open=True),
    help="Latency limit of the other operations, as a multiple of their latency in the lightest"
    " step. [3]",
)
@click.option(
    "--statistic",
    type=click.Choice(["p99", "p95", "p50", "mean", "p999", "max"]),
    help="Latency statistic to judge. [p99, or the highest that the table has]",
)
@click.option(
    "--connections-per-client",
    type=WholeRange(min=1),
    help="Compute the connections from Little's law if the table has none.",
)
@click.option(
    "--connections",
    multiple=True,
    type=NumberList(whole=True),
    metavar="N,N,...",
    help="Connections of outputs that do not state them; one number per such file, in order.",
)
@click.option(
    "--rate",
    "rates",
    multiple=True,
    type=NumberList(),
    metavar="N,N,...",
    help="Arrival rates (ops/s) of outputs that do not state them (wrk2, pgbench --rate, k6's"
    " arrival rates); one number per such file, in order.",
)
@click.option(
    "--without-audit",
    "audits_off",
    multiple=True,
    type=click.Choice(get_args(AuditName)),
    metavar="AUDIT",
    help="Skip this audit and trust the figures: "
    + ", ".join(get_args(AuditName))
    + ". Repeatable.",
)
@expect_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    *,
    files: tuple[Path, ...],
    limit_texts: tuple[str, ...],
    deterioration: float | None,
    statistic: Statistic | None,
    connections_per_client: int | None,
    connections: tuple[tuple[float, ...], ...],
    rates: tuple[tuple[float, ...], ...],
    audits_off: tuple[AuditName, ...],
    expecting: Expecting,
    as_json: bool,
) -> int:
    """Judge steps: the most that the target sustains, and the evidence for it.

    FILES are tables of steps (CSV or JSON), outputs of YCSB, go-ycsb, sysbench, pgbench, wrk2, k6,
    latte or `plimsoll load --json` (each output is a step), or the directory of a run.

    Columns: clients, connections, rate_ops_per_second, throughput_ops_per_second, operations,
    errors, window_s, client_busy, latency_us.<operation>[.<statistic>], share.<operation>.
    Leave out what is not known. A row is a step; rows of the same load are its repetitions.

    Exit code 1: a rule of --expect does not hold. 3: there is no answer (the verdict has no
    figure), or a rule cannot be decided.
    """
    from plimsoll.capacity.readers.tables import Judging, judge_table
    from plimsoll.report.expectations import JudgedTable
    from plimsoll.report.summaries import summarize_table
    from plimsoll.requests.step_files import read_steps

    rules, axis = None, None
    if len(files) == 1 and files[0].is_dir():
        rules, axis = _read_run_rules(files[0])
    steps, told = read_steps(
        files,
        unnamed=statistic or "mean",
        connections=[round(n) for given in connections for n in given],
        rates=[n for given in rates for n in given],
        units_by_littles_law="littles_law" not in audits_off,
    )
    capacity = judge_table(
        steps,
        told,
        Judging(
            rules=rules,
            axis=axis,
            limits_us=_parse_limits(limit_texts),
            deterioration=deterioration,
            statistic=statistic,
            connections_per_client=connections_per_client,
            audits_off=frozenset(audits_off),
        ),
    )
    expecting.require_operations({name for step in steps for name in step.latency_us})
    expecting.require_baselines()
    outcomes = expecting.judge_table(capacity)
    if as_json:
        click.echo(JudgedTable(**dict(capacity), expect=outcomes).model_dump_json(indent=2))
    else:
        print_capacity(capacity, console())
        print_expectations(outcomes, console())
    names = ", ".join(map(str, files))
    return expecting.tell([summarize_table(names, capacity, outcomes)])


def _read_run_rules(directory: Path) -> tuple[Rules, Axis | None]:
    """Return the rules and the axis by which the run itself was judged."""
    from pydantic import ValidationError

    from plimsoll.capacity.search import find_axis
    from plimsoll.model.request.request import Request
    from plimsoll.requests.step_files import read_visible_text

    text = read_visible_text(directory / "result.json")
    if is_deeper(text):
        raise UsageError(f"{directory / 'result.json'}: nested too deeply")
    try:
        request = Request.model_validate(json.loads(text)["request"])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{directory / 'result.json'}: not of a run: {reason}") from None
    return request.limits, find_axis(request.search)


def _parse_limits(texts: tuple[str, ...]) -> dict[str, float]:
    limits_us: dict[str, float] = {}
    for text in texts:
        operation, equals, number = text.rpartition("=")
        try:
            limit = float(number)
        except ValueError:
            limit = -1.0
        if not equals or not operation or not 0 < limit < float("inf"):
            raise UsageError(f"--limit-us {text!r}: must be OPERATION=N, N above 0 in microseconds")
        if operation in limits_us:
            raise UsageError(f"--limit-us: {operation} is given twice")
        limits_us[operation] = limit
    return limits_us
