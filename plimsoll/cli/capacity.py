"""`plimsoll capacity`: judges finished steps, whatever tool measured them."""

import json
from pathlib import Path
from typing import get_args

import click
from pydantic import ValidationError

from plimsoll.capacity.search import axis_of
from plimsoll.capacity.tables import Judging, judge_table
from plimsoll.cli.capacity_text import print_capacity, print_expectations
from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.number_list import NumberList
from plimsoll.cli.number_range import NumberRange
from plimsoll.cli.output import console
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.model.capacity import AuditName, Axis, Rules
from plimsoll.model.request import Request
from plimsoll.model.steps import Statistic
from plimsoll.report.expectations import JudgedTable
from plimsoll.report.summaries import summary_of_table
from plimsoll.requests.step_files import read_steps, read_text_of


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True))
@click.option(
    "--limit-us",
    "limit_texts",
    multiple=True,
    metavar="OPERATION=N",
    help="The most that an operation may take, in microseconds; repeatable.",
)
@click.option(
    "--deterioration",
    type=NumberRange(min=1, min_open=True),
    help="Limit of the other operations, as a multiple of their latency in the lightest step. [3]",
)
@click.option(
    "--statistic",
    type=click.Choice(["p99", "p95", "p50", "mean", "p999", "max"]),
    help="The statistic of latency that is judged. [p99, else the highest that the table has]",
)
@click.option(
    "--connections-per-client",
    type=click.IntRange(min=1),
    help="Where the table has no connections: Little's law needs them.",
)
@click.option(
    "--connections",
    multiple=True,
    type=NumberList(whole=True),
    metavar="N,N,...",
    help="The connections of programs' outputs that do not tell them; one for each such file, in"
    " order.",
)
@click.option(
    "--rate",
    "rates",
    multiple=True,
    type=NumberList(),
    metavar="N,N,...",
    help="The rates (ops/s) of programs' outputs that do not tell them (wrk2, pgbench --rate, k6's"
    " arrival rates); one for each such file, in order.",
)
@click.option(
    "--without-audit",
    "audits_off",
    multiple=True,
    type=click.Choice(get_args(AuditName)),
    help="Believe the figures in spite of this audit; repeatable.",
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
    """Judge steps: what is the most that the target sustains, and what shows it?

    FILES are tables of steps (CSV or JSON), outputs of YCSB, go-ycsb, sysbench, pgbench, wrk2, k6,
    latte or `plimsoll load --json` (one file for each step), or the directory of a run.

    \b
    Columns: clients, connections, rate_ops_per_second, throughput_ops_per_second, operations,
    errors, window_s, client_busy, latency_us.<operation>[.<statistic>], share.<operation>.
    Leave out what is not known. A row is a step; rows of the same load are its repetitions.

    Exit code 1: a rule of --expect does not hold. 3: there is no answer (the verdict has no
    figure), or a rule cannot be decided.
    """  # noqa: D301 - the backspace keeps click from folding the paragraph
    rules, axis = None, None
    if len(files) == 1 and files[0].is_dir():
        rules, axis = _rules_of_run(files[0])
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
            limits_us=_limits(limit_texts),
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
    return expecting.tell([summary_of_table(names, capacity, outcomes)])


def _rules_of_run(directory: Path) -> tuple[Rules, Axis | None]:
    """The rules and the axis that the run itself was judged by."""
    text = read_text_of(directory / "result.json")
    if is_deeper(text):
        raise UsageError(f"{directory / 'result.json'}: nested too deeply")
    try:
        request = Request.model_validate(json.loads(text)["request"])
    except (ValueError, KeyError, TypeError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise UsageError(f"{directory / 'result.json'}: not of a run: {reason}") from None
    return request.limits, axis_of(request.search)


def _limits(texts: tuple[str, ...]) -> dict[str, float]:
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
            raise UsageError(f"--limit-us: {operation} is there twice")
        limits_us[operation] = limit
    return limits_us
