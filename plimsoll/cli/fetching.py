"""The results of a run on the service, downloaded."""

import json
import time
from pathlib import Path

import click

from plimsoll.aws.run_files import REPORT, RESULT
from plimsoll.client.refusals import ServiceError
from plimsoll.client.service_client import Service, download
from plimsoll.errors import PlimsollError
from plimsoll.model.api_answers import ReportLinks
from plimsoll.model.results import RunResult

PATIENCE_S = 30.0  # a run's results are there when it ends, its page a little later
_LOOK_EVERY_S = 0.5


def fetch(service: Service, run_id: str, folder: Path | None) -> RunResult:
    """Read the result of a run that has ended.

    Args:
        service: Where it ran.
        run_id: The run.
        folder: Gets result.json and report.html; None: nothing is written.

    Raises:
        PlimsollError: The service does not have them, or they are of another version.
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
