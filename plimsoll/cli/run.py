"""`plimsoll run`: finds a target's capacity on this machine."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.expecting import Expecting, expect_options
from plimsoll.cli.exporting import Exporting, export_options
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import out_option, require_writable
from plimsoll.cli.page import Page, make_token, page_options, show_page, wait_for_interrupt
from plimsoll.cli.retry import tell_retry
from plimsoll.cli.show import print_results, read_results
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll.local.twin import LocalTwin
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.checked_request import CheckedRequest


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@allow_files_option
@click.option("--local", is_flag=True, help="Run on this machine, without an AWS account.")
@out_option("Folder for the results", default="plimsoll-results/<run>/")
@click.option(
    "--data-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True, writable=True),
    help="Folder for the databases' files during the run. Default: in memory if they fit into half"
    " of what is free, else with the temporary files.",
)
@expect_options
@export_options
@page_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def run(
    request_file: Path,
    *,
    allow_files: tuple[Path, ...],
    local: bool,
    out: Path | None,
    data_dir: Path | None,
    expecting: Expecting,
    exporting: Exporting,
    page: Page,
    as_json: bool,
) -> int:
    """Run what REQUEST_FILE asks for: provision, load, search, conclude, tear down.

    An experiment (a file with `axes`) runs every combination and ends with a decision table.

    Ctrl-C stops the run and deletes its target. Exit code 1: the run failed, or an expected rule
    does not hold. 3: there is no answer (the verdict has no figure), or a rule cannot be decided.
    """
    from plimsoll.cli.validate import require_all_possible
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    asked = read_file(request_file, allow_files)
    if not local:
        raise UsageError(
            f"{request_file}: on AWS: plimsoll submit {request_file} (docs/deploying.md);"
            f" on this machine, which stands in for RDS: plimsoll run {request_file} --local"
        )
    require_all_possible(request_file, asked, local=True)
    if isinstance(asked, CheckedExperiment) and expecting:
        raise UsageError(f"{request_file}: rules apply to runs, not to an experiment")
    if isinstance(asked, CheckedExperiment) and exporting != Exporting():
        raise UsageError(f"{request_file}: metrics apply to runs, not to an experiment")
    if page.shown:
        _require_page(request_file, asked)
    directory = _choose_folder(request_file, out)
    if isinstance(asked, CheckedExperiment):
        from plimsoll.cli.run_experiment import run_experiment

        return run_experiment(asked, directory, data_dir=data_dir, as_json=as_json)
    asked = expecting.add_rules(asked)
    with ExitStack() as here:
        here_run = partial(_run_here, here, data_dir=data_dir, page=page)
        code = _run_all(asked, directory, expecting, exporting, here_run, as_json=as_json)
        if page.shown and code != 130:
            wait_for_interrupt()
    return code


def _require_page(request_file: Path, asked: CheckedExperiment | dict[str, CheckedRequest]) -> None:
    """Refuse a page for requests that run without the twin, or that have a page of their own.

    Raises:
        UsageError: It is an experiment, its target exists already, or its runs belong to teams.
    """
    from plimsoll.model.request.endpoint_target import EndpointTarget
    from plimsoll.requests.cells import CheckedExperiment

    if isinstance(asked, CheckedExperiment):
        raise UsageError(f"{request_file}: --ui applies to runs; for an experiment: plimsoll serve")
    requests = [checked.request for checked in asked.values()]
    if any(isinstance(request.target, EndpointTarget) for request in requests):
        problem = (
            "--ui needs a target that the run creates; for an existing one: plimsoll find --ui"
        )
        raise UsageError(f"{request_file}: {problem}")
    if len(teams := sorted({request.team for request in requests})) > 1:
        problem = f"--ui shows the runs of one team, not of {words.join_names(teams)}"
        raise UsageError(f"{request_file}: {problem}")


def _run_all(
    requests: dict[str, CheckedRequest],
    directory: Path,
    expecting: Expecting,
    exporting: Exporting,
    run_here: Callable[[list[tuple[CheckedRequest, Path]]], bool],
    *,
    as_json: bool,
) -> int:
    from plimsoll.cli.find_shown import Terminal
    from plimsoll.cli.run_experiment import write_comparison
    from plimsoll.load_line.clients import INTERRUPTED
    from plimsoll.load_line.find import plan_requested_search, run_search
    from plimsoll.model.request.endpoint_target import EndpointTarget

    folders = [directory / name for name in requests] if len(requests) > 1 else [directory]
    runs = list(zip(requests.values(), folders, strict=True))
    existing = [run for run in runs if isinstance(run[0].request.target, EndpointTarget)]
    terminals = [(checked.request, Terminal(folder)) for checked, folder in existing]
    searches = [(plan_requested_search(request, one), one) for request, one in terminals]
    interrupted = any(run_search(*search).cut_short == INTERRUPTED for search in searches)
    made = [run for run in runs if run not in existing]
    interrupted = interrupted or (bool(made) and run_here(made))
    results = expecting.judge_all(read_results(directory), keep=True)
    print_results(results, as_json=as_json)
    if len(results) > 1:
        write_comparison(directory, [result for _, result in results.values()])
    page = directory / "report.html"
    if not as_json and page.is_file():
        click.echo(f"\n{page.resolve().as_uri()}")
    exporting.tell_runs(result for _, result in results.values())
    if not interrupted:
        tell_retry(results, as_json=as_json)
    code = expecting.tell_runs(results)
    return 130 if interrupted else code


def _choose_folder(request_file: Path, out: Path | None) -> Path:
    """Return the folder of the results, after checking that it can be written.

    Raises:
        UsageError: The folder is not empty, or nothing can be written.
    """
    from plimsoll.cli.run_experiment import RESULTS

    directory = out or RESULTS / f"{request_file.stem}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    require_writable(directory)
    return directory


def run_here(runs: list[tuple[CheckedRequest, Path]], data_dir: Path | None) -> bool:
    """Run requests on a twin that ends with them; return whether they were interrupted."""
    with ExitStack() as here:
        page = Page(shown=False, opened=False)
        return _run_here(here, runs, data_dir=data_dir, page=page)


def _run_here(
    here: ExitStack, runs: list[tuple[CheckedRequest, Path]], *, data_dir: Path | None, page: Page
) -> bool:
    """Run requests one after the other on a twin that lives as long as the stack.

    Returns:
        Whether they were interrupted.
    """
    from plimsoll.local.databases.server_programs import fetch_programs
    from plimsoll.local.deploying import make_team_settings
    from plimsoll.local.home import make_twin_home
    from plimsoll.local.leftovers import remove_leftovers
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.local.twin import LocalTwin, check_machine
    from plimsoll.requests.checked_request import find_request_protocol

    check_machine()
    fetch_programs(
        {find_request_protocol(checked.request) for checked, _ in runs},
        partial(click.echo, err=True),
    )
    remove_leftovers(partial(click.echo, err=True))
    click.echo("starting the stand-in for AWS on this machine", err=True)
    here.enter_context(interrupt_on_termination())
    home = here.enter_context(make_twin_home([checked for checked, _ in runs], parent=data_dir))
    team = runs[0][0].request.team
    twin = here.enter_context(LocalTwin(home, settings=make_team_settings(team)))
    if page.shown:
        _show_page(twin, here, page, one_run=len(runs) == 1)
    return any(_run_one(twin, checked, folder) for checked, folder in runs)


def _show_page(twin: LocalTwin, here: ExitStack, page: Page, *, one_run: bool) -> None:
    from plimsoll.console.config import ConsoleConfig
    from plimsoll.local.http_front import LocalService

    config = ConsoleConfig(may_start=False, one_run=one_run)
    twin.warm("api", 1)
    front = here.enter_context(LocalService(twin, token=make_token(), config=config))
    here.enter_context(show_page(front, page))


def _run_one(twin: LocalTwin, checked: CheckedRequest, folder: Path) -> bool:
    from plimsoll.cli.progress import RunProgress
    from plimsoll.cli.run_experiment import count_first_clients, wait_or_stop, write_report
    from plimsoll.local.runner import LocalRun

    request = checked.request
    with RunProgress(request) as progress:
        progress.say(f"{request.name}: starting")
        twin.warm("load-client", count_first_clients(request))
        run = LocalRun(twin, checked)
        interrupted = wait_or_stop(
            run,
            progress.show,
            progress,
            "interrupted: stopping the run and deleting its target (Ctrl-C again: at once, without"
            " results)",
        )
        run.save(folder)
    write_report(folder)
    return interrupted
