"""A capacity on a terminal: the curve, every step's verdict with its reason, and the answer."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from plimsoll.cli.output import print_figures
from plimsoll.model.capacity import Axis, Capacity, JudgedStep

HEADINGS: dict[Axis, str] = {
    "clients": "clients",
    "connections": "connections",
    "rate_ops_per_second": "offered/s",
}
STYLES = {
    "KNEE": "bold green",
    "PLATEAU": "bold green",
    "LOWER_BOUND": "bold yellow",
    "BELOW_FIRST_STEP": "bold red",
    "CLIENT_BOUND": "bold red",
    "NOISY": "bold red",
    "INCONSISTENT": "bold red",
}


def print_capacity(capacity: Capacity, console: Console) -> None:
    """Print the curve as a table, then the verdict with all that qualifies it."""
    print_figures(console, _curve(capacity))
    style = STYLES[capacity.verdict]
    answer = Text.assemble((capacity.verdict, style), "  ", capacity.summary)
    console.print(answer, soft_wrap=True)
    for label, text in _facts(capacity):
        console.print(f"[bold]{label:<11}[/]{escape(text)}", highlight=False, soft_wrap=True)
    for note in capacity.notes:
        console.print(f"[bold]{'note':<11}[/]{escape(note)}", highlight=False, soft_wrap=True)


def _curve(capacity: Capacity) -> Table:
    operations = list(capacity.steps[0].limit_us)
    repeated = any(step.repetitions > 1 for step in capacity.steps)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column(HEADINGS[capacity.axis], justify="right")
    table.add_column("ops/s", justify="right")
    if repeated:
        table.add_column("runs", justify="right")
        table.add_column("CV", justify="right")
    for name in operations:
        limit = capacity.steps[0].limit_us[name]
        heading = f"{escape(name)} {capacity.statistic} us\n[dim]limit {_short(limit)}[/]"
        table.add_column(heading, justify="right")
    table.add_column("")
    table.add_column("why")
    for step in capacity.steps:
        cells = [f"{step.load:,.6g}", f"{step.throughput_ops_per_second:,.6g}"]
        if repeated:
            cells.append(f"{step.repetitions_passed} of {step.repetitions}")
            cells.append("" if step.throughput_cv is None else f"{step.throughput_cv:.1%}")
        cells += [_latency(step, name) for name in operations]
        table.add_row(*cells, _mark(step, capacity), escape("; ".join(step.explanations)))
    return table


def _latency(step: JudgedStep, name: str) -> str:
    latency = step.latency_us.get(name)
    if latency is None:
        return "[dim]not known[/]"
    text = _short(latency)
    return f"[red]{text}[/]" if latency > step.limit_us[name] else text


def _short(number: float) -> str:
    """Four figures or more, never with an exponent."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def _mark(step: JudgedStep, capacity: Capacity) -> str:
    if not step.consistent:
        return "[yellow]disputed[/]"
    if not step.passed:
        return "[red]fail[/]"
    best = capacity.at == step.load and capacity.max_sustainable_throughput_ops_per_second
    return "[bold green]pass <[/]" if best else "[green]pass[/]"


def _facts(capacity: Capacity) -> list[tuple[str, str]]:
    """The figures beside the sentence, each with its unit and method."""
    facts = []
    if capacity.bracket is not None:
        facts.append(("bracket", _bracket(capacity.bracket, HEADINGS[capacity.axis])))
    if capacity.causes:
        facts.append(("cause", ", ".join(capacity.causes)))
    if capacity.interval is not None and capacity.median_ops_per_second is not None:
        found = capacity.interval
        text = (
            f"{found.low_ops_per_second:,.6g} to {found.high_ops_per_second:,.6g} ops/s, "
            f"{found.confidence:.0%} ({found.method}, {found.repetitions} repetitions, "
            f"median {capacity.median_ops_per_second:,.6g})"
        )
        facts.append(("interval", text))
    elif capacity.at is not None:
        facts.append(("interval", "none: one repetition"))
    facts.append(("USL", _usl(capacity)))
    if capacity.power_point is not None:
        point = capacity.power_point
        facts.append(("power", f"greatest throughput / latency at {point.load:,.6g}"))
    return facts


def _bracket(bracket: tuple[float | None, float | None], unit: str) -> str:
    low, high = bracket
    if low is None:
        return (
            f"nothing passes, {high:,.6g} {unit} fails" if high is not None else "nothing decides"
        )
    if high is None:
        return f"{unit} {low:,.6g} passes, nothing above it failed"
    return f"{unit} ({low:,.6g}, {high:,.6g}]: the first passes, the last fails"


def _usl(capacity: Capacity) -> str:
    fit = capacity.usl
    if fit is None or not fit.converged or fit.ideal_ops_per_second is None:
        return f"no fit: {fit.why_not if fit else 'not tried'}"
    peak = "no peak"
    if fit.peak_load is not None:
        peak = f"peak {fit.peak_ops_per_second:,.4g}/s at {fit.peak_load:,.3g}"
    return (
        f"lambda {fit.ideal_ops_per_second:,.4g}/s, sigma {fit.contention:.3g}, "
        f"kappa {fit.coherency:.3g}, {peak} (annotation only)"
    )
