"""`plimsoll schedule`: checks, runs on a schedule that are compared with their own history."""

from functools import partial
from pathlib import Path
from typing import Any

import click
import yaml
from rich.table import Table

from plimsoll.checks.schedules import ScheduledCheck
from plimsoll.cli.list import tell_left_out
from plimsoll.cli.output import console
from plimsoll.cli.service_calls import connect, json_option, service_options
from plimsoll.documents import read_document, read_text
from plimsoll.model.check import Change, CheckDefinition, Figure, History, HistoryPoint
from plimsoll.model.validation import validated

_KINDS = frozenset({"kind", "strategy"})


@click.group("schedule")
def command() -> None:
    """Make checks on the service, and read what they found (docs/checks.md)."""


def read_check(path: Path) -> CheckDefinition:
    """Read a check from YAML.

    Raises:
        UsageError: Something in it cannot be: one line for each error, with file and line.
    """
    document = read_document(read_text(path), str(path))
    return document.checked(partial(validated, CheckDefinition))


@command.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@service_options
@json_option
def put(name: str, file: Path, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Make or replace the check NAME by FILE; a `rate(...)` fires at once."""
    definition = read_check(file)
    made = connect(url, stack).put_schedule(name, definition)
    if as_json:
        click.echo(made.model_dump_json(indent=2))
    else:
        click.echo(f"{made.name}  {made.schedule}  next: {_next(made)}")
    return 0


@command.command("list")
@service_options
@json_option
def list_(*, url: str | None, stack: str | None, as_json: bool) -> int:
    """List the team's checks."""
    found = connect(url, stack).schedules()
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return 0
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("check", "schedule", "time zone", "run", "compares", "next (UTC)"):
        table.add_column(title)
    for check in found.schedules:
        compares = ", ".join(one.metric for one in check.compare)
        table.add_row(
            check.name, check.schedule, check.time_zone, check.request.name, compares, _next(check)
        )
    console().print(table)
    if found.unreadable:
        tell_left_out(found.unreadable)
    return 0


def _next(check: ScheduledCheck) -> str:
    if not check.enabled:
        return "never: it is disabled"
    return "-" if check.next_at is None else f"{check.next_at:%Y-%m-%d %H:%M}"


@command.command()
@click.argument("name")
@service_options
@json_option
def show(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print the check NAME, as a file that `put` takes."""
    check = connect(url, stack).schedule(name)
    if as_json:
        click.echo(check.model_dump_json(indent=2))
        return 0
    click.echo(f"# {check.name}, next: {_next(check)}")
    left_out = {"name", "next_at"}
    full = check.model_dump(mode="json", exclude=left_out)
    brief = check.model_dump(mode="json", exclude=left_out, exclude_defaults=True)
    click.echo(yaml.safe_dump(_with_kinds(full, brief), sort_keys=False).rstrip())
    return 0


def _with_kinds(full: Any, brief: Any) -> Any:
    """Put back what says of which kind a value is, where that is a default too."""
    if isinstance(full, dict) and isinstance(brief, dict):
        return {
            name: _with_kinds(value, brief.get(name, value))
            for name, value in full.items()
            if name in brief or name in _KINDS
        }
    if isinstance(full, list) and isinstance(brief, list):
        return [_with_kinds(*both) for both in zip(full, brief, strict=True)]
    return brief


@command.command()
@click.argument("name")
@service_options
@json_option
def delete(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Delete the check NAME; runs under way go on."""
    connect(url, stack).delete_schedule(name)
    click.echo('{"deleted": true}' if as_json else f"{name} is deleted")
    return 0


@command.command()
@click.argument("name")
@service_options
@json_option
def history(name: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print what the check NAME has found: each run's figures, and the changes in them."""
    found = connect(url, stack).history(name)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
        return 0
    console().print(_points(found))
    for change in found.changes:
        click.echo(_sentence(change))
    if not found.changes:
        click.echo("no change seen")
    return 0


def _points(found: History) -> Table:
    metrics = sorted({metric for point in found.points for metric in point.target.figures})
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("scheduled (UTC)", "run", "state"):
        table.add_column(title)
    for metric in metrics:
        table.add_column(metric, justify="right")
    for point in found.points:
        figures = [_figure(point.target.figures.get(metric)) for metric in metrics]
        run = point.target.run_id or "-"
        table.add_row(f"{point.scheduled_at:%Y-%m-%d %H:%M}", run, _state(point), *figures)
    return table


def _state(point: HistoryPoint) -> str:
    run = point.target
    if run.run_id is None:
        return f"not started: {run.problem}"
    return "under way" if run.state is None else str(run.state)


def _figure(figure: Figure | None) -> str:
    if figure is None:
        return "-"
    return f"- ({figure.why_none})" if figure.value is None else f"{figure.value:,.0f}"


def _sentence(change: Change) -> str:
    kind = "regression" if change.regression else "improvement"
    return (
        f"{kind}: {change.metric} from {change.before.mean:,.0f} to {change.after.mean:,.0f}"
        f" {change.unit} ({change.change_share:+.1%}) since {change.at:%Y-%m-%d %H:%M} UTC,"
        f" p = {change.p_value:.2g}, {change.before.runs} runs before, {change.after.runs} after"
    )
