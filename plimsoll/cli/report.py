"""`plimsoll report`: a finished run as a page, a picture or a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.options import NumberRange
from plimsoll.errors import UsageError
from plimsoll.files import write_whole

if TYPE_CHECKING:
    from plimsoll.report.charts.theme import Theme


FORMATS = ("html", "pdf", "png", "svg", "csv")


@click.command("report")
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write; its suffix chooses the format: .html, .pdf, .png, .svg or .csv. PDF and"
    " PNG need Chromium.  [default: DIR/report.html]",
)
@click.option(
    "--pdf", is_flag=True, help="Write the page as PDF, to DIR/report.pdf unless -o is given."
)
@click.option(
    "--usd-per-hour",
    type=NumberRange(min=0, min_open=True),
    metavar="USD",
    help="Price of the target per hour; adds dollars per million operations.",
)
@click.option(
    "--dark",
    is_flag=True,
    help="Use dark colors in a picture; a page follows the reader's setting.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the list of written files as JSON.")
def command(
    *,
    folder: Path,
    output: Path | None,
    pdf: bool,
    usd_per_hour: float | None,
    dark: bool,
    as_json: bool,
) -> None:
    """Write the report of the finished run in DIR.

    The page includes the last answer of `plimsoll size DIR`.
    """
    from plimsoll.report import chromium
    from plimsoll.report.folder import read_run, read_sizing
    from plimsoll.report.page import render_run
    from plimsoll.report.pictures import draw_run
    from plimsoll.report.tables import write_steps_csv

    path = output or folder / ("report.pdf" if pdf else "report.html")
    file_format = path.suffix.removeprefix(".").lower()
    if file_format not in FORMATS:
        raise UsageError(f"-o {path}: must end in .html, .pdf, .png, .svg or .csv")
    if pdf and file_format != "pdf":
        raise UsageError(f"-o {path}: must end in .pdf with --pdf")
    look: Theme = "dark" if dark else "light"
    result, seconds = read_run(folder)
    match file_format:
        case "csv":
            content = write_steps_csv(result).encode()
        case "png" | "svg":
            drawn = draw_run(result, seconds, look=look, usd_per_hour=usd_per_hour)
            content = drawn.svg.encode()
            if file_format == "png":
                content = chromium.draw_png(drawn.svg, drawn.width_px, drawn.height_px)
        case _:
            sizing = read_sizing(folder)
            page = render_run(result, seconds, usd_per_hour=usd_per_hour, sizing=sizing)
            content = chromium.print_pdf(page) if file_format == "pdf" else page.encode()
    write_whole(path, content)
    if as_json:
        written = {"file": str(path), "format": file_format, "bytes": len(content)}
        click.echo(json.dumps(written))
    else:
        click.echo(words.escape_controls(str(path)))
