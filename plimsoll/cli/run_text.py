"""A finished run on a terminal: its steps, verdict, limiting resource and files."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from plimsoll import words
from plimsoll.capacity.conditions import describe_conditions
from plimsoll.cli.capacity import print_expectations
from plimsoll.cli.output import fold_line, make_table, print_figures
from plimsoll.model.judging.capacity import Capacity, JudgedStep
from plimsoll.model.request.descriptions import describe_target, describe_volume
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.rds_target import AuroraTarget
from plimsoll.model.run.results import LimitingResource, RunResult, StepResult
from plimsoll.report.comparing.comparing import make_question_key
from plimsoll.report.comparing.ratios import divide_capacities
from plimsoll.report.tables import (
    describe_backgrounds,
    describe_judgement,
    describe_unjudged,
    find_judgement,
    list_target_cells,
)
from plimsoll.report.words import (
    describe_run_cost,
    describe_run_target,
    describe_toggle,
    list_limit_facts,
    name_limit,
)


def print_result(result: RunResult, directory: Path | None, console: Console) -> None:
    """Print one run, and the folder of its files if there is one."""
    target = escape(describe_run_target(result))
    console.print(
        f"[bold]{result.name}[/]  {target}", highlight=False, soft_wrap=not console.is_terminal
    )
    _print_phases(result, console)
    if result.steps:
        print_figures(console, run_steps_table(result))
    if result.failure is not None:
        failure = result.failure
        where = f" in its {escape(failure.phase)} phase" if failure.phase else ""
        console.print(
            f"[bold red]{result.state}[/]{where}: {escape(failure.cause)}",
            highlight=False,
            soft_wrap=not console.is_terminal,
        )
    if result.capacity is not None:
        for name, sentence in _list_answers(result.capacity):
            text = f"[bold]{name}[/]: {escape(sentence)}"
            console.print(text, highlight=False, soft_wrap=not console.is_terminal)
        for note in (
            *_describe_closing(result.capacity),
            *_explain_failures(result),
            *result.capacity.notes,
            *describe_conditions(result.conditions),
        ):
            _print_line(note, console)
    _print_toggle(result, console)
    print_expectations(result.expect, console)
    if result.limiting is not None:
        _print_limit(result.limiting, console)
    for note in (
        *describe_backgrounds(result),
        *result.notes,
        *_list_problems(result.steps),
        *_describe_cost(result),
    ):
        _print_line(note, console)
    if result.moments.deleted is not None:
        console.print(
            "The target was confirmed deleted at"
            f" {words.format_time_of_day(result.moments.deleted)}."
        )
    _print_places(result, directory, console)


def _print_places(result: RunResult, directory: Path | None, console: Console) -> None:
    """Print where more of the run can be seen."""
    places = [f"{words.DASHBOARDS[name]}: {link}" for name, link in result.links.items()]
    if directory is not None:
        places.append(f"Files: {words.escape_controls(str(directory))}")
    for place in places:
        console.print(place, markup=False, highlight=False, soft_wrap=True)


def _print_phases(result: RunResult, console: Console) -> None:
    for phase in result.phases:
        text = f"[bold]{escape(phase.name)}[/]: {escape(phase.sentence)}"
        console.print(text, highlight=False, soft_wrap=not console.is_terminal)


def _print_toggle(result: RunResult, console: Console) -> None:
    if result.toggle is None:
        return
    finding = f"[bold]TOGGLE[/]: {escape(result.toggle.detail)}"
    console.print(finding, highlight=False, soft_wrap=not console.is_terminal)
    for note in describe_toggle(result.toggle):
        _print_line(note, console)


def _print_limit(limiting: LimitingResource, console: Console) -> None:
    (named, limit), *more = list_limit_facts(limiting)
    console.print(f"[bold]{named}: {escape(limit)}[/]", highlight=False)
    for name, text in more:
        _print_line(f"{name.lower()}: {text}", console)
    for line in limiting.evidence:
        _print_line(line, console)


def _list_answers(capacity: Capacity) -> list[tuple[str, str]]:
    """Return the verdict on sustained load and, if credits were spent, on burst load."""
    answers: list[tuple[str, str]] = [(capacity.verdict, capacity.summary)]
    if capacity.burst is not None and capacity.verdict != "BURST":
        answers.append(("BURST", capacity.burst.summary))
    return answers


def _print_line(text: str, console: Console) -> None:
    folded = fold_line(text, 4, console.width if console.is_terminal else None)
    console.print(f"  {folded}", markup=False, highlight=False, soft_wrap=True)


def _describe_cost(result: RunResult) -> list[str]:
    spent = describe_run_cost(result)
    return [f"cost: {spent}"] if spent else []


def _list_problems(steps: Sequence[StepResult]) -> list[str]:
    return [f"step {step.plan.index}: {text}" for step in steps for text in step.problems]


def run_steps_table(result: RunResult) -> Table:
    """Build the table of steps: load, throughput, latencies, storage and CPU."""
    statistic = result.request.limits.statistic
    names = sorted({name for step in result.steps for name in step.step.latency_us})
    latencies = [f"{escape(name)}\n{words.name_statistic(statistic)} ms" for name in names]
    figures = ("step", "clients", "conns", "ops/s", *latencies, "errors", "IOPS", "queue", "CPU")
    table = make_table(*figures, "", right=figures)
    table.collapse_padding = True
    for step in result.steps:
        table.add_row(
            words.format_number(step.plan.index),
            words.format_number(step.plan.clients),
            words.format_number(step.plan.connections),
            words.format_rate(step.step.throughput_ops_per_second),
            *(
                words.format_milliseconds(step.step.latency_us.get(name, {}).get(statistic))
                for name in names
            ),
            words.format_number(step.step.errors),
            *list_target_cells(step.target),
            _write_verdict_cell(find_judgement(result.capacity, step.plan.index))
            or describe_unjudged(step.step),
        )
    return table


def _write_verdict_cell(judged: JudgedStep | None) -> str:
    if judged is None:
        return ""
    color = {"passed": "green", "failed": "red"}.get(judged.outcome, "yellow")
    text = describe_judgement(judged)
    return f"[{'yellow' if text == 'burst' else color}]{text}[/]"


def _describe_closing(capacity: Capacity) -> list[str]:
    """Describe the question and the findings of the closing steps."""
    found = capacity.closing.findings if capacity.closing else ()
    return [*filter(None, [capacity.question]), *(f"{name}: {text}" for name, text in found)]


def _explain_failures(result: RunResult) -> list[str]:
    """Explain each load that did not pass, unless summary or notes do."""
    if result.capacity is None:
        return []
    said = result.capacity.summary + " ".join(result.capacity.notes)
    return [
        f"{_name_steps(judged)}: {'; '.join(judged.explanations)}"
        for judged in result.capacity.steps
        if not judged.passed and judged.explanations and judged.explanations[0] not in said
    ]


def _name_steps(judged: JudgedStep) -> str:
    """Name the steps of a load: step 3, or steps 3, 4."""
    numbers = [str(step.index) for step in judged.steps if step.index is not None]
    return f"step{'s' if len(numbers) > 1 else ''} {', '.join(numbers)}"


def make_comparison_table(results: Mapping[str, RunResult]) -> Table:
    """Build a table of several runs, with the ratio of their capacities to the first."""
    table = make_table("", *results)
    first, *_ = runs = list(results.values())
    limits = (name_limit(run.limiting) for run in runs)
    table.add_row("target", *(_write_storage_cell(run) for run in runs))
    table.add_row("verdict", *(run.capacity.verdict if run.capacity else run.state for run in runs))
    table.add_row("capacity", *(_write_capacity_cell(run) for run in runs))
    table.add_row("limited by", *limits)
    table.add_row("ratio", *(_write_ratio_cell(run, first) for run in runs))
    return table


def _write_storage_cell(run: RunResult) -> str:
    target = run.request.target
    if isinstance(target, EndpointTarget | AuroraTarget):
        return describe_target(target)
    return describe_volume(target.volume)


def _write_capacity_cell(run: RunResult) -> str:
    capacity = run.capacity
    if capacity is None or capacity.max_sustainable_throughput_ops_per_second is None:
        return words.NOTHING
    figure = words.format_throughput(capacity.max_sustainable_throughput_ops_per_second)
    at = f" at {words.format_load(capacity.at, capacity.axis)}" if capacity.at is not None else ""
    return words.prepend_bound(figure, capacity.bound) + at


def _write_ratio_cell(run: RunResult, first: RunResult) -> str:
    """Format the ratio to the first run; runs with different questions have none."""
    if make_question_key(run) != make_question_key(first):
        return words.NOTHING
    ratio = divide_capacities(run.name, run.capacity, first.name, first.capacity)
    return words.NOTHING if ratio is None else words.format_ratio(ratio.value, ratio.bound)
