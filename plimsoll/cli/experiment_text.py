"""A finished experiment on a terminal."""

import json

import click

from plimsoll.cli.output import print_report_table
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.report.boundary_table import boundary_lines, boundary_table
from plimsoll.report.experiment_page import (
    cells_table,
    dataset_sentences,
    gains_table,
    matrix_table,
)
from plimsoll.report.factorial_table import factorials_table
from plimsoll.report.phase_tables import phases_table


def print_experiment(result: ExperimentResult, *, as_json: bool) -> None:
    """Print what to buy in one sentence, and what it rests on."""
    if as_json:
        click.echo(json.dumps(result.model_dump(mode="json"), indent=2))
        return
    click.echo(f"\n{result.name}, {result.state.value}")
    if result.failure is not None:
        click.echo(f"It ended {result.state.value}: {result.failure.cause}")
    click.echo(f"\n{result.answer}" if result.answer else "")
    _print_decision(result)
    if (gains := gains_table(result)) is not None:
        click.echo("\nWhat each step up in IOPS gained")
        print_report_table(gains)
    if (phases := phases_table(result)) is not None:
        click.echo("\nPhases")
        print_report_table(phases)
    _print_factorials(result)
    if toggles := [cell for cell in result.cells if cell.toggle]:
        click.echo("\nWhat the toggle does")
        for cell in toggles:
            click.echo(f"  {cell.name}: {cell.toggle}")
    for sentence in dataset_sentences(result):
        click.echo(sentence)
    if result.warnings:
        click.echo("\nWithout an answer")
        for warning in result.warnings:
            click.echo(f"  {warning}")
    click.echo("\nEvery run" if result.boundary else "\nEvery cell")
    print_report_table(cells_table(result))


def _print_decision(result: ExperimentResult) -> None:
    if result.boundary is None:
        print_report_table(matrix_table(result))
        return
    print_report_table(boundary_table(result.boundary))
    for line in boundary_lines(result.boundary):
        click.echo(line)


def _print_factorials(result: ExperimentResult) -> None:
    if (table := factorials_table(result.factorials)) is None:
        return
    click.echo("\nWhat one axis gains, and on what that depends")
    print_report_table(table)
    for each in result.factorials:
        click.echo(f"  {each.question}: {each.sentence}")
