"""`plimsoll list`: the team's runs on the service."""

import json

import click

from plimsoll import words
from plimsoll.cli.options import WholeRange
from plimsoll.cli.output import console, make_table
from plimsoll.cli.service_calls import (
    connect_service,
    describe_capacity,
    json_option,
    service_options,
)
from plimsoll.model.run.run_record import RunState


@click.command("list")
@service_options
@click.option("--team", help="Team; only the caller's own is accepted.")
@click.option(
    "--state",
    type=click.Choice([str(state) for state in RunState], case_sensitive=False),
    metavar="STATE",
    help="Show only runs in this state: " + ", ".join(RunState) + ".",
)
@click.option("--tag", metavar="NAME=VALUE", help="Show only runs with this tag.")
@click.option(
    "--most",
    type=WholeRange(1, 10_000),
    default=20,
    show_default=True,
    help="Highest number of runs to show.",
)
@json_option
def command(
    *,
    url: str | None,
    stack: str | None,
    team: str | None,
    state: str | None,
    tag: str | None,
    most: int,
    as_json: bool,
) -> int:
    """List the team's runs, newest first."""
    if tag is not None and "=" not in tag:
        raise click.UsageError(f"--tag: must be NAME=VALUE, not {tag!r}")
    runs = connect_service(url, stack).runs(
        most=most, team=team, state=state, tag=tag, left_out=warn_left_out
    )
    if as_json:
        click.echo(json.dumps({"runs": [run.model_dump(mode="json") for run in runs]}, indent=2))
        return 0
    table = make_table("run", "name", "state", "phase", "steps", "answer", "submitted")
    for run in runs:
        table.add_row(
            run.run_id,
            run.name,
            run.state,
            "" if run.state.ended else run.phase,
            str(run.progress.steps_finished),
            describe_capacity(run),
            words.format_moment(run.submitted_at),
        )
    console().print(table)
    return 0


def warn_left_out(count: int) -> None:
    """Warn that a list is incomplete."""
    records = words.format_count(count, "record is", "records are")
    click.echo(f"{records} left out: the service cannot read them, see its logs", err=True)
