"""`plimsoll run` of an experiment: every cell on one machine, then what to buy."""

import json
import tempfile
from pathlib import Path

import click
from rich.table import Table as TerminalTable

from plimsoll.cli.experiment_progress import ExperimentProgress
from plimsoll.cli.output import console
from plimsoll.cli.run import first_clients, write_report
from plimsoll.experiments.cells import cells_of
from plimsoll.model.experiment import Experiment
from plimsoll.model.experiments import ExperimentResult
from plimsoll.model.runs import RunState
from plimsoll.report.experiment_page import cells_table, gains_table, matrix_table
from plimsoll.report.tables import Table


def run_experiment(experiment: Experiment, directory: Path, *, as_json: bool) -> int:
    """Run every cell on a twin; exit code 1 where a question got no answer at all."""
    result, interrupted = _run_here(experiment, directory)
    if as_json:
        click.echo(json.dumps(result.model_dump(mode="json"), indent=2))
    else:
        print_experiment(result)
        click.echo(f"\n{directory / 'report.html'}")
    if interrupted:
        return 130
    decided = all(decision.best is not None for decision in result.decisions)
    return 0 if decided and result.state is RunState.SUCCEEDED else 1


def _run_here(experiment: Experiment, directory: Path) -> tuple[ExperimentResult, bool]:
    """Run it on a twin; returns what it came to and whether it was interrupted."""
    from plimsoll.local.experiments import LocalExperiment  # noqa: PLC0415 - an extra
    from plimsoll.local.leftovers import HOME_PREFIX  # noqa: PLC0415 - likewise
    from plimsoll.local.runner import termination_interrupts  # noqa: PLC0415 - likewise
    from plimsoll.local.twin import LocalTwin  # noqa: PLC0415 - likewise

    click.echo("starting the stand-in for AWS on this machine", err=True)
    with (
        termination_interrupts(),
        tempfile.TemporaryDirectory(prefix=HOME_PREFIX) as home,
        LocalTwin(Path(home)) as twin,
        ExperimentProgress() as progress,
    ):
        twin.warm("load-client", max(first_clients(c.request.search) for c in cells_of(experiment)))
        current = LocalExperiment(twin, experiment)
        interrupted = False
        try:
            current.wait(progress.show)
        except KeyboardInterrupt:
            interrupted = True
            progress.say("interrupted: stopping every run and deleting its target")
            current.stop()
            current.wait(progress.show)
        result = current.save(directory)
    _write_reports(result, directory)
    return result, interrupted


def _write_reports(result: ExperimentResult, directory: Path) -> None:
    from plimsoll.report.experiment_page import render  # noqa: PLC0415 - slow, and only here

    for cell in result.cells:
        if (directory / cell.name / "result.json").is_file():
            write_report(directory / cell.name)
    (directory / "report.html").write_text(render(result), encoding="utf-8")


def print_experiment(result: ExperimentResult) -> None:
    """Print an experiment's cells, what IOPS gained and what to buy."""
    _print(f"{result.name}, {result.state.value}", cells_table(result))
    if result.failure is not None:
        click.echo(f"It ended {result.state.value}: {result.failure.cause}")
    if (steps := gains_table(result)) is not None:
        _print("What each step up in IOPS gained", steps)
        for gain in result.gains:
            click.echo(f"  {gain.question}: {gain.sentence}")
    if result.warnings:
        click.echo("\nWithout an answer")
        for warning in result.warnings:
            click.echo(f"  {warning}")
    _print("What to buy", matrix_table(result))


def _print(title: str, shown: Table) -> None:
    click.echo(f"\n{title}")
    table = TerminalTable(*shown.columns, box=None, pad_edge=False, header_style="bold")
    for row in shown.rows:
        table.add_row(*(cell.text for cell in row))
    console().print(table)
