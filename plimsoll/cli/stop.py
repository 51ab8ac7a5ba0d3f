"""`plimsoll stop`: stops a run on the service and has its target deleted."""

import click

from plimsoll import words
from plimsoll.cli.service_calls import connect_service, follow_run, json_option, service_options
from plimsoll.errors import PlimsollError


@click.command()
@click.argument("run_id")
@service_options
@click.option("--wait", is_flag=True, help="Wait until the target is deleted.")
@json_option
def stop(run_id: str, *, url: str | None, stack: str | None, wait: bool, as_json: bool) -> int:
    """Stop RUN_ID and have its target deleted; a run that has ended stays unchanged."""
    service = connect_service(url, stack)
    run = service.stop(run_id)
    if wait and not run.state.ended:
        if follow_run(service, run_id) is None:
            return 130
        run = service.run(run_id)
    if wait and run.failure is not None and run.failure.error == "TeardownError":
        raise PlimsollError(run.failure.cause)
    if as_json:
        click.echo(run.model_dump_json(indent=2))
    else:
        gone = ""
        if run.deleted_at:
            gone = (
                f"; its target was confirmed deleted at {words.format_time_of_day(run.deleted_at)}"
            )
        click.echo(f"{run.run_id} is {run.state}{gone}")
    return 0
