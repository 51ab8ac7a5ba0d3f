"""`plimsoll watch`: follows a run on the service to its end."""

from pathlib import Path

import click

from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.output import out_option, refuse_used_folder
from plimsoll.cli.service_calls import (
    connect_service,
    fetch_run_result,
    follow_run,
    json_option,
    service_options,
)
from plimsoll.cli.show import print_results


@click.command()
@click.argument("run_id")
@service_options
@out_option("Folder for result.json and report.html")
@expect_options
@json_option
def watch(
    run_id: str,
    *,
    url: str | None,
    stack: str | None,
    out: Path | None,
    expecting: Expecting,
    as_json: bool,
) -> int:
    """Follow RUN_ID to its end, and print its result; if it has ended, print it at once.

    Ctrl-C ends the watching, not the run. Exit code 1: the run failed, or a rule does not hold. 3:
    there is no answer (the verdict has no figure), or a rule cannot be decided.
    """
    refuse_used_folder(out)
    expecting.require_baselines()
    service = connect_service(url, stack)
    if follow_run(service, run_id) is None:
        return 130
    result = fetch_run_result(service, run_id, out)
    expecting.require_measured({result.name: (out, result)})
    results = expecting.judge_all({result.name: (out, result)}, keep=True)
    print_results(results, as_json=as_json)
    return expecting.tell_runs(results)
