"""Output of tables and files."""

from __future__ import annotations

import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from rich.box import Box
    from rich.console import Console
    from rich.table import Table

    from plimsoll.report.tables import ReportTable


Command = TypeVar("Command", bound=Callable[..., Any])


def console() -> Console:
    """Return a console for tables: as wide as the terminal, and unlimited without one."""
    from rich.console import Console

    if sys.stdout.isatty():
        return Console()
    return Console(width=max(200, shutil.get_terminal_size().columns))


def measure_terminal(*, err: bool = False) -> int | None:
    """Return the columns of the terminal on standard output, or error; None if it is a pipe."""
    stream = sys.stderr if err else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


def fold_line(text: str, indent: int, width: int | None) -> str:
    """Break a line at blanks where a terminal is too narrow for it.

    Args:
        text: The line.
        indent: How far its further lines are indented; the first has room for as much before it.
        width: The terminal's columns; None for a pipe, which gets the line whole.
    """
    if width is None:
        return text
    lines = textwrap.wrap(
        text, max(width - indent, 20), break_long_words=False, break_on_hyphens=False
    )
    return f"\n{' ' * indent}".join(lines)


def make_table(*columns: str, right: Collection[str] = (), box: Box | None = None) -> Table:
    """Return an empty table.

    Args:
        columns: The titles, from left to right.
        right: The titles of right-aligned columns, as for figures.
        box: The style of its lines; None for no lines.
    """
    from rich.table import Table

    table = Table(box=box, pad_edge=False, header_style="bold")
    for title in columns:
        table.add_column(title, justify="right" if title in right else "left")
    return table


def print_figures(console: Console, table: Table) -> None:
    """Print a table of figures without cutting them.

    Part of a figure is a wrong figure: rich would make "1,4…" of 1,413. On a terminal cells and
    titles are broken at blanks alone; columns for which it is too narrow follow below, each time
    beside the first column. A pipe gets the whole table.
    """
    if console.is_terminal:
        for part in split_table(console, table):
            console.print(part, crop=False)
        return
    from rich.measure import Measurement

    width = console.width
    unlimited = console.options.update(max_width=10_000)
    console.width = max(width, Measurement.get(console, unlimited, table).maximum)
    try:
        console.print(table)
    finally:
        console.width = width


def split_table(console: Console, table: Table) -> list[Table]:
    """Return a table in parts that fit the console; a single one if its words do."""
    from rich.measure import Measurement

    unlimited = console.options.update(max_width=10_000)
    gap = 1 if table.collapse_padding else 2
    gap += table.box is not None  # a divider
    least, most = [], []
    for column in table.columns:
        cells = [column.header, *column.cells]
        sizes = [Measurement.get(console, unlimited, cell) for cell in cells if cell] or [
            Measurement(1, 1)
        ]
        least.append(max(size.minimum for size in sizes))
        most.append(max(size.maximum for size in sizes))
    room = console.width - (table.box is not None)
    parts: list[list[int]] = []
    for index in range(len(table.columns)):
        if not parts or sum(least[i] + gap for i in [*parts[-1], index]) > room:
            parts.append([0] if parts else [])
        if index not in parts[-1]:
            parts[-1].append(index)
    tables = []
    for columns in parts:
        widths = _divide_width(room - gap * len(columns), columns, least, most)
        tables.append(_choose_columns(table, columns, widths))
    return tables


def _divide_width(room: int, columns: list[int], least: list[int], most: list[int]) -> list[int]:
    """Return the width of each column: the narrowest that lacks some gets the next character."""
    widths = [least[i] for i in columns]
    wanted = [most[i] for i in columns]
    while sum(widths) < room and widths != wanted:
        growing = (i for i in range(len(columns)) if widths[i] < wanted[i])
        widths[min(growing, key=lambda i: widths[i])] += 1
    return widths


def _choose_columns(table: Table, columns: list[int], widths: list[int]) -> Table:
    part = make_table(box=table.box)
    part.collapse_padding = table.collapse_padding
    for index, width in zip(columns, widths, strict=True):
        column = table.columns[index]
        part.add_column(column.header, justify=column.justify, width=width)
    cells = [list(table.columns[index].cells) for index in columns]
    for row, *values in zip(table.rows, *cells, strict=True):
        part.add_row(*values, style=row.style)
    return part


def print_report_table(shown: ReportTable) -> None:
    """Print a table of a report on standard output, with titles for groups of columns."""
    groups = [title for title, span in shown.groups for _ in range(span)]
    groups = groups or [""] * len(shown.columns)
    table = make_table(
        *(f"{g}: {c}" if g else c for g, c in zip(groups, shown.columns, strict=True))
    )
    for row in shown.rows:
        style = "dim" if row[0].kind == "predicted" else None
        table.add_row(*(cell.text for cell in row), style=style)
    print_figures(console(), table)


def out_option(what: str, default: str = "") -> Callable[[Command], Command]:
    """Add `--out`, a folder for the results of a verb; `refuse_used_folder` checks it.

    Args:
        what: "Folder for" and its content.
        default: The folder without `--out`; empty to write nothing then.
    """
    text = f"{what}; must be new or empty." + (f" Default: {default}." if default else "")
    return click.option("--out", type=click.Path(path_type=Path, file_okay=False), help=text)


def require_writable(directory: Path) -> None:
    """Check that results can be written into a folder, without leaving a trace.

    Raises:
        UsageError: The folder is not empty, or nothing can be written.
    """
    absent = [place for place in (directory, *directory.parents) if not place.exists()]
    try:
        refuse_used_folder(directory)
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as probe:
            probe.write(b"a result")
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"--out {directory}: cannot be written: {reason}") from None
    finally:
        for place in absent:  # created again once there are results
            with suppress(OSError):
                place.rmdir()


def refuse_used_folder(out: Path | None) -> None:
    """Refuse a folder for results that is not empty, before anything is requested.

    Raises:
        UsageError: The folder is not empty.
    """
    if out is not None and out.exists() and any(out.iterdir()):
        raise UsageError(f"--out {out}: this folder holds something already; use another")


def refuse_used_file(out: Path) -> None:
    """Refuse a file for results that exists, or whose folder does not.

    Raises:
        UsageError: The file cannot be created.
    """
    if out.exists():
        raise UsageError(f"--out {out}: is there already; use another name")
    if not out.absolute().parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
