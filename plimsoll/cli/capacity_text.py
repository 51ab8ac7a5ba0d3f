"""A capacity on a terminal: the curve, every step's verdict with its reason, and the answer."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from plimsoll import words
from plimsoll.cli.output import print_figures, table_of
from plimsoll.model.capacity import Capacity, JudgedStep
from plimsoll.model.expectations import Expectation

STYLES = {
    "KNEE": "bold green",
    "PLATEAU": "bold green",
    "LOWER_BOUND": "bold yellow",
    "BELOW_FIRST_STEP": "bold red",
    "CLIENT_BOUND": "bold red",
    "NOISY": "bold red",
    "INCONSISTENT": "bold red",
    "DISTURBED": "bold red",
    "DRIFTING": "bold red",
    "NOT_SUSTAINED": "bold red",
    "BURST": "bold red",
}


def print_capacity(capacity: Capacity, console: Console) -> None:
    """Print the loads as a table, then the verdict with all that qualifies it."""
    print_figures(console, _loads(capacity))
    style = STYLES[capacity.verdict]
    answer = Text.assemble((capacity.verdict, style), "  ", capacity.summary)
    console.print(answer, soft_wrap=True)
    for label, text in _facts(capacity):
        console.print(f"[bold]{label:<11}[/]{escape(text)}", highlight=False, soft_wrap=True)
    for note in capacity.notes:
        console.print(f"[bold]{'note':<11}[/]{escape(note)}", highlight=False, soft_wrap=True)


ANSWERS = {"met": "green", "not met": "bold red", "no answer": "bold yellow"}


def print_expectations(expectations: Sequence[Expectation], console: Console) -> None:
    """Print what became of each rule."""
    for one in expectations:
        text = Text.assemble((one.answer, ANSWERS[one.answer]), f"  {one.rule}: {one.because}")
        console.print(text, soft_wrap=True)


def _loads(capacity: Capacity) -> Table:
    limits_us = capacity.steps[0].limit_us
    repeated = any(step.repetitions > 1 for step in capacity.steps)
    statistic = words.statistic(capacity.statistic)
    figures = [
        words.LOAD_UNITS[capacity.axis],
        "ops/s",
        *(["runs", "CV"] if repeated else []),
        *(
            f"{escape(name)} {statistic}\n[dim]limit {words.latency(limit_us)}[/]"
            for name, limit_us in limits_us.items()
        ),
    ]
    table = table_of(*figures, "", "why", right=figures, box=SIMPLE_HEAD)
    for step in capacity.steps:
        cells = [words.number(step.load), words.rate(step.throughput_ops_per_second)]
        if repeated:
            cells.append(f"{step.repetitions_passed} of {step.repetitions}")
            cells.append("" if step.throughput_cv is None else words.percent(step.throughput_cv))
        cells += [_latency(step, name) for name in limits_us]
        table.add_row(*cells, _mark(step, capacity), escape("; ".join(step.explanations)))
    return table


def _latency(step: JudgedStep, name: str) -> str:
    latency_us = step.latency_us.get(name)
    if latency_us is None:
        return "[dim]not known[/]"
    text = words.latency(latency_us)
    return f"[red]{text}[/]" if latency_us > step.limit_us[name] else text


def _mark(step: JudgedStep, capacity: Capacity) -> str:
    if not step.consistent:
        return "[yellow]disputed[/]"
    if not step.passed:
        return "[red]fail[/]"
    best = capacity.at == step.load and capacity.max_sustainable_throughput_ops_per_second
    return "[bold green]pass <[/]" if best else "[green]pass[/]"


def _facts(capacity: Capacity) -> list[tuple[str, str]]:
    """Name and text of the facts under the sentence."""
    facts = [("question", capacity.question)] if capacity.question else []
    if capacity.bracket is not None:
        facts.append(("bracket", words.bracket(capacity.bracket, capacity.axis)))
    if capacity.burst is not None:
        facts.append(("burst", capacity.burst.summary))
    if capacity.verdict == "KNEE":
        facts.append(("edge", _edge(capacity)))
    if capacity.causes:
        facts.append(("cause", ", ".join(capacity.causes)))
    if capacity.interval is not None and capacity.median_ops_per_second is not None:
        interval = capacity.interval
        ends = (interval.low_ops_per_second, interval.high_ops_per_second)
        text = (
            f"{words.rate(ends[0])} to {words.throughput(ends[1])},"
            f" {words.percent(interval.confidence)} ({interval.method},"
            f" {interval.repetitions} repetitions,"
            f" median {words.rate(capacity.median_ops_per_second)}); {words.INTERVAL_COVERS}"
        )
        facts.append(("interval", text))
    elif capacity.at is not None:
        facts.append(("interval", "none: one repetition"))
    facts += capacity.closing.findings if capacity.closing else ()
    facts.append(("USL", _usl(capacity)))
    if capacity.power_point is not None:
        load = words.load(capacity.power_point.load, capacity.axis)
        facts.append(("power", f"greatest throughput / latency at {load}"))
    return facts


def _edge(capacity: Capacity) -> str:
    edge = capacity.edge
    if edge is None:
        return "not known: too little was repeated"
    span = words.load_range(edge.low, edge.high, edge.confidence, capacity.axis)
    return f"{span} ({edge.method}, {edge.windows} steps)"


def _usl(capacity: Capacity) -> str:
    fit = capacity.usl
    if fit is None or not fit.converged or fit.ideal_ops_per_second is None:
        return f"no fit: {fit.why_not if fit else 'not tried'}"
    peak = "no peak"
    if fit.peak_load is not None:
        at = words.load(float(f"{fit.peak_load:.3g}"), capacity.axis)
        peak = f"peak {words.throughput(fit.peak_ops_per_second)} at {at}"
    return (
        f"lambda {words.throughput(fit.ideal_ops_per_second)}, sigma {fit.contention:.3g},"
        f" kappa {fit.coherency:.3g}, {peak} (annotation only)"
    )
