"""`plimsoll compare`: compares runs, and tells whether they differ at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.options import NumberRange
from plimsoll.cli.output import console, print_report_table
from plimsoll.errors import UsageError
from plimsoll.files import write_whole

if TYPE_CHECKING:
    from plimsoll.report.comparing.comparing import Comparison
    from plimsoll.report.experiment.choice import Matrix
    from plimsoll.report.published import Against


@click.command("compare")
@click.argument("folders", metavar="DIR...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the comparison also as a page.",
)
@click.option(
    "--usd-per-hour",
    multiple=True,
    type=NumberRange(min=0, min_open=True),
    metavar="USD",
    help="Price of each target per hour; once per run, in the order of the runs.",
)
@click.option(
    "--with",
    "published",
    metavar="FILE.csv",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Compare the runs with published figures, such as reference/r1.csv: shapes of the curves,"
    " knees and ratios.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(
    *,
    folders: tuple[Path, ...],
    output: Path | None,
    usd_per_hour: tuple[float, ...],
    published: Path | None,
    as_json: bool,
) -> None:
    """Compare finished runs: capacities with their ratio, latency at equal load, cost.

    A folder with several runs, as an experiment has, stands for all of them. With --with FILE.csv
    one run is enough: it is compared with published figures.
    """
    from plimsoll.report import compare_page
    from plimsoll.report.comparing.comparing import compare_runs
    from plimsoll.report.experiment.choice import build_matrix
    from plimsoll.report.folder import list_run_folders, read_run
    from plimsoll.report.published import compare_with_published, read_reference

    folders = tuple(run for folder in folders for run in list_run_folders(folder) or [folder])
    if len(folders) < (1 if published else 2):
        raise UsageError("compare: give at least two folders of runs")
    if usd_per_hour and len(usd_per_hour) != len(folders):
        raise UsageError(
            f"--usd-per-hour: {len(usd_per_hour)} given for {len(folders)} runs; one each"
        )
    if output is not None and output.suffix.lower() != ".html":
        raise UsageError(f"-o {output}: must end in .html")
    results = [read_run(folder)[0] for folder in folders]
    comparison = compare_runs(results, usd_per_hour)
    decision = build_matrix(results, usd_per_hour)
    laid = None
    if published is not None:
        names = [line.label for line in comparison.runs]
        laid = compare_with_published(read_reference(published), results, names)
    if output is not None:
        write_whole(output, compare_page.render_comparison(results, comparison, decision, laid))
    if as_json:
        whole = comparison.model_dump(mode="json")
        whole["matrix"] = decision and decision.model_dump(mode="json")
        whole["against"] = laid and laid.model_dump(mode="json")
        click.echo(json.dumps(whole, indent=2))
        return
    _print_comparison(comparison, decision)
    if laid is not None:
        _print_published(laid)
    if output is not None:
        click.echo(f"\n{words.escape_controls(str(output))}")


def _print_comparison(comparison: Comparison, decision: Matrix | None) -> None:
    from plimsoll.report import compare_page
    from plimsoll.report.comparing.fresh_targets import make_fresh_table

    print_report_table(compare_page.make_runs_table(comparison))
    if any(line.interval is not None for line in comparison.runs):
        click.echo(f"95 % interval: {words.INTERVAL_COVERS}.")
    if (fresh := make_fresh_table(comparison.fresh)) is not None:
        click.echo("\nOver fresh targets")
        print_report_table(fresh)
    if (loads := compare_page.make_loads_table(comparison)) is not None:
        click.echo("\nLatency at equal load")
        print_report_table(loads)
    if decision is not None:
        click.echo("\nWhat to buy")
        for row in decision.rows:
            click.echo(f"  {row.workload}: {row.decision}")
    click.echo("")
    shown = console()
    for sentence in (*comparison.sentences, *comparison.warnings):
        shown.print(sentence, markup=False, highlight=False, soft_wrap=not shown.is_terminal)


def _print_published(laid: Against) -> None:
    from plimsoll.report.published import MULTIPLES, NEVER_ABSOLUTE, make_shape_table

    click.echo(f"\n{laid.title}\n{NEVER_ABSOLUTE}")
    for shape in laid.shapes:
        click.echo(f"\n{shape.published} as published, {shape.measured} as measured: {MULTIPLES}")
        print_report_table(make_shape_table(shape))
    for sentence in laid.sentences:
        click.echo(sentence)
    click.echo("\nDoubts about the published figures")
    for doubt in laid.doubts:
        click.echo(f"  {doubt}")
