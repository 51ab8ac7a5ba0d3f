"""`plimsoll experiment`: matrices of runs on the service."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.exit_codes import choose_exit_code_of_experiment
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import print_report_table
from plimsoll.cli.progress import Lines
from plimsoll.cli.service_calls import connect_service, json_option, service_options
from plimsoll.errors import PlimsollError, UsageError

if TYPE_CHECKING:
    from plimsoll.client.service_client import Service
    from plimsoll.model.run.experiment_record import (
        CellStatus,
        DatasetOutcome,
        ExperimentDetail,
        ExperimentResult,
        ExperimentStatus,
    )
    from plimsoll.requests.cells import CheckedExperiment


# Progress on standard error: each cell's start and end, and a status line.


class ExperimentProgress(Lines):
    """Prints what has happened in an experiment since the last call."""

    def show(self, now: ExperimentStatus) -> None:
        """Print what is new."""
        self._tell_datasets(now)
        for cell in now.cells:
            if cell.state is not None:
                self.say(f"{cell.name}: started")
            if cell.state is not None and cell.state.ended:
                self.say(f"{cell.name}: {_describe_outcome(cell)}")
        going = [f"{one.name} ({one.phase})" for one in now.datasets if _is_under_way(one)]
        going += [f"{cell.name} ({_describe_progress(cell)})" for cell in now.running]
        running = ", ".join(going)
        done = f"{now.ended} of {len(now.cells)} cells done"
        elapsed = words.format_duration(round(self.elapsed_s))
        self.status(f"{done} · running: {running or 'none'} · {elapsed} elapsed")
        if now.record.state.ended:
            gone = "target and snapshot" if now.datasets else "target"
            self.say(f"{done}; every {gone} is gone")

    def _tell_datasets(self, now: ExperimentStatus) -> None:
        """Print how many datasets are prepared only once, and the outcome of each."""
        if now.datasets:
            datasets = words.format_count(len(now.datasets), "dataset")
            self.say(f"{datasets} prepared once, for {words.format_count(len(now.cells), 'run')}")
        for one in now.datasets:
            if one.state is not None and one.state.ended:
                size = f", {one.layout.size_words}" if one.layout else ""
                kept = f"kept as a snapshot{size}" if one.snapshot else "no snapshot"
                self.say(f"{one.name}: {one.state}, {kept}")


def _is_under_way(one: DatasetOutcome) -> bool:
    return one.state is not None and not one.state.ended


def _describe_progress(cell: CellStatus) -> str:
    return "waits for its pair" if cell.waits_for_pair else str(cell.phase)


def _describe_outcome(cell: CellStatus) -> str:
    if cell.verdict is None:
        return f"ended {cell.state}"
    figure = cell.capacity_ops_per_second
    if figure is None:
        return cell.verdict
    return (
        f"{cell.verdict}, {words.prepend_bound(words.format_throughput(float(figure)), cell.bound)}"
    )


# A finished experiment.


def print_experiment(result: ExperimentResult, *, as_json: bool) -> None:
    """Print what to buy in one sentence, and the evidence for it."""
    from plimsoll.report.experiment.page import (
        describe_datasets,
        make_cells_table,
        make_gains_table,
    )
    from plimsoll.report.phase_tables import make_phases_table

    if as_json:
        click.echo(json.dumps(result.model_dump(mode="json"), indent=2))
        return
    click.echo(f"\n{result.name}, {result.state.value}")
    if result.failure is not None:
        click.echo(f"It ended {result.state.value}: {result.failure.cause}")
    click.echo(f"\n{result.answer}" if result.answer else "")
    _print_decision(result)
    if (gains := make_gains_table(result)) is not None:
        click.echo("\nWhat each step up in IOPS gained")
        print_report_table(gains)
    if (phases := make_phases_table(result)) is not None:
        click.echo("\nPhases")
        print_report_table(phases)
    _print_factorials(result)
    if toggles := [cell for cell in result.cells if cell.toggle]:
        click.echo("\nEffect of the toggle")
        for cell in toggles:
            click.echo(f"  {cell.name}: {cell.toggle}")
    for sentence in describe_datasets(result):
        click.echo(sentence)
    if result.warnings:
        click.echo("\nWithout an answer")
        for warning in result.warnings:
            click.echo(f"  {warning}")
    click.echo("\nEvery run" if result.boundary else "\nEvery cell")
    print_report_table(make_cells_table(result))


def _print_decision(result: ExperimentResult) -> None:
    from plimsoll.report.comparing.fresh_targets import make_fresh_table
    from plimsoll.report.experiment.page import (
        describe_boundary,
        describe_fresh_basis,
        make_boundary_table,
        make_matrix_table,
    )

    if result.boundary is None:
        print_report_table(make_matrix_table(result))
        if (fresh := make_fresh_table(result.fresh)) is not None:
            click.echo("\nOver fresh targets")
            print_report_table(fresh)
            click.echo(describe_fresh_basis(result))
        return
    print_report_table(make_boundary_table(result.boundary))
    for line in describe_boundary(result.boundary):
        click.echo(line)


def _print_factorials(result: ExperimentResult) -> None:
    from plimsoll.report.experiment.page import describe_factorials_basis, make_factorials_table

    if (table := make_factorials_table(result.factorials)) is None:
        return
    click.echo("\nGain of each axis, and what it depends on")
    print_report_table(table)
    for each in result.factorials:
        click.echo(f"  {each.question}: {each.sentence}")
    click.echo(describe_factorials_basis(result))


@click.group("experiment")
def command() -> None:
    """Start, watch or stop a matrix of runs on the service (docs/experiments.md)."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@allow_files_option
@service_options
@click.option(
    "--key",
    help="Idempotency key: sending the same file again with the same key starts nothing new.",
)
@click.option(
    "--wait", is_flag=True, help="Follow the experiment to its end, and print what to buy."
)
@json_option
def start(
    file: Path,
    *,
    allow_files: tuple[Path, ...],
    url: str | None,
    stack: str | None,
    key: str | None,
    wait: bool,
    as_json: bool,
) -> int:
    """Start the experiment of FILE, and print its id."""
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    asked = read_file(file, allow_files)
    if not isinstance(asked, CheckedExperiment):
        raise UsageError(
            f"{file}: has no `axes`, so it is not an experiment: plimsoll submit {file}"
        )
    return start_experiment(connect_service(url, stack), asked, key, wait=wait, as_json=as_json)


def start_experiment(
    service: Service, asked: CheckedExperiment, key: str | None, *, wait: bool, as_json: bool
) -> int:
    """Start an experiment and print its id; with `wait`, follow it. Returns the exit code."""
    started = service.start_experiment(asked.experiment, key)
    if wait:
        click.echo(f"{started.name}  {started.experiment_id}", err=True)
        return _watch(service, started.experiment_id, as_json=as_json)
    if as_json:
        click.echo(started.model_dump_json())
    else:
        click.echo(f"{started.name}  {started.experiment_id}")
    return 0


@command.command()
@click.argument("experiment_id")
@service_options
@json_option
def status(experiment_id: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Print where EXPERIMENT_ID and its runs stand. The exit code is 0; `watch` judges."""
    experiment = connect_service(url, stack).experiment(experiment_id)
    if as_json:
        click.echo(experiment.model_dump_json(indent=2))
    elif experiment.result is not None:
        print_experiment(experiment.result, as_json=False)
    else:
        _print_cells(experiment)
    return 0


def _print_cells(experiment: ExperimentDetail) -> None:
    done = f"{experiment.ended} of {words.format_count(len(experiment.cells), 'run')} done"
    click.echo(f"{experiment.record.name}  {experiment.record.state}, {done}")
    for cell in experiment.cells:
        state = "waits" if cell.state is None else str(cell.state)
        phase = f", {cell.phase} phase" if cell in experiment.running else ""
        click.echo(f"  {cell.name}  {state}{phase}  {cell.verdict or ''}".rstrip())


@command.command()
@click.argument("experiment_id")
@service_options
@json_option
def watch(experiment_id: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Follow EXPERIMENT_ID to its end, and print what to buy.

    Ctrl-C ends the watching, not the experiment. Exit code 1: it failed. 3: a question got no
    answer.
    """
    return _watch(connect_service(url, stack), experiment_id, as_json=as_json)


def _watch(service: Service, experiment_id: str, *, as_json: bool) -> int:
    from plimsoll.client.remote_runs import POLL_S

    with ExperimentProgress() as progress:
        try:
            experiment = service.experiment(experiment_id)
            progress.show(experiment)
            while not experiment.record.state.ended:
                time.sleep(POLL_S)
                experiment = service.experiment(experiment_id)
                progress.show(experiment)
        except KeyboardInterrupt:
            command_line = f"plimsoll experiment stop {experiment_id}"
            progress.say(f"interrupted: {experiment_id} goes on; `{command_line}` stops it")
            return 130
    if experiment.result is None:
        failure = experiment.record.failure
        why = f": {failure.cause}" if failure else ", and left no result"
        raise PlimsollError(f"{experiment_id} ended {experiment.record.state}{why}")
    print_experiment(experiment.result, as_json=as_json)
    return choose_exit_code_of_experiment(experiment.result)


@command.command()
@click.argument("experiment_id")
@service_options
@json_option
def stop(experiment_id: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Stop every run of EXPERIMENT_ID and have their targets deleted."""
    record = connect_service(url, stack).stop_experiment(experiment_id)
    if as_json:
        click.echo(record.model_dump_json(indent=2))
    else:
        click.echo(f"{experiment_id} is {record.state}")
    return 0
