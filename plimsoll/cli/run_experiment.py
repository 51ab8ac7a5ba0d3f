"""`plimsoll run` of an experiment: runs every cell on one machine, then says what to buy."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import click

from plimsoll.cli.exit_codes import choose_exit_code_of_experiment
from plimsoll.cli.experiment import ExperimentProgress, print_experiment
from plimsoll.cli.progress import Lines
from plimsoll.files import write_whole
from plimsoll.model.deployment.functions import Setting
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.model.run.results import RunResult
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.prepared_datasets import plan_shared_datasets

# Shared by `plimsoll run` of a run and of an experiment.


RESULTS = Path("plimsoll-results")
MOST_READY = 16  # processes of about 50 MiB each; more start when they are needed


class Ongoing(Protocol):
    """A run or an experiment under way."""

    def wait(self, show: Callable[[Any], None]) -> object:
        """Follow it to its end; `show` is called with each status."""

    def stop(self) -> None:
        """Stop it, and have its targets deleted."""


def wait_or_stop(
    ongoing: Ongoing, show: Callable[[Any], None], lines: Lines, on_interrupt: str
) -> bool:
    """Follow a run to its end; Ctrl-C stops it, and waits until its targets are gone.

    Args:
        ongoing: The run.
        show: The function that shows a status.
        lines: The output for `on_interrupt`.
        on_interrupt: What Ctrl-C causes, printed when it comes.

    Returns:
        Whether it was interrupted.
    """
    try:
        ongoing.wait(show)
    except KeyboardInterrupt:
        lines.say(on_interrupt)
        ongoing.stop()
        ongoing.wait(show)
        return True
    return False


def count_first_clients(request: Request) -> int:
    """Return how many client processes to start before the first step."""
    search = request.search
    wanted = search.clients[-1] if isinstance(search, StepsSearch) else 2
    return min(wanted + request.clients_beside, MOST_READY)


def write_report(folder: Path) -> None:
    """Draw the page of a run beside its files."""
    from plimsoll.report.folder import read_run
    from plimsoll.report.page import render_run

    result, seconds = read_run(folder)
    write_whole(folder / "report.html", render_run(result, seconds))


def write_comparison(folder: Path, results: Sequence[RunResult]) -> None:
    """Draw the page of several runs side by side, in the folder that holds theirs."""
    from plimsoll.report.compare_page import render_comparison
    from plimsoll.report.comparing.comparing import compare_runs
    from plimsoll.report.experiment.choice import build_matrix

    page = render_comparison(results, compare_runs(results), build_matrix(results))
    write_whole(folder / "report.html", page)


def run_experiment(
    checked: CheckedExperiment, directory: Path, *, data_dir: Path | None, as_json: bool
) -> int:
    """Run every cell on a twin; return the exit code."""
    result, interrupted = _run_cells(checked, directory, data_dir)
    print_experiment(result, as_json=as_json)
    if not as_json:
        click.echo(f"\n{(directory / 'report.html').resolve().as_uri()}")
    return 130 if interrupted else choose_exit_code_of_experiment(result)


def _run_cells(
    checked: CheckedExperiment, directory: Path, data_dir: Path | None
) -> tuple[ExperimentResult, bool]:
    """Run it on a twin; return its result, and whether it was interrupted."""
    from plimsoll.local.experiment_runner import LocalExperiment
    from plimsoll.local.home import make_twin_home
    from plimsoll.local.leftovers import remove_leftovers
    from plimsoll.local.runner import interrupt_on_termination
    from plimsoll.local.twin import LocalTwin

    kept = len(plan_shared_datasets(checked, local=True))  # snapshots, each as large as a database
    at_once = checked.experiment.runs_at_once + kept
    remove_leftovers(partial(click.echo, err=True))
    click.echo("starting the stand-in for AWS on this machine", err=True)
    with (
        interrupt_on_termination(),
        make_twin_home(checked.requests, at_once=at_once, parent=data_dir) as home,
        LocalTwin(home, settings={Setting.TEAMS: "{}"}) as twin,
        ExperimentProgress() as progress,
    ):
        twin.warm("load-client", max(count_first_clients(cell.request) for cell in checked.cells))
        local = LocalExperiment(twin, checked)
        interrupted = wait_or_stop(
            local,
            progress.show,
            progress,
            "interrupted: stopping every run and deleting its target",
        )
        result = local.save(directory)
    _write_reports(result, directory)
    return result, interrupted


def _write_reports(result: ExperimentResult, directory: Path) -> None:
    from plimsoll.report.experiment.page import render_experiment

    for cell in result.cells:
        if (directory / cell.name / "result.json").is_file():
            write_report(directory / cell.name)
    write_whole(directory / "report.html", render_experiment(result))
