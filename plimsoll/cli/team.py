"""`plimsoll team`: the teams of a deployment beside those of cdk.json, in its table."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.output import console, make_table
from plimsoll.cli.service_calls import json_option, profile_option
from plimsoll.client.address import DEFAULT_STACK
from plimsoll.documents import read_document, read_text

if TYPE_CHECKING:
    from plimsoll.model.deployment.deployment import Team


stack_option = click.option(
    "--stack",
    metavar="NAME",
    default=DEFAULT_STACK,
    show_default=True,
    help="Name of the deployed stack.",
)


@click.group("team")
def command() -> None:
    """Add teams to a deployment in AWS, list or remove them (docs/configuration.md).

    The caller needs permissions on the deployment's table.
    """


def find_table(stack: str) -> str:
    """Return the table of a deployment that holds its teams."""
    from plimsoll.client.address import read_stack_output

    return read_stack_output(stack, "ServiceTable")


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@stack_option
@profile_option
def put(file: Path, *, stack: str) -> int:
    """Add the teams of FILE, or replace those of the same names.

    FILE is YAML with `teams:`, as in cdk.json.
    """
    from plimsoll.model.validation import validate
    from plimsoll.teams.registry import Teams, put_teams

    document = read_document(read_text(file), str(file))
    teams = document.check(partial(validate, Teams)).teams
    put_teams(find_table(stack), teams)
    click.echo(
        f"{words.format_count(len(teams), 'team')} written; they count from the next call on"
    )
    return 0


@command.command("list")
@stack_option
@profile_option
@json_option
def list_(*, stack: str, as_json: bool) -> int:
    """List all teams with their limits, and where each is kept."""
    from plimsoll.teams.registry import list_added_teams, list_configured_teams

    table = find_table(stack)
    configured, added = list_configured_teams(table), list_added_teams(table)
    kept = {**dict.fromkeys(added, "table"), **dict.fromkeys(configured, "cdk.json")}
    teams = {**added, **configured}
    if as_json:
        shown = {
            name: {"kept_in": kept[name], **team.model_dump(mode="json")}
            for name, team in sorted(teams.items())
        }
        click.echo(json.dumps(shown, indent=2))
        return 0
    titles = ("team", "kept in", "principals", "runs", "clients", "IOPS", "USD/run", "USD/month")
    rows = make_table(*titles)
    for name, team in sorted(teams.items()):
        rows.add_row(name, kept[name], str(len(team.principals)), *_describe_limits(team))
    console().print(rows)
    return 0


@command.command()
@click.argument("name")
@stack_option
@profile_option
def remove(name: str, *, stack: str) -> int:
    """Remove the team NAME, which `put` added. Its runs go on."""
    from plimsoll.teams.registry import remove_team

    remove_team(find_table(stack), name)
    click.echo(f"{name} is removed: nobody may call in its name")
    return 0


def _describe_limits(team: Team) -> list[str]:
    limits = (
        team.concurrent_runs,
        team.clients,
        team.provisioned_iops,
        team.usd_per_run,
        team.spend_usd_per_month,
    )
    return ["no limit" if most is None else words.format_number(most) for most in limits]
