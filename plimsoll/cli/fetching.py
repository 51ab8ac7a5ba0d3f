"""The results of a run on the service, downloaded into a folder."""

from pathlib import Path

import click

from plimsoll.aws.run_files import REPORT, RESULT
from plimsoll.client.fetching import fetch_result
from plimsoll.client.service_client import Service, download
from plimsoll.model.results import RunResult


def fetch(service: Service, run_id: str, folder: Path | None) -> RunResult:
    """Read the result of a run that has ended.

    Args:
        service: Where it ran.
        run_id: The run.
        folder: Gets result.json and report.html; None: nothing is written.

    Raises:
        PlimsollError: The service does not have them, or they are of another version.
    """
    result, body, links = fetch_result(service, run_id)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / RESULT).write_bytes(body)
        if links.url is not None:
            (folder / REPORT).write_bytes(download(links.url))
        else:
            click.echo(f"{run_id}: its page was not drawn: plimsoll report {folder}", err=True)
    return result
