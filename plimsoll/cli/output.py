"""How results are printed."""

import shutil
import sys

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table


def console() -> Console:
    """Standard output for tables: as wide as the terminal, and never cut where there is none."""
    if sys.stdout.isatty():
        return Console()
    return Console(width=max(200, shutil.get_terminal_size().columns))


def print_figures(console: Console, table: Table) -> None:
    """Print a table of figures, never cut: where a terminal is narrower, it wraps the rows.

    Half of a figure is a wrong figure: rich would make "1,4…" of 1,413.
    """
    width = console.width
    unlimited = console.options.update(max_width=10_000)
    console.width = max(width, Measurement.get(console, unlimited, table).maximum)
    try:
        console.print(table)
    finally:
        console.width = width
