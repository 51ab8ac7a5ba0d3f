"""`plimsoll size` on a terminal: measured is plain, predicted is dim and marked."""

from rich.console import Console
from rich.table import Table

from plimsoll import words
from plimsoll.cli.output import console, print_figures, table_of
from plimsoll.report.report_tables import ReportTable
from plimsoll.report.size_tables import (
    MARKED,
    asked_words,
    demands_table,
    further_lines,
    options_table,
)
from plimsoll.sizing.answer import Sizing

SHOWN = 10  # options, unless all are asked for
LEFT = {"", "target", "binds first", "next", "latency under this load"}  # columns of words


def print_sizing(answer: Sizing, *, whole: bool) -> None:
    """Print the answer: the sentence, the ranking, what cannot be, and what is assumed."""
    shown = console()
    _say(shown, answer.sentence)
    _say(shown, asked_words(answer))
    shown.print()
    rows = answer.options if whole else answer.options[:SHOWN]
    if rows:
        print_figures(shown, _table(options_table(rows)))
    if len(rows) < len(answer.options):
        more = len(answer.options) - len(rows)
        _say(shown, f"and {words.plural(more, 'more target')}: --all, or --json")
    if failing := [option for option in answer.measured if not option.carries]:
        _say(shown, "\nMeasured, and does not carry it:")
        print_figures(shown, _table(options_table(failing)))
    for line in further_lines(answer):
        _say(shown, line)
    _say(shown, "\nWhat an operation takes, by operations under way:")
    print_figures(shown, _table(demands_table(answer)))
    _say(shown, f"\n{MARKED}. It takes for granted:")
    for text in answer.assumptions:
        _say(shown, f"- {text}")


def _say(shown: Console, text: str) -> None:
    shown.print(text, markup=False, highlight=False, soft_wrap=True)


def _table(made: ReportTable) -> Table:
    table = table_of(*made.columns, right=set(made.columns) - LEFT)
    for row in made.rows:
        style = "dim" if row[0].kind == "predicted" else None
        table.add_row(*(cell.text for cell in row), style=style)
    return table
