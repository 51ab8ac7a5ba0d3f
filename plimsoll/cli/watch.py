"""`plimsoll watch`: follows a run on the service to its end."""

from pathlib import Path

import click

from plimsoll.cli.fetching import fetch
from plimsoll.cli.output import out_option, refuse_used_folder
from plimsoll.cli.service_calls import connect, follow, json_option, service_options
from plimsoll.cli.show import exit_code, print_results


@click.command()
@click.argument("run_id")
@service_options
@out_option("Where result.json and report.html go")
@json_option
def watch(
    run_id: str, *, url: str | None, stack: str | None, out: Path | None, as_json: bool
) -> int:
    """Follow RUN_ID to its end, and print its result; one that has ended is printed at once.

    Ctrl-C ends the watching, not the run. Exit code 1: the run failed, or its machine was
    too busy to measure anything (DISTURBED), or its target changed meanwhile (DRIFTING).
    """
    refuse_used_folder(out)
    service = connect(url, stack)
    if follow(service, run_id) is None:
        return 130
    result = fetch(service, run_id, out)
    results = {result.name: (out, result)}
    print_results(results, as_json=as_json)
    return exit_code(results)
