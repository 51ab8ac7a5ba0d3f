"""Clients that run in turn, and the tables of what they cost."""

import json
import statistics
from collections.abc import Callable, Mapping, Sequence

import click

from benchmarks.measuring import Outcome, undisturbed

Client = Callable[[], Outcome]
Outcomes = dict[tuple[str, int], list[Outcome | None]]  # by client and number; None: disturbed
Cell = Callable[[Sequence[Outcome | None]], str]


def compare(
    title: str, concurrency: str, all_clients: Mapping[tuple[str, int], Client], repetitions: int
) -> None:
    """Runs the clients in turn, again and again; prints the medians of their costs and ratios.

    A host's speed drifts within minutes, so a ratio is one of neighbors: of each repetition, the
    first client's figure to that of another, which ran right after it.

    Args:
        title: What they all do.
        concurrency: What the clients' numbers count: connections, or operations in flight.
        all_clients: By name and number; those of one number beside each other.
        repetitions: How often each one runs.
    """
    outcomes = in_turn(all_clients, repetitions)
    ours, *others = dict.fromkeys(name for name, _ in all_clients)
    costs = "client CPU in us per operation (operations per second)"
    print_table(f"{title}: {costs}", concurrency, outcomes, dict.fromkeys((ours, *others), cost))
    print_beside(title, concurrency, outcomes)
    for what, figure in (("client CPU", client_cpu_us), ("throughput", throughput)):
        of_what = f"{title}: ratios of {what}"
        pairs = [(ours, other) for other in others]
        print_ratios(of_what, concurrency, outcomes, pairs, figure=figure)


def in_turn(all_clients: Mapping[tuple[str, int], Client], repetitions: int) -> Outcomes:
    """Runs the clients in turn, and tells each sample on standard error as a line of JSON."""
    outcomes: Outcomes = {key: [] for key in all_clients}
    for repetition in range(repetitions):
        for (name, number), client in all_clients.items():
            outcome = undisturbed(client)
            outcomes[name, number].append(outcome)
            sample = {"client": name, "at": number, "repetition": repetition}
            told = outcome.sample() if outcome else {"not_measured": "too much was stolen"}
            click.echo(json.dumps(sample | told), err=True)
    return outcomes


def print_table(
    title: str, concurrency: str, outcomes: Outcomes, columns: Mapping[str, Cell]
) -> None:
    """A table with a column for each client and a row for each number."""
    click.echo(f"\n{title}\n")
    click.echo(row(concurrency, list(columns)))
    click.echo(row("---", ["---"] * len(columns)))
    for number in sorted({number for _, number in outcomes}):
        cells = [cell(outcomes.get((name, number), [])) for name, cell in columns.items()]
        click.echo(row(str(number), cells))


def print_beside(title: str, concurrency: str, outcomes: Outcomes) -> None:
    """What went on beside the clients, where that was read."""
    if all(one is None or one.server_us is None for of in outcomes.values() for one in of):
        return
    what = (
        "server CPU in us per operation; interrupts between processors per operation; others' CPU"
    )
    names = dict.fromkeys(name for name, _ in outcomes)
    print_table(f"{title}: {what}", concurrency, outcomes, dict.fromkeys(names, beside))


def print_ratios(
    title: str,
    concurrency: str,
    outcomes: Outcomes,
    pairs: Sequence[tuple[str, str]],
    *,
    figure: Callable[[Outcome], float],
) -> None:
    """The ratios of clients' figures to others'; nothing where there is no other."""
    if not pairs:
        return
    click.echo(f"\n{title}\n")
    click.echo(row(concurrency, [f"{ours} / {other}" for ours, other in pairs]))
    click.echo(row("---", ["---"] * len(pairs)))
    for number in sorted({number for _, number in outcomes}):
        cells = [
            ratio(outcomes.get((ours, number), []), outcomes.get((other, number), []), figure)
            for ours, other in pairs
        ]
        click.echo(row(str(number), cells))


def client_cpu_us(outcome: Outcome) -> float:
    """The client's CPU time of an operation, in microseconds."""
    return outcome.cpu_us


def throughput(outcome: Outcome) -> float:
    """Operations per second."""
    return outcome.rate


def row(first: str, cells: Sequence[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join([first, *cells])} |"


def cost(outcomes: Sequence[Outcome | None]) -> str:
    """The medians of CPU and rate, with the range of the CPU."""
    counted = [outcome for outcome in outcomes if outcome]
    if not counted:
        return ""
    cpu = sorted(outcome.cpu_us for outcome in counted)
    rate = statistics.median(outcome.rate for outcome in counted)
    return f"{statistics.median(cpu):.2f} [{cpu[0]:.2f}, {cpu[-1]:.2f}] ({rate:,.0f})"


def beside(outcomes: Sequence[Outcome | None]) -> str:
    """The medians of what went on beside a client."""
    counted = [outcome for outcome in outcomes if outcome]
    servers = [outcome.server_us for outcome in counted if outcome.server_us is not None]
    between = [outcome.interrupts for outcome in counted if outcome.interrupts is not None]
    others = [outcome.beside.others for outcome in counted if outcome.beside.others is not None]
    cells = [
        f"{statistics.median(servers):.1f}" if servers else "?",
        f"{statistics.median(between):.2f}" if between else "?",
        f"{statistics.median(others):.0%}" if others else "?",
    ]
    return "; ".join(cells) if counted else ""


def ratio(
    ours: Sequence[Outcome | None],
    theirs: Sequence[Outcome | None],
    figure: Callable[[Outcome], float],
) -> str:
    """The median of the repetitions' ratios, with their range and number."""
    pairs = zip(ours, theirs, strict=False)
    ratios = sorted(figure(a) / figure(b) for a, b in pairs if a and b)
    if not ratios:
        return ""
    return f"{statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] of {len(ratios)}"
