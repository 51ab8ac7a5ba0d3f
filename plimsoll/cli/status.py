"""`plimsoll status`: where a run on the service stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.service_calls import (
    connect_service,
    describe_capacity,
    json_option,
    service_options,
)

if TYPE_CHECKING:
    from plimsoll.model.service.answers import RunDetail


@click.command()
@click.argument("run_id")
@service_options
@json_option
def status(run_id: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print where RUN_ID stands. The exit code is 0; `watch` judges."""
    run = connect_service(url, stack).run(run_id)
    if as_json:
        click.echo(run.model_dump_json(indent=2))
        return 0
    for name, value in _list_rows(run):
        click.echo(f"{name:<10} {value}")
    return 0


def _list_rows(run: RunDetail) -> list[tuple[str, str]]:
    from plimsoll.aws.run_records import now

    ended = run.ended_at
    took = words.format_duration(round(((ended or now()) - run.submitted_at).total_seconds()))
    rows = [
        ("run", f"{run.run_id}  {run.name}  (team {run.team})"),
        ("target", _describe_target(run)),
        ("state", str(run.state) if run.state.ended else f"{run.state}, {run.phase} phase"),
        ("time", f"{took} {'in all' if ended else 'so far'}"),
        ("steps", words.format_count(run.progress.steps_finished, "step") + " finished"),
    ]
    if run.expires_at is not None and ended is None:
        latest = words.format_time_of_day(run.expires_at)
        rows.append(("limit", f"its target is deleted at {latest} at the latest"))
    if run.metrics_awaited_until is not None and ended is None:
        latest = words.format_time_of_day(run.metrics_awaited_until)
        rows.append(("metrics", f"waiting for those of its target, until {latest} at the latest"))
    if run.failure is not None:
        rows.append(("failure", run.failure.cause))
    if run.verdict is not None:
        rows.append(("answer", describe_capacity(run)))
    if run.teardown_error is not None:
        rows.append(("teardown", run.teardown_error))
    if run.deleted_at is not None:
        seen = words.format_time_of_day(run.deleted_at)
        rows.append(("deleted", f"its target was confirmed deleted at {seen}"))
    return [*rows, *((words.DASHBOARDS[name], link) for name, link in run.links.items())]


def _describe_target(run: RunDetail) -> str:
    from plimsoll.model.request.descriptions import describe_target

    target = run.request.target
    stand_in = run.server_version if run.local and target.provisioned else None
    return describe_target(target, version=run.database_version, stand_in=stand_in)
