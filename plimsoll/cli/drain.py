"""`plimsoll drain`: a deployment in AWS starts no new runs, so that it can be updated."""

import json
import time
from datetime import UTC, datetime, timedelta

import click

from plimsoll import words
from plimsoll.cli.options import NumberRange
from plimsoll.cli.service_calls import json_option, profile_option
from plimsoll.client.address import DEFAULT_STACK

_LOOK_S = 5.0
_NAMED = 3  # executions that a line names
_HOURS_MOST = 14 * 24


@click.command()
@click.option(
    "--stack",
    metavar="NAME",
    default=DEFAULT_STACK,
    show_default=True,
    help="Name of the deployed stack.",
)
@profile_option
@click.option(
    "--hours",
    type=NumberRange(0, _HOURS_MOST, min_open=True),
    default=24.0,
    show_default=True,
    help="After this time the deployment starts runs again, whatever happens.",
)
@click.option("--wait", is_flag=True, help="Wait until nothing is in progress.")
@click.option("--end", is_flag=True, help="Start runs again now.")
@json_option
def drain(*, stack: str, hours: float, wait: bool, end: bool, as_json: bool) -> int:
    """Have a deployment start no new runs and experiments; those in progress go on to their end.

    Submissions are refused (503) with the time until which they are, and checks that are due are
    put off to it. Exit code 0 if nothing is in progress any more, 3 if something still is.
    """
    from plimsoll.aws.drain import begin_drain, end_drain
    from plimsoll.client.address import read_stack_output
    from plimsoll.experiments.in_progress import list_in_progress

    table = read_stack_output(stack, "ServiceTable")
    if end:
        was_drained = end_drain(table)
        click.echo("runs are started again" if was_drained else "it was not drained")
        return 0
    until = datetime.now(UTC) + timedelta(hours=hours)
    begin_drain(table, until)
    machines = [read_stack_output(stack, f"{kind}StateMachine") for kind in ("Run", "Experiment")]
    left = list_in_progress(table, machines, datetime.now(UTC))
    while wait and left and datetime.now(UTC) < until:
        some = ", ".join(left[:_NAMED])
        click.echo(f"waiting for {words.format_count(len(left), 'execution')}: {some}", err=True)
        time.sleep(_LOOK_S)
        left = list_in_progress(table, machines, datetime.now(UTC))
    if as_json:
        click.echo(json.dumps({"until": until.isoformat(), "in_progress": left}, indent=2))
    else:
        click.echo(f"no new runs until {words.format_moment(until)}")
        click.echo(f"in progress: {', '.join(left) if left else 'nothing; update it now'}")
    return 3 if left else 0
