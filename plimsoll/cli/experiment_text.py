"""A finished experiment on a terminal."""

import json

import click

from plimsoll.cli.output import print_report_table
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.report.experiment_page import cells_table, gains_table, matrix_table
from plimsoll.report.factorial_table import factorials_table
from plimsoll.report.phase_tables import phases_table


def print_experiment(result: ExperimentResult, *, as_json: bool) -> None:
    """Print an experiment's cells, what IOPS gained and what to buy."""
    if as_json:
        click.echo(json.dumps(result.model_dump(mode="json"), indent=2))
        return
    click.echo(f"\n{result.name}, {result.state.value}")
    print_report_table(cells_table(result))
    if result.failure is not None:
        click.echo(f"It ended {result.state.value}: {result.failure.cause}")
    if (gains := gains_table(result)) is not None:
        click.echo("\nWhat each step up in IOPS gained")
        print_report_table(gains)
        for gain in result.gains:
            click.echo(f"  {gain.question}: {gain.sentence}")
    if (phases := phases_table(result)) is not None:
        click.echo("\nPhases to completion, records/s")
        print_report_table(phases)
    if (factorials := factorials_table(result.factorials)) is not None:
        click.echo("\nWhat one axis gains, and on what that depends")
        print_report_table(factorials)
        for each in result.factorials:
            click.echo(f"  {each.question}: {each.sentence}")
    if result.warnings:
        click.echo("\nWithout an answer")
        for warning in result.warnings:
            click.echo(f"  {warning}")
    click.echo("\nWhat to buy")
    print_report_table(matrix_table(result))
