"""`plimsoll submit`: starts runs or an experiment on the service."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.expecting import Expecting, Results, expect_options
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import out_option, refuse_used_folder
from plimsoll.cli.service_calls import (
    connect_service,
    fetch_run_result,
    find_service,
    follow_run,
    json_option,
    profile_option,
    service_options,
)
from plimsoll.cli.show import print_results
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll.client.service_client import Service
    from plimsoll.model.service.answers import Submitted


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@allow_files_option
@service_options
@profile_option
@click.option(
    "--no-preflight",
    is_flag=True,
    help="Submit without the checks of `plimsoll preflight`.",
)
@click.option(
    "--key",
    help="Idempotency key: sending the same request again with the same key starts nothing new.",
)
@click.option("--wait", is_flag=True, help="Follow the runs to their end, and print their results.")
@out_option("With --wait: folder for result.json and report.html")
@expect_options
@json_option
def submit(
    request_file: Path,
    *,
    allow_files: tuple[Path, ...],
    url: str | None,
    stack: str | None,
    key: str | None,
    no_preflight: bool,
    wait: bool,
    out: Path | None,
    expecting: Expecting,
    as_json: bool,
) -> int:
    """Start what REQUEST_FILE asks for on the service, and print each run's id.

    A file with `axes` is an experiment: it is sent without a preflight, and its own id is printed.

    The file is checked here first. Without --key, a file that is sent twice becomes two runs. With
    --wait, exit code 1: a run failed, or a rule does not hold; 3: there is no answer (a verdict has
    no figure), or a rule cannot be decided. Exit code 3 also if a preflight check failed and
    nothing was submitted.
    """
    from plimsoll.cli.preflight import require_preflight
    from plimsoll.client.http import Http
    from plimsoll.client.service_client import Service
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    if expecting and not wait:
        raise click.UsageError("--expect, --junit and --markdown need --wait")
    if out is not None and not wait:
        raise click.UsageError("--out needs --wait")
    refuse_used_folder(out)
    asked = read_file(request_file, allow_files)
    if isinstance(asked, CheckedExperiment):
        from plimsoll.cli.experiment import start_experiment

        if expecting or out is not None:
            raise UsageError(
                f"{request_file}: --expect, --junit, --markdown and --out apply to runs,"
                " not to an experiment"
            )
        service = connect_service(url, stack)
        return start_experiment(service, asked, key, wait=wait, as_json=as_json)
    if wait:
        expecting.add_rules(asked)
    requests = {name: checked.request for name, checked in asked.items()}
    address = find_service(url, stack)
    service = Service(Http(address))
    if not no_preflight:
        require_preflight(service, address, requests, stack=stack)
    quiet = wait or as_json  # then standard output is for the results
    runs: dict[str, Submitted] = {}
    for name, request in requests.items():
        runs[name] = service.submit(request, f"{key}/{name}" if key else None)
        click.echo(f"{name}  {runs[name].run_id}", err=quiet)
    if wait:
        return _wait_for_runs(service, runs, out, expecting, as_json=as_json)
    if as_json:
        click.echo(json.dumps({name: run.run_id for name, run in runs.items()}))
    return 0


def _wait_for_runs(
    service: Service,
    runs: dict[str, Submitted],
    out: Path | None,
    expecting: Expecting,
    *,
    as_json: bool,
) -> int:
    results: Results = {}
    for name, run in runs.items():
        if follow_run(service, run.run_id) is None:
            return 130
        folder = out / name if out is not None and len(runs) > 1 else out
        results[name] = folder, fetch_run_result(service, run.run_id, folder)
    results = expecting.judge_all(results, keep=True)
    print_results(results, as_json=as_json)
    return expecting.tell_runs(results)
