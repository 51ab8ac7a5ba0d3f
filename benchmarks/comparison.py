"""Clients that run in turn, and the tables of what they cost."""

import statistics
from collections.abc import Callable, Mapping, Sequence

import click

from benchmarks.engine_clients import Outcome, undisturbed

Client = Callable[[], Outcome]


def compare(
    title: str, concurrency: str, all_clients: Mapping[tuple[str, int], Client], repetitions: int
) -> None:
    """Runs the clients in turn, again and again; prints the medians of their costs and ratios.

    A host's speed drifts within minutes, so a ratio is one of neighbors: of each repetition, the
    first client's CPU time to that of another, which ran right after it.

    Args:
        title: What they all do.
        concurrency: What the clients' numbers count: connections, or operations in flight.
        all_clients: By name and number; those of one number beside each other.
        repetitions: How often each one runs.
    """
    outcomes: dict[tuple[str, int], list[Outcome | None]] = {key: [] for key in all_clients}
    for _ in range(repetitions):
        for key, client in all_clients.items():
            outcome = undisturbed(client)
            outcomes[key].append(outcome)
            told = f"{outcome.cpu_us:.2f} us" if outcome else "not measured: too much was stolen"
            click.echo(f"{key}: {told}", err=True)
    ours, *others = dict.fromkeys(name for name, _ in all_clients)
    numbers = sorted({number for _, number in all_clients})

    click.echo(f"\n{title}: client CPU in us per operation (operations per second)\n")
    click.echo(row(concurrency, [ours, *others]))
    click.echo(row("---", ["---"] * (len(others) + 1)))
    for number in numbers:
        cells = [cost(outcomes.get((name, number), [])) for name in (ours, *others)]
        click.echo(row(str(number), cells))
    if not others:
        return
    click.echo(f"\n{title}: ratios of client CPU\n")
    click.echo(row(concurrency, [f"{ours} / {name}" for name in others]))
    click.echo(row("---", ["---"] * len(others)))
    for number in numbers:
        mine = outcomes[ours, number]
        cells = [ratio(mine, outcomes.get((name, number), [])) for name in others]
        click.echo(row(str(number), cells))


def row(first: str, cells: Sequence[str]) -> str:
    """One line of a Markdown table."""
    return f"| {' | '.join([first, *cells])} |"


def cost(outcomes: Sequence[Outcome | None]) -> str:
    """The medians of CPU and rate, with the range of the CPU."""
    counted = [outcome for outcome in outcomes if outcome]
    if not counted:
        return ""
    cpu = sorted(outcome.cpu_us for outcome in counted)
    rate = statistics.median(outcome.operations / outcome.wall_s for outcome in counted)
    return f"{statistics.median(cpu):.2f} [{cpu[0]:.2f}, {cpu[-1]:.2f}] ({rate:,.0f})"


def ratio(ours: Sequence[Outcome | None], theirs: Sequence[Outcome | None]) -> str:
    """The median of the repetitions' ratios, with their range and number."""
    ratios = sorted(a.cpu_us / b.cpu_us for a, b in zip(ours, theirs, strict=False) if a and b)
    if not ratios:
        return ""
    return f"{statistics.median(ratios):.2f} [{ratios[0]:.2f}, {ratios[-1]:.2f}] of {len(ratios)}"
