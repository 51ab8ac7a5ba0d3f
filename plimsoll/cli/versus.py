"""`plimsoll versus`: two targets beside each other, until it is decided whether they differ."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.exit_codes import MET, NO_ANSWER
from plimsoll.cli.options import (
    NumberRange,
    WholeRange,
    parse_settings,
    table_options,
    workload_options,
)
from plimsoll.load_line.options import PASSWORD, LoadOptions

if TYPE_CHECKING:
    from plimsoll.load_line.versus import VersusResult


@click.command("versus")
@click.argument("first", metavar="DSN_A")
@click.argument("second", metavar="DSN_B")
@workload_options
@table_options(LoadOptions)
@click.option(
    "--matters",
    type=NumberRange(0, 100, min_open=True),
    default=3.0,
    show_default=True,
    metavar="PERCENT",
    help="Smallest difference that matters; it ends when the difference is shown to be smaller.",
)
@click.option(
    "--pairs-max",
    type=WholeRange(2, 1000),
    default=30,
    show_default=True,
    help="Number of pairs after which it ends undecided.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    *,
    first: str,
    second: str,
    workload_name: str,
    settings: tuple[str, ...],
    options: LoadOptions,
    matters: float,
    pairs_max: int,
    as_json: bool,
) -> int:
    """Load two databases in turn until it is decided whether they differ.

    Both need the workload's rows (`plimsoll prepare`). Each pair has one load of each, in random
    order. The ratio's interval stays valid though it is looked at after every pair. Throughput is
    compared; with --rate, the mean latency.

    Exit code 0: it is decided. 3: it is not, after --pairs-max pairs.
    """
    from plimsoll.load_line.versus import Rules, run_versus
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.workload import load_workload

    password = os.environ.get(PASSWORD, "")
    targets = (
        parse_dsn(first, option="DSN_A", password=password),
        parse_dsn(second, option="DSN_B", password=password),
    )
    workload = load_workload(workload_name)
    unit = "ops/s" if options.rate is None else "us"

    def show_figure(number: int, figure: float) -> None:
        click.echo(f"{'AB'[number]}  {words.metric(figure, unit)}", err=True)

    with interrupt_on_termination():  # a load ends on signals by itself; between loads nothing does
        result = run_versus(
            targets,
            workload,
            parse_settings(workload, settings),
            options,
            Rules(matters / 100, pairs_max),
            on_figure=show_figure,
        )
    click.echo(result.model_dump_json(indent=2) if as_json else describe(result))
    return NO_ANSWER if result.outcome == "not decided" else MET


def describe(result: VersusResult) -> str:
    """Describe a result: what was decided, the ratio with its interval, and both servers."""
    if result.low is None or result.high is None:
        interval = "too few pairs for an interval"
    else:
        sure = words.percent(result.confidence)
        interval = f"{sure} confidence sequence {words.ratio_interval(result.low, result.high)}"
    counted = words.plural(len(result.pairs), "pair")
    least = words.percent(result.matters_share)
    means = {
        "they differ": "the difference is larger than the noise",
        "too small to matter": f"if they differ, then by less than {least}",
        "not decided": "whether they differ is not decided",
    }
    return (
        f"{result.outcome}: B has {words.ratio(result.ratio)} times the {result.figure} of A"
        f" ({interval}, {counted}): {means[result.outcome]}\n"
        f"A: {result.servers[0]}\nB: {result.servers[1]}; seed {result.seed}"
    )
