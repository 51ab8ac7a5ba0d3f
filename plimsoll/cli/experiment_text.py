"""How an experiment is printed."""

import json

import click
from rich.table import Table as TerminalTable

from plimsoll.cli.output import console
from plimsoll.model.experiment_record import ExperimentResult
from plimsoll.report.experiment_page import cells_table, gains_table, matrix_table
from plimsoll.report.report_tables import ReportTable


def print_experiment(result: ExperimentResult, *, as_json: bool) -> None:
    """Print an experiment's cells, what IOPS gained and what to buy."""
    if as_json:
        click.echo(json.dumps(result.model_dump(mode="json"), indent=2))
        return
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


def _print(title: str, shown: ReportTable) -> None:
    click.echo(f"\n{title}")
    table = TerminalTable(*shown.columns, box=None, pad_edge=False, header_style="bold")
    for row in shown.rows:
        table.add_row(*(cell.text for cell in row))
    console().print(table)
