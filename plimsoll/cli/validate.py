"""`plimsoll validate`: checks a request without making anything."""

import json
from pathlib import Path

import click

from plimsoll.cli.wording import target_line
from plimsoll.experiments.cells import cells_of
from plimsoll.experiments.file import read_file
from plimsoll.model.experiment import Experiment


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the requests with all defaults.")
def validate(request_file: Path, *, as_json: bool) -> None:
    """Check REQUEST_FILE, volume rules included, without making anything."""
    asked = read_file(request_file)
    if isinstance(asked, Experiment):
        requests = {cell.name: cell.request for cell in cells_of(asked)}
    else:
        requests = asked
    if as_json:
        runs = {name: request.model_dump(mode="json") for name, request in requests.items()}
        click.echo(json.dumps({"valid": True, "runs": runs}, indent=2))
        return
    for name, request in requests.items():
        click.echo(f"{name}: {target_line(request)}; {request.workload.name or 'its own workload'}")
    click.echo(f"{request_file} is valid: {len(requests)} run{'s' if len(requests) > 1 else ''}")
