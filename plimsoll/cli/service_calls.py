"""Shared by the verbs that call the service: finding it, following runs, fetching results."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll import words
from plimsoll.files import write_whole

if TYPE_CHECKING:
    from plimsoll.client.address import Address
    from plimsoll.client.service_client import Service
    from plimsoll.model.run.results import RunResult
    from plimsoll.model.run.run_record import RunRecord
    from plimsoll.model.service.answers import RunSummary


Command = TypeVar("Command", bound=Callable[..., Any])


def service_options(command: Command) -> Command:
    """Add `--url` and `--stack`."""
    from plimsoll.client.address import URL_VARIABLE

    command = click.option(
        "--stack",
        metavar="NAME",
        help="Name of the deployed stack whose API to call. Default: Plimsoll.",
    )(command)
    return click.option(
        "--url",
        metavar="URL",
        help="Address of the API, such as the one that `plimsoll serve` prints; the variable"
        f" {URL_VARIABLE} can hold it instead.",
    )(command)


def json_option(command: Command) -> Command:
    """Add `--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON.")(
        command
    )


def profile_option(command: Command) -> Command:
    """Add `--profile`, which overrides the variable AWS_PROFILE."""

    def choose(_: click.Context, __: click.Parameter, profile: str | None) -> None:
        if profile is not None:
            os.environ["AWS_PROFILE"] = profile

    return click.option(
        "--profile",
        metavar="NAME",
        expose_value=False,
        callback=choose,
        help="Profile of the AWS command line to sign with. Default: AWS_PROFILE.",
    )(command)


def find_service(url: str | None, stack: str | None) -> Address:
    """Return the address of the service."""
    from plimsoll.client.address import URL_VARIABLE, find_address

    return find_address(url=url, stack=stack, variable=os.environ.get(URL_VARIABLE))


def connect_service(url: str | None, stack: str | None) -> Service:
    """Connect to the service; calls are signed with the credentials of the AWS command line."""
    from plimsoll.client.http import Http
    from plimsoll.client.service_client import Service

    return Service(Http(find_service(url, stack)))


def follow_run(service: Service, run_id: str) -> RunRecord | None:
    """Show a run on standard error until it has ended.

    Returns:
        The run's record; None if Ctrl-C ended the watching, while the run goes on.
    """
    from plimsoll.cli.progress import RunProgress
    from plimsoll.client.remote_runs import RemoteWatcher

    watcher = RemoteWatcher(service, run_id)
    with RunProgress(service.run(run_id).request) as progress:
        try:
            return watcher.wait(progress.show)
        except KeyboardInterrupt:
            progress.say(f"interrupted: {run_id} goes on; `plimsoll stop {run_id}` stops it")
            return None


def describe_capacity(run: RunSummary) -> str:
    """Describe a run's answer in a few words; a dash as long as there is none."""
    if run.verdict is None:
        return words.NOTHING
    if run.capacity_ops_per_second is None:
        return run.verdict
    figure = words.format_throughput(run.capacity_ops_per_second)
    return f"{run.verdict} {words.prepend_bound(figure, run.bound)}"


# Results.


def fetch_run_result(service: Service, run_id: str, folder: Path | None) -> RunResult:
    """Read the result of a run that has ended.

    Args:
        service: The service.
        run_id: The run.
        folder: The folder for result.json and report.html; None to write nothing.

    Raises:
        PlimsollError: The service does not have them, or they are of another version.
    """
    from plimsoll.aws.run_files import REPORT, RESULT
    from plimsoll.client.remote_runs import fetch_result
    from plimsoll.client.service_client import download

    result, body, links = fetch_result(service, run_id)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        write_whole(folder / RESULT, body)
        if links.url is not None:
            write_whole(folder / REPORT, download(links.url))
        else:
            click.echo(f"{run_id}: its page was not drawn: plimsoll report {folder}", err=True)
    return result
