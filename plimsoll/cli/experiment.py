"""`plimsoll experiment`: matrices of runs on the service."""

import time
from pathlib import Path

import click

from plimsoll import words
from plimsoll.cli.exit_codes import exit_code_of_experiment
from plimsoll.cli.experiment_progress import ExperimentProgress
from plimsoll.cli.experiment_text import print_experiment
from plimsoll.cli.service_calls import connect, json_option, service_options
from plimsoll.client.remote_watch import POLL_S
from plimsoll.client.service_client import Service
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.model.experiment import Experiment
from plimsoll.model.experiment_record import ExperimentDetail
from plimsoll.requests.experiment_file import read_file


@click.group("experiment")
def command() -> None:
    """Start, watch or stop a matrix of runs on the service (docs/experiments.md)."""


@command.command()
@click.argument("file", type=click.Path(path_type=Path))
@service_options
@click.option("--key", help="Idempotency key: the same key and file are one experiment.")
@click.option("--wait", is_flag=True, help="Watch it to its end, and print what to buy.")
@json_option
def start(
    file: Path, *, url: str | None, stack: str | None, key: str | None, wait: bool, as_json: bool
) -> int:
    """Start the experiment of FILE, and print its id."""
    experiment = read_file(file)
    if not isinstance(experiment, Experiment):
        raise UsageError(f"{file}: has no `axes`, so it is no experiment: plimsoll submit {file}")
    service = connect(url, stack)
    started = service.start_experiment(experiment, key)
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
    """Say where EXPERIMENT_ID and its runs stand. Exit code 0 whatever it is: `watch` judges."""
    experiment = connect(url, stack).experiment(experiment_id)
    if as_json:
        click.echo(experiment.model_dump_json(indent=2))
    elif experiment.result is not None:
        print_experiment(experiment.result, as_json=False)
    else:
        _print_cells(experiment)
    return 0


def _print_cells(experiment: ExperimentDetail) -> None:
    done = f"{experiment.ended} of {words.plural(len(experiment.cells), 'run')} done"
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
    return _watch(connect(url, stack), experiment_id, as_json=as_json)


def _watch(service: Service, experiment_id: str, *, as_json: bool) -> int:
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
    return exit_code_of_experiment(experiment.result)


@command.command()
@click.argument("experiment_id")
@service_options
@json_option
def stop(experiment_id: str, *, url: str | None, stack: str | None, as_json: bool) -> int:
    """Stop every run of EXPERIMENT_ID and have their targets deleted."""
    record = connect(url, stack).stop_experiment(experiment_id)
    if as_json:
        click.echo(record.model_dump_json(indent=2))
    else:
        click.echo(f"{experiment_id} is {record.state}")
    return 0
