"""`plimsoll run` of an experiment: every cell on one machine, then what to buy."""

from pathlib import Path

import click

from plimsoll.cli.exit_codes import exit_code_of_experiment
from plimsoll.cli.experiment_progress import ExperimentProgress
from plimsoll.cli.experiment_text import print_experiment
from plimsoll.cli.local_runs import first_clients, wait_or_stop, write_report
from plimsoll.model.experiment import Experiment
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.model.functions import Setting
from plimsoll.requests.cells import cells_of
from plimsoll.requests.prepared_datasets import shared_datasets


def run_experiment(
    experiment: Experiment, directory: Path, *, data_dir: Path | None, as_json: bool
) -> int:
    """Run every cell on a twin; gives the exit code."""
    result, interrupted = _run_here(experiment, directory, data_dir)
    print_experiment(result, as_json=as_json)
    if not as_json:
        click.echo(f"\n{directory / 'report.html'}")
    return 130 if interrupted else exit_code_of_experiment(result)


def _run_here(
    experiment: Experiment, directory: Path, data_dir: Path | None
) -> tuple[ExperimentResult, bool]:
    """Run it on a twin; returns its result, and whether it was interrupted."""
    from plimsoll.local.experiment_runner import LocalExperiment  # noqa: PLC0415 - an extra
    from plimsoll.local.home import twin_home  # noqa: PLC0415 - an extra
    from plimsoll.local.runner import termination_interrupts  # noqa: PLC0415 - an extra
    from plimsoll.local.twin import LocalTwin  # noqa: PLC0415 - an extra

    requests = [cell.request for cell in cells_of(experiment)]
    kept = len(shared_datasets(experiment, local=True))  # snapshots, as large as databases
    click.echo("starting the stand-in for AWS on this machine", err=True)
    with (
        termination_interrupts(),
        twin_home(requests, at_once=experiment.runs_at_once + kept, parent=data_dir) as home,
        LocalTwin(home, settings={Setting.TEAMS: "{}"}) as twin,
        ExperimentProgress() as progress,
    ):
        twin.warm("load-client", max(first_clients(request) for request in requests))
        local = LocalExperiment(twin, experiment)
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
    from plimsoll.report.experiment_page import render  # noqa: PLC0415 - slow, and only here

    for cell in result.cells:
        if (directory / cell.name / "result.json").is_file():
            write_report(directory / cell.name)
    (directory / "report.html").write_text(render(result), encoding="utf-8")
