"""`plimsoll capacity`: judges finished steps, whatever tool measured them."""

import json
from pathlib import Path
from typing import Any, get_args

import click
from pydantic import ValidationError

from plimsoll import words
from plimsoll.capacity.credits import judge_sustained
from plimsoll.capacity.search import axis_of
from plimsoll.cli.capacity_text import print_capacity, print_expectations
from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.number_list import NumberList
from plimsoll.cli.number_range import NumberRange
from plimsoll.cli.output import console
from plimsoll.cli.step_files import read_steps, read_text_of
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.model.capacity import AuditName, Axis, Capacity, Rules
from plimsoll.model.request import Request
from plimsoll.model.steps import Statistic, Step
from plimsoll.report.expectations import JudgedTable
from plimsoll.report.summaries import summary_of_table

FALLBACKS: tuple[Statistic, ...] = ("p99", "p95", "p999", "mean", "p50", "max")


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
    rules, axis = Rules(confirmation=None), None
    if len(files) == 1 and files[0].is_dir():
        rules, axis = _rules_of_run(files[0])
    steps, told = read_steps(
        files,
        unnamed=statistic or "mean",
        connections=[round(n) for given in connections for n in given],
        rates=[n for given in rates for n in given],
        units_by_littles_law="littles_law" not in audits_off,
    )
    if connections_per_client is not None:
        steps = [_with_connections(step, connections_per_client) for step in steps]
    statistic, notes = _statistic(steps, statistic or (rules.statistic if axis else None))
    changes: dict[str, Any] = {"statistic": statistic, "audits_off": frozenset(audits_off)}
    if deterioration is not None:
        changes["deterioration"] = deterioration
    changes["limits_us"] = dict(rules.limits_us) | _limits(limit_texts)
    capacity = judge_sustained(steps, rules.model_copy(update=changes), axis)
    capacity = capacity.model_copy(
        update={
            "notes": (*capacity.notes, *notes, *told, *_unchecked(steps), *_undecided(capacity))
        }
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


def _with_connections(step: Step, per_client: int) -> Step:
    if step.connections is not None or step.clients is None:
        return step
    return step.model_copy(update={"connections": step.clients * per_client})


def _statistic(steps: list[Step], wanted: Statistic | None) -> tuple[Statistic, list[str]]:
    """The statistic that is judged, with a note where it is not the usual one.

    It is the one asked for, else the first of p99, p95, ... that every latency has.
    """
    latencies = [values for step in steps for values in step.latency_us.values()]
    if wanted is not None or not latencies:
        return wanted or "p99", []
    for statistic in FALLBACKS:
        if all(statistic in values for values in latencies):
            if statistic == "p99":
                return statistic, []
            unnamed = ""
            if statistic == "mean":
                unnamed = " (in a table, a latency without a statistic is a mean)"
            name = words.statistic(statistic)
            return statistic, [f"judged by the {name}{unnamed}: not every step has a p99"]
    return "p99", []


def _unchecked(steps: list[Step]) -> list[str]:
    """Say that Little's law was not checked, where only the connections were missing for it."""
    closed = all(step.rate_ops_per_second is None for step in steps)
    means = any("mean" in values for step in steps for values in step.latency_us.values())
    if closed and means and all(step.connections is None for step in steps):
        return ["Little's law is not checked without connections (--connections-per-client N)"]
    return []


def _undecided(capacity: Capacity) -> list[str]:
    """Say where Little's law could not decide because nobody knows the operations' shares."""
    for judged in capacity.steps:
        for audit in judged.audits:
            if audit.name == "littles_law" and "shares" in audit.detail and audit.passed is None:
                load = words.load(judged.load, capacity.axis)
                return [
                    f"Little's law decides nothing at {load}: it {audit.detail} (share.<operation>)"
                ]
    return []


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
