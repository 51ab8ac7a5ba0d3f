"""`plimsoll preflight`: can AWS and the service provide what a request asks for?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import console, make_table
from plimsoll.cli.service_calls import find_service, json_option, profile_option, service_options
from plimsoll.errors import PreflightError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from plimsoll.client.address import Address
    from plimsoll.client.service_client import Service
    from plimsoll.model.request.request import Request
    from plimsoll.preflight.checks import Check


_COLORS = {"passed": "green", "failed": "red", "unknown": "yellow", "not applicable": "dim"}


@click.command("preflight")
@click.argument("request_file", type=click.Path(path_type=Path))
@allow_files_option
@service_options
@profile_option
@json_option
def command(
    request_file: Path,
    *,
    allow_files: tuple[Path, ...],
    url: str | None,
    stack: str | None,
    as_json: bool,
) -> int:
    """Check whether REQUEST_FILE can run on AWS, as far as these credentials can see.

    Each check passes, fails (with what to do) or is unknown (with the reason); nothing is created.
    `submit` does this first. Exit code 1: a check failed.
    """
    from plimsoll.client.http import Http
    from plimsoll.client.service_client import Service
    from plimsoll.preflight.preflight import run_preflight
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    asked = read_file(request_file, allow_files)
    address = find_service(url, stack)
    if isinstance(asked, CheckedExperiment):
        requests = {cell.name: cell.request for cell in asked.cells}
        at_once: int | None = asked.experiment.runs_at_once
    else:
        requests, at_once = {name: checked.request for name, checked in asked.items()}, None
    found = run_preflight(Service(Http(address)), address, requests, stack=stack, at_once=at_once)
    if as_json:
        checks = [check.model_dump(mode="json") for check in found.checks]
        click.echo(json.dumps({"passed": not found.failed, "checks": checks}, indent=2))
    else:
        print_checks(found.checks, console())
    return int(bool(found.failed))


def print_checks(checks: Sequence[Check], to: Console) -> None:
    """Print checks as a table."""
    table = make_table("check", "", "what was found", "what to do")
    for check in checks:
        name = f"{check.name} ({', '.join(check.runs)})" if check.runs else check.name
        state = f"[{_COLORS[check.state]}]{check.state}[/]"
        table.add_row(name, state, check.detail, check.to_do or "")
    to.print(table)


def require_preflight(
    service: Service, address: Address, requests: Mapping[str, Request], *, stack: str | None
) -> None:
    """Run the checks before something is submitted, and print them on standard error.

    Raises:
        UsageError: The service refuses a request.
        PreflightError: Another check failed.
    """
    from rich.console import Console

    from plimsoll.preflight.deployment_checks import REQUEST
    from plimsoll.preflight.preflight import run_preflight

    found = run_preflight(service, address, requests, stack=stack)
    counts = {
        state: sum(check.state == state for check in found.checks)
        for state in ("passed", "failed", "unknown")
    }
    told = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    click.echo(f"preflight: {told} (plimsoll preflight lists them)", err=True)
    wrong = [check.detail for check in found.failed if check.name == REQUEST]
    if wrong and len(wrong) == len(found.failed):
        raise UsageError(*wrong)
    if found.failed:
        print_checks(found.failed, Console(stderr=True, width=max(200, console().width)))
        what = words.format_count(len(found.failed), "check")
        raise PreflightError(f"{what} failed: nothing was submitted (--no-preflight submits)")
