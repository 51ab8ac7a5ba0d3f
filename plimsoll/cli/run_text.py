"""A finished run on a terminal: its curve, its verdict, what set the limit, where its files are."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from plimsoll.cli.output import print_figures
from plimsoll.cli.wording import target_line, three_figures
from plimsoll.model.capacity import JudgedStep
from plimsoll.model.results import RunResult, StepResult
from plimsoll.report.differences import question
from plimsoll.report.dollars import run_cost_words
from plimsoll.report.ratios import ratio_of

SHOWS_A_CAPACITY = {"=": "", ">=": ">= ", "<": "< ", None: ""}


def print_result(result: RunResult, directory: Path | None, console: Console) -> None:
    """Print one run, and where its files are, if they are here."""
    console.print(
        f"[bold]{result.name}[/]  {target_line(result.request)}", highlight=False, soft_wrap=True
    )
    if result.steps:
        print_figures(console, curve(result))
    if result.failure is not None:
        failure = result.failure
        where = f" in its {failure.phase} phase" if failure.phase else ""
        console.print(
            f"[bold red]{result.state}[/]{where}: {failure.cause}", highlight=False, soft_wrap=True
        )
    if result.capacity is not None:
        verdict = f"[bold]{result.capacity.verdict}[/]: {result.capacity.summary}"
        console.print(verdict, highlight=False, soft_wrap=True)
        for note in (*_reasons(result), *result.capacity.notes):
            console.print(f"  {note}", highlight=False, soft_wrap=True)
    if result.limiting is not None:
        at = f" (step {result.limiting.step})" if result.limiting.step is not None else ""
        console.print(f"[bold]Limited by: {result.limiting.resource}[/]{at}", highlight=False)
        for line in result.limiting.evidence:
            console.print(f"  {line}", highlight=False, soft_wrap=True)
    for note in (*result.notes, *_problems(result.steps), *_cost(result)):
        console.print(f"  {note}", highlight=False, soft_wrap=True)
    if result.moments.deleted is not None:
        console.print(f"The target was seen deleted at {result.moments.deleted:%H:%M:%S} UTC.")
    if directory is not None:
        console.print(f"Files: {directory}", highlight=False, soft_wrap=True)


def _cost(result: RunResult) -> list[str]:
    spent = run_cost_words(result)
    return [f"cost: {spent}"] if spent else []


def _problems(steps: Sequence[StepResult]) -> list[str]:
    return [f"step {step.plan.index}: {text}" for step in steps for text in step.problems]


def curve(result: RunResult) -> Table:
    """Lay out the steps: load, throughput, latencies, what the storage and the CPU did."""
    statistic = result.request.limits.statistic
    names = sorted({name for step in result.steps for name in step.step.latency_us})
    judged = _judged(result)
    table = Table(box=None, pad_edge=False, collapse_padding=True, header_style="bold")
    latencies = [f"{name}\n{statistic} ms" for name in names]
    for title in ("step", "clients", "conns", "ops/s", *latencies, "errors", "IOPS", "queue"):
        table.add_column(title, justify="right")
    table.add_column("CPU %", justify="right")
    table.add_column("")
    for step in result.steps:
        figure = step.step.throughput_ops_per_second
        table.add_row(
            str(step.plan.index),
            str(step.plan.clients),
            str(step.plan.connections),
            "-" if figure is None else f"{figure:,.0f}",
            *(three_figures(step.step.latency_us.get(name, {}).get(statistic)) for name in names),
            "-" if step.step.errors is None else f"{step.step.errors:,}",
            *_target_cells(step),
            "void" if step.step.void else _verdict_cell(judged.get(step.plan.index)),
        )
    return table


def _target_cells(step: StepResult) -> tuple[str, str, str]:
    target = step.target
    if target is None:
        return "-", "-", "-"
    known = target.read_iops is not None and target.write_iops is not None
    iops = f"{(target.read_iops or 0) + (target.write_iops or 0):,.0f}" if known else "-"
    queue = "-" if target.queue is None else f"{target.queue:.1f}"
    cpu = "-" if target.cpu_percent is None else f"{target.cpu_percent:.0f}"
    return iops, queue, cpu


def _judged(result: RunResult) -> Mapping[int, JudgedStep]:
    steps = result.capacity.steps if result.capacity else ()
    return {step.index: one for one in steps for step in one.steps if step.index is not None}


def _verdict_cell(judged: JudgedStep | None) -> str:
    if judged is None:
        return ""
    if judged.passed:
        return "[green]passed[/]"
    return "[red]failed[/]" if judged.consistent else "[yellow]doubtful[/]"


def _reasons(result: RunResult) -> list[str]:
    """Say of each load that did not pass why."""
    if result.capacity is None:
        return []
    told = result.capacity.summary + " ".join(result.capacity.notes)
    return [
        f"{numbers(one)}: {'; '.join(one.explanations)}"
        for one in result.capacity.steps
        if not one.passed and one.explanations and one.explanations[0] not in told
    ]


def numbers(judged: JudgedStep) -> str:
    """Name the steps of a load: step 3, or steps 3, 4."""
    found = [str(step.index) for step in judged.steps if step.index is not None]
    return f"step{'s' if len(found) > 1 else ''} {', '.join(found)}"


def comparison(results: Mapping[str, RunResult]) -> Table:
    """Lay out several runs side by side, with the ratio of their capacities to the first."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in results:
        table.add_column(name)
    first = next(iter(results.values()))
    runs = results.values()
    table.add_row("target", *(target_line(run.request).partition(", ")[2] for run in runs))
    table.add_row("verdict", *(run.capacity.verdict if run.capacity else run.state for run in runs))
    table.add_row("capacity", *(_capacity_cell(run) for run in runs))
    table.add_row("limited by", *(run.limiting.resource if run.limiting else "-" for run in runs))
    table.add_row("ratio", *(_ratio_cell(run, first) for run in runs))
    return table


def _capacity_cell(run: RunResult) -> str:
    capacity = run.capacity
    if capacity is None or capacity.max_sustainable_throughput_ops_per_second is None:
        return "-"
    figure = f"{capacity.max_sustainable_throughput_ops_per_second:,.0f} ops/s"
    at = f" at {capacity.at:,.0f} {capacity.axis}" if capacity.at is not None else ""
    return SHOWS_A_CAPACITY[capacity.bound] + figure + at


def _ratio_cell(run: RunResult, first: RunResult) -> str:
    """A bound makes a bound, and runs that ask different things have no ratio."""
    if question(run) != question(first):
        return "-"
    found = ratio_of(run.name, run.capacity, first.name, first.capacity)
    return "-" if found is None else f"{SHOWS_A_CAPACITY[found.bound]}{found.value:.2f}"
