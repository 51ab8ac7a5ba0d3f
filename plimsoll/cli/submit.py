"""`plimsoll submit`: starts a run in a deployed stack, with the caller's own credentials."""

import json
from pathlib import Path

import click
from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.errors import PlimsollError
from plimsoll.runs import deployed
from plimsoll.runs.request_file import read_requests
from plimsoll.runs.submit import submit as submit_run


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@click.option("--stack", default="Plimsoll", show_default=True, help="The deployed stack.")
@click.option("--key", help="Idempotency key: the same key and request are one run.")
@click.option("--json", "as_json", is_flag=True, help="Print the runs' ids as JSON.")
def submit(request_file: Path, *, stack: str, key: str | None, as_json: bool) -> int:
    """Start what REQUEST_FILE asks for on AWS and print each run's id; does not wait for its end.

    Account, region and profile are those of the AWS command line's configuration.
    """
    requests = read_requests(request_file)
    try:
        found = deployed.find(stack)
        run_ids = {
            name: submit_run(
                found.deployment,
                request,
                state_machine_arn=found.state_machine_arn,
                idempotency_key=f"{key}/{name}" if key else None,
                results_days=found.results_days,
            )
            for name, request in requests.items()
        }
    except (BotoCoreError, ClientError) as error:
        raise PlimsollError(f"AWS: {error}") from error
    if as_json:
        click.echo(json.dumps(run_ids))
    else:
        for name, run_id in run_ids.items():
            click.echo(f"{name}  {run_id}  s3://{found.results_bucket}/runs/{run_id}/")
    return 0
