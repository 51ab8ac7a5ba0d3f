"""What a run on the service has left, brought home and printed."""

import json
import time
from pathlib import Path

import click
from rich.console import Console

from plimsoll.aws.run_files import REPORT, RESULT
from plimsoll.cli.output import print_figures
from plimsoll.cli.run_text import comparison, print_result
from plimsoll.cli.show import results_json
from plimsoll.client.refusals import ServiceError
from plimsoll.client.service_client import Service, download
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.api_answers import ReportLinks
from plimsoll.model.results import RunResult

PATIENCE_S = 30.0  # the results are there when a run ends; its page is drawn right after
_LOOK_EVERY_S = 0.5


def fetch(service: Service, run_id: str, folder: Path | None) -> RunResult:
    """Read the result of a run that has ended.

    Args:
        service: Where it ran.
        run_id: The run.
        folder: Gets result.json and report.html; None: nothing is written.

    Raises:
        PlimsollError: They are not to be had.
    """
    links = _links(service, run_id)
    body = download(links.result_url)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULT).write_bytes(body)
        if links.url is not None:
            (folder / REPORT).write_bytes(download(links.url))
        else:
            click.echo(f"{run_id}: its page was not drawn: plimsoll report {folder}", err=True)
    try:
        return RunResult.model_validate(json.loads(body), extra="ignore")
    except ValueError as error:  # pydantic's, too
        raise PlimsollError(f"{run_id}: its result is of another version: {error}") from None


def _links(service: Service, run_id: str) -> ReportLinks:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return service.report_links(run_id)
        except ServiceError as error:
            if error.kind != "no-report" or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_EVERY_S)


def check_out(out: Path | None) -> None:
    """Refuse a folder that holds something, before anything is asked for.

    Raises:
        UsageError: It does.
    """
    if out is not None and out.exists() and any(out.iterdir()):
        raise UsageError(f"--out {out}: this folder holds something already; name a new one")


def print_fetched(results: dict[str, RunResult], out: Path | None, *, as_json: bool) -> None:
    """Print results as `plimsoll run` does."""
    if as_json:
        places = {name: (out or Path(), result) for name, result in results.items()}
        click.echo(json.dumps(results_json(places), indent=2))
        return
    console = Console()
    for result in results.values():
        print_result(result, out, console)
        console.print()
    if len(results) > 1:
        print_figures(console, comparison(results))
