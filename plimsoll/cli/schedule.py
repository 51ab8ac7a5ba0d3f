"""`plimsoll schedule`: checks, which are scheduled runs compared with earlier ones."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import yaml

from plimsoll import words
from plimsoll.cli.output import console, make_table
from plimsoll.cli.service_calls import connect_service, json_option, service_options
from plimsoll.documents import read_document, read_text

if TYPE_CHECKING:
    from rich.table import Table

    from plimsoll.checks.schedules import ScheduledCheck
    from plimsoll.model.request.check import CheckDefinition
    from plimsoll.model.run.check_history import Change, Figure, History, HistoryPoint


_KINDS = frozenset({"kind", "strategy"})


@click.group("schedule")
def command() -> None:
    """Manage checks on the service, and read their histories (docs/checks.md)."""


def read_check(path: Path) -> CheckDefinition:
    """Read a check from YAML.

    Raises:
        UsageError: Something in it is not allowed; one line for each error, with file and line.
    """
    from plimsoll.model.request.check import CheckDefinition
    from plimsoll.model.validation import validate

    document = read_document(read_text(path), str(path))
    return document.check(partial(validate, CheckDefinition))


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@service_options
@json_option
def put(name: str, file: Path, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Create the check NAME from FILE, or replace it.

    A `rate(...)` fires at once.
    """
    definition = read_check(file)
    made = connect_service(url, stack).put_schedule(name, definition)
    if as_json:
        click.echo(made.model_dump_json(indent=2))
    else:
        click.echo(f"{made.name}  {made.schedule}  next: {_describe_next(made)}")
    return 0


@command.command("list")
@service_options
@json_option
def list_(*, url: str | None, stack: str | None, as_json: bool) -> int:
    """List the team's checks."""
    from plimsoll.cli.list import warn_left_out

    checks = connect_service(url, stack).schedules()
    if as_json:
        click.echo(checks.model_dump_json(indent=2))
        return 0
    table = make_table("check", "schedule", "time zone", "run", "compares", "next (UTC)")
    for check in checks.schedules:
        compares = ", ".join(compared.metric for compared in check.compare)
        table.add_row(
            check.name,
            check.schedule,
            check.time_zone,
            check.request.name,
            compares,
            _describe_next(check),
        )
    console().print(table)
    if checks.unreadable:
        warn_left_out(checks.unreadable)
    return 0


def _describe_next(check: ScheduledCheck) -> str:
    if not check.enabled:
        return "never: it is disabled"
    return words.NOTHING if check.next_at is None else f"{check.next_at:%Y-%m-%d %H:%M}"


@command.command()
@click.argument("name")
@service_options
@json_option
def show(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print the check NAME, as a file that `put` accepts."""
    check = connect_service(url, stack).schedule(name)
    if as_json:
        click.echo(check.model_dump_json(indent=2))
        return 0
    click.echo(f"# {check.name}, next: {_describe_next(check)}")
    left_out = {"name", "next_at"}
    full = check.model_dump(mode="json", exclude=left_out)
    brief = check.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    click.echo(yaml.safe_dump(_restore_kinds(full, brief), sort_keys=False).rstrip())
    return 0


def _restore_kinds(full: Any, brief: Any) -> Any:
    """Restore the fields of `_KINDS` that `brief` lacks because their values are defaults."""
    if isinstance(full, dict) and isinstance(brief, dict):
        return {
            name: _restore_kinds(value, brief.get(name, value))
            for name, value in full.items()
            if name in brief or name in _KINDS
        }
    if isinstance(full, list) and isinstance(brief, list):
        return [_restore_kinds(*both) for both in zip(full, brief, strict=True)]
    return brief


@command.command()
@click.argument("name")
@service_options
@json_option
def delete(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Delete the check NAME; its running runs continue."""
    connect_service(url, stack).delete_schedule(name)
    click.echo('{"deleted": true}' if as_json else f"{name} is deleted")
    return 0


@command.command()
@click.argument("name")
@service_options
@json_option
def history(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print the history of the check NAME: figures and changes."""
    from plimsoll.checks import judging

    history = connect_service(url, stack).history(name)
    if as_json:
        click.echo(history.model_dump_json(indent=2))
        return 0
    console().print(_make_points_table(history))
    for change in history.changes:
        click.echo(_describe_change(change))
    if not history.changes:
        click.echo("no change seen")
    for silence in history.silences:
        click.echo(judging.describe_silence(silence))
    return 0


def _make_points_table(history: History) -> Table:
    metrics = sorted({metric for point in history.points for metric in point.target.figures})
    table = make_table("scheduled (UTC)", "run", "state", *metrics, right=metrics)
    for point in history.points:
        figures = [_format_figure(point.target.figures.get(metric), metric) for metric in metrics]
        run = point.target.run_id or words.NOTHING
        table.add_row(f"{point.scheduled_at:%Y-%m-%d %H:%M}", run, _describe_state(point), *figures)
    return table


def _describe_state(point: HistoryPoint) -> str:
    run = point.target
    if run.run_id is None:
        return f"not started: {run.problem}"
    return "in progress" if run.state is None else str(run.state)


def _format_figure(figure: Figure | None, metric: str) -> str:
    from plimsoll.model.request.check import CompareCapacity

    if figure is None:
        return words.NOTHING
    unit = "ops/s" if metric == CompareCapacity().metric else "us"
    if figure.value is not None:
        return words.format_in_unit(figure.value, unit)
    for limit, bound in ((figure.at_least, ">="), (figure.below, "<")):
        if limit is not None:
            return words.prepend_bound(words.format_in_unit(limit, unit), bound)
    return f"{words.NOTHING} ({figure.why_none})"


def _describe_change(change: Change) -> str:
    kind = "regression" if change.regression else "improvement"
    before, after = (
        words.format_in_unit(s.mean, change.unit) for s in (change.before, change.after)
    )
    return (
        f"{kind}: {change.metric} {words.describe_change(change.change_share)}, from"
        f" {before} to {after},"
        f" since {change.at:%Y-%m-%d %H:%M} UTC; p = {change.p_value:.2g},"
        f" {words.format_count(change.before.runs, 'run')} before, {change.after.runs} after"
    )
