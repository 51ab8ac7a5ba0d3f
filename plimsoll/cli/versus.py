"""`plimsoll versus`: two targets beside each other, until it is decided whether they differ."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll import words
from plimsoll.cli.exit_codes import MET, NO_ANSWER
from plimsoll.cli.options import (
    FLAGS,
    NumberRange,
    WholeRange,
    make_option,
    parse_settings,
    table_options,
    workload_options,
)
from plimsoll.errors import UsageError
from plimsoll.load_line.options import PASSWORD, FindOptions, LoadOptions, list_options

if TYPE_CHECKING:
    from plimsoll.load_line.versus import Order, VersusResult

Command = TypeVar("Command", bound=Callable[..., Any])
_OF_SEARCH = ("limits", "statistic", "allow_writes", "max_connections", "audits_off")
_OF_GIVEN_LOAD = ("connections", "rate", "arrivals")


def search_options(command: Command) -> Command:
    """Add the options of `find` that choose what a load line is."""
    for one in reversed(list_options(FindOptions)):
        if one.key in _OF_SEARCH:
            command = make_option(one)(command)
    return command


@click.command("versus")
@click.argument("first", metavar="DSN_A")
@click.argument("second", metavar="DSN_B")
@workload_options
@table_options(LoadOptions)
@click.option(
    "--load-lines",
    is_flag=True,
    help="Find the load line of each database first, as `plimsoll find --quick` does, and load each"
    " one with the connections of its own answer: the ratio is that of both load lines.",
)
@search_options
@click.option(
    "--order",
    type=click.Choice(["turns", "together"]),
    help="Whether the loads of a pair take turns, or run together: at the same time, on separate"
    " processors. [default: together if both clients, and the servers on this machine, have a core"
    " each; else turns]",
)
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
    load_lines: bool,
    order: Order | None,
    matters: float,
    pairs_max: int,
    as_json: bool,
    **of_search: Any,
) -> int:
    """Load two databases in pairs until it is decided whether they differ.

    Both need the workload's rows (`plimsoll prepare`). Each pair has one load of each, in random
    order or at the same time. The ratio's interval stays valid though it is looked at after every
    pair. Throughput is compared, with --load-lines that of both load lines; with --rate, the mean
    latency.

    Exit code 0: it is decided. 3: it is not, after --pairs-max pairs.
    """
    from plimsoll.load_line.versus import NAMES, Comparison, Rules, run_versus
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.model.request.dsn import parse_dsn
    from plimsoll.workload import load_workload

    _refuse_idle_options(_OF_GIVEN_LOAD if load_lines else _OF_SEARCH, load_lines=load_lines)
    password = os.environ.get(PASSWORD, "")
    workload = load_workload(workload_name)
    asked = Comparison(
        dsns=(first, second),
        targets=(
            parse_dsn(first, option="DSN_A", password=password),
            parse_dsn(second, option="DSN_B", password=password),
        ),
        workload_name=workload_name,
        workload=workload,
        parameters=parse_settings(workload, settings),
        options=options,
        search=FindOptions(quick=True, records=options.records, **of_search)
        if load_lines
        else None,
        order=order,
        rules=Rules(matters / 100, pairs_max),
    )
    unit = "ops/s" if options.rate is None else "us"

    def show_figure(number: int, figure: float) -> None:
        click.echo(f"{NAMES[number]}  {words.format_in_unit(figure, unit)}", err=True)

    with interrupt_on_termination():  # a load ends on signals by itself; between loads nothing does
        result = run_versus(
            asked, on_figure=show_figure, say=lambda text: click.echo(text, err=True)
        )
    click.echo(result.model_dump_json(indent=2) if as_json else describe(result))
    return NO_ANSWER if result.outcome == "not decided" else MET


def _refuse_idle_options(keys: tuple[str, ...], *, load_lines: bool) -> None:
    """Refuse options that would do nothing.

    Raises:
        UsageError: One of them is given.
    """
    context = click.get_current_context()
    why = "--load-lines finds each one's load" if load_lines else "is for --load-lines"
    for key in keys:
        if context.get_parameter_source(key) is not click.core.ParameterSource.DEFAULT:
            raise UsageError(f"{FLAGS[key]}: {why}")


def describe(result: VersusResult) -> str:
    """Describe a result: what was decided, the ratio with its interval, and both servers."""
    from plimsoll.load_line.versus import NAMES, describe_order

    if result.low is None or result.high is None:
        interval = "too few pairs for an interval"
    else:
        sure = words.format_percent(result.confidence)
        # with two decimals an interval that just excludes 1 would end at 1.00
        interval = f"{sure} confidence sequence {result.low:.3f} to {result.high:.3f}"
    counted = f"{words.format_count(len(result.pairs), 'pair')} {describe_order(result.order)}"
    least = words.format_percent(result.matters_share)
    means = {
        "they differ": "the difference is larger than the noise",
        "too small to matter": f"if they differ, then by less than {least}",
        "not decided": "whether they differ is not decided",
    }
    where = ", each at the load that its search found" if result.load_lines else ""
    verdict = (
        f"{result.outcome}: B has {result.ratio:.3f} times the {result.figure} of A{where}"
        f" ({interval}, {counted}): {means[result.outcome]}"
    )
    lines = [verdict]
    for number, (name, server) in enumerate(zip(NAMES, result.servers, strict=True)):
        at = f"at {words.format_count(result.connections[number], 'connection')}"
        if result.load_lines is not None:
            line = result.load_lines[number]
            at = (
                f"{line.verdict} {at}, {words.format_throughput(line.ops_per_second)} in its search"
            )
        lines.append(f"{name}: {server}, {at}")
    return "\n".join([*lines, f"seed {result.seed}"])
