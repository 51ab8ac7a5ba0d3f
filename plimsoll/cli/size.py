"""`plimsoll size`: what to buy for a load, predicted from what a run measured."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import click

from plimsoll import words
from plimsoll.cli.exit_codes import FAILURE, MET, NO_ANSWER, NOT_SURE
from plimsoll.cli.options import NumberRange, WholeRange, tell_new_name
from plimsoll.cli.output import console, make_table, print_figures
from plimsoll.errors import NoGroundError, PlimsollError, UsageError
from plimsoll.files import resolve_links, write_whole
from plimsoll.load_line.options import parse_limits_us, split_limits
from plimsoll.model.aws.prices import HOME_REGION
from plimsoll.model.clouds.volume_rules import Cloud
from plimsoll.model.judging.steps import Statistic

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from plimsoll.model.aws.prices import PriceTable
    from plimsoll.model.run.results import RunResult
    from plimsoll.quoting.cloud_prices import CloudPrices
    from plimsoll.report.tables import ReportTable
    from plimsoll.sizing.answer import Confirmed, Sizing
    from plimsoll.sizing.from_run import Measured


# Options.


AnyCommand = TypeVar("AnyCommand", bound=Callable[..., Any])
_SHARE = re.compile(r"(\d{1,2}(?:\.\d{1,3})?) ?%", re.ASCII)


def parse_limits(result: RunResult, given: tuple[str, ...]) -> dict[str, float]:
    """Parse `--limit`; without any, return the limits by which the run was judged.

    Raises:
        UsageError: A limit is invalid, or an operation has none.
    """
    from plimsoll.workflow.past import find_judged_limits_us, list_run_operations

    operations = list_run_operations(result)
    known = (
        parse_limits_us(split_limits(given), operations) if given else find_judged_limits_us(result)
    )
    lacking = [name for name in operations if name not in known]
    if lacking:
        example = " ".join(f"--limit {name}=20ms" for name in lacking)
        raise UsageError(
            f"--limit: none for {', '.join(lacking)}: write {example}, or --limit 20ms"
        )
    return known


def parse_share(text: str) -> float:
    """Parse `--headroom` and return it as a share.

    Raises:
        UsageError: It is invalid.
    """
    found = _SHARE.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--headroom: {text!r} is not a share below 100 %: write 30%")
    return float(found[1]) / 100


def add_price_options(command: AnyCommand) -> AnyCommand:
    """Give a command the options `--region` and `--prices`, which `find_prices` takes."""
    region = click.option(
        "--region",
        help=f"AWS region of the prices. Default: the region of --prices, or {HOME_REGION}.",
    )
    prices = click.option(
        "--prices",
        "prices_file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Prices of the region, in a file that `plimsoll prices` wrote.",
    )
    return region(prices(command))


def find_prices(region: str | None, file: Path | None) -> PriceTable:
    """Return a region's prices.

    Args:
        region: The region; None for that of the file, or of the built-in prices.
        file: A file as `plimsoll prices` writes it.

    Raises:
        UsageError: There are no prices for the region, or the file is of another one.
    """
    from plimsoll.model.aws.prices import PriceOverrides
    from plimsoll.quoting.prices import override_prices
    from plimsoll.report.folder import read_model

    if file is None:
        if region not in {None, HOME_REGION}:
            raise UsageError(
                f"--region: no prices of {region} are here, only those of {HOME_REGION}: write them"
                f" with `plimsoll prices --region {region}`, and give the file with --prices"
            )
        return override_prices(PriceOverrides())
    overrides = read_model(file, PriceOverrides)
    if region not in {None, overrides.region}:
        raise UsageError(f"--region: {region}, and the prices of --prices are {overrides.region}'s")
    return override_prices(overrides)


# Output: measurements are plain, predictions are dim and marked.


SHOWN = 10  # options, unless all are requested
LEFT = {"", "target", "binds first", "next", "latency under this load"}  # left-aligned columns


def print_sizing(answer: Sizing, *, whole: bool) -> None:
    """Print the answer: sentence, ranking, impossible targets and assumptions."""
    from plimsoll.quoting.cloud_prices import describe_age
    from plimsoll.report.size_tables import (
        MARKED,
        describe_further,
        describe_question,
        make_demands_table,
        make_options_table,
    )

    shown = console()
    if answer.warning is not None:
        _say(shown, f"Warning: {answer.warning}")
    for text in answer.clouds.assumptions if answer.clouds else ():
        _say(shown, f"assumed: {text}")
    _say(shown, answer.sentence)
    _say(shown, describe_question(answer))
    shown.print()
    if answer.as_of is not None:
        _say(shown, f"the oldest price: {describe_age(answer.as_of, datetime.now(UTC).date())}")
    if answer.clouds is not None:
        _print_clouds(shown, answer, whole=whole)
        return
    rows = answer.options if whole else answer.options[:SHOWN]
    if rows:
        print_figures(shown, _make_table(make_options_table(rows)))
    if len(rows) < len(answer.options):
        more = len(answer.options) - len(rows)
        _say(shown, f"and {words.format_count(more, 'more target')}, with --all or --json")
    if failing := [option for option in answer.measured if option.outlook != "carries"]:
        _say(shown, "\nMeasured, and not known to carry the load:")
        print_figures(shown, _make_table(make_options_table(failing)))
    for line in describe_further(answer):
        _say(shown, line)
    _say(shown, "\nCost of an operation, by number of concurrent operations:")
    print_figures(shown, _make_table(make_demands_table(answer)))
    _say(shown, f"\n{MARKED}. Assumptions:")
    for text in answer.assumptions:
        _say(shown, f"- {text}")


def _print_clouds(shown: Console, answer: Sizing, *, whole: bool) -> None:
    """Print the rankings of several clouds: managed databases, and machines with disks."""
    from plimsoll.report.size_tables import MARKED, list_managed_options, make_clouds_table, shorten

    assert answer.clouds is not None  # noqa: S101 - the caller has looked
    today = datetime.now(UTC).date()
    for title, options in (
        ("Managed databases:", list_managed_options(answer)),
        ("Machines with disks:", [*answer.clouds.machines]),
    ):
        _say(shown, f"\n{title}")
        rows = options if whole else shorten(options, SHOWN)
        if rows:
            made = make_clouds_table(rows, answer.region, answer.as_of, today)
            print_figures(shown, _make_table(made))
        else:
            _say(shown, "none carries this")
        if len(rows) < len(options):
            more = len(options) - len(rows)
            _say(shown, f"and {words.format_count(more, 'more target')}, with --all or --json")
    _say(shown, f"\n{MARKED}; {words.NOTHING} is a price that is not known")


def _say(shown: Console, text: str) -> None:
    shown.print(text, markup=False, highlight=False, soft_wrap=not shown.is_terminal)


def _make_table(made: ReportTable) -> Table:
    table = make_table(*made.columns, right=set(made.columns) - LEFT)
    for row in made.rows:
        style = "dim" if row[0].kind == "predicted" else None
        table.add_row(*(cell.text for cell in row), style=style)
    return table


@click.command("size")
@click.argument("run_folder", metavar="[RUN]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--want",
    type=NumberRange(min=0, min_open=True),
    metavar="OPS/S",
    help="Load to carry, in operations per second.",
)
@click.option(
    "--limit",
    "limits",
    multiple=True,
    metavar="[OPERATION=]LATENCY",
    help="Latency limit of an operation: read=5ms. Default: the limits that the run was judged by.",
)
@click.option(
    "--statistic",
    type=click.Choice(get_args(Statistic)),
    help="Latency statistic that the limit applies to. Default: p99; without --limit, the run's"
    " own.",
)
@click.option(
    "--headroom",
    default="30%",
    show_default=True,
    metavar="SHARE",
    help="Share of the load line to keep free.",
)
@click.option(
    "--growth",
    metavar="TIMES",
    help="Expected growth of the load, to compute how long the target suffices: 2x/year, 30%/year,"
    " 3%/month.",
)
@click.option(
    "--horizon",
    metavar="TIME",
    help="Also say what carries the load after this time of --growth: 2y, 18months.",
)
@click.option(
    "--size-gib",
    type=WholeRange(1, 65_536),
    metavar="GIB",
    help="Size of the smallest volume that holds the data. Default: the run's.",
)
@add_price_options
@click.option(
    "--confirm",
    is_flag=True,
    help="Confirm the answer on this machine: measure one or two runs next to the predicted"
    " boundary.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE.html",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the answer also as a page.",
)
@click.option(
    "--clouds",
    multiple=True,
    type=click.Choice(["all", *get_args(Cloud)]),
    help="Rank the machines and databases of these clouds too; repeatable.",
)
@click.option(
    "--rate",
    "rate_texts",
    multiple=True,
    metavar="CURRENCY=UNITS",
    help="With --clouds: how many units of a currency a dollar costs, such as CNY=7.1. Without it,"
    " targets priced in that currency come last.",
)
@click.option(
    "--cloud-prices",
    "cloud_prices_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="With --clouds: prices of other clouds, in a file that `plimsoll prices --cloud` wrote;"
    " they precede the built-in ones.",
)
@click.option(
    "--all", "whole", is_flag=True, help="Print every target that carries the load, or may."
)
@click.option(
    "--observe",
    "dsn",
    metavar="DSN",
    help="Old name of `plimsoll observe DSN`.",
)
@click.option("--for", "for_text", metavar="TIME", help="With --observe: how long.")
@click.option(
    "--line",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="With --observe: run whose load line production is compared with.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(
    run_folder: Path | None,
    *,
    want: float | None,
    dsn: str | None,
    for_text: str | None,
    line: Path | None,
    limits: tuple[str, ...],
    statistic: Statistic | None,
    headroom: str,
    growth: str | None,
    horizon: str | None,
    size_gib: int | None,
    region: str | None,
    prices_file: Path | None,
    confirm: bool,
    output: Path | None,
    clouds: tuple[str, ...],
    rate_texts: tuple[str, ...],
    cloud_prices_file: Path | None,
    whole: bool,
    as_json: bool,
) -> int:
    """Say what to buy so that a load is carried, from the one run RUN.

    RUN is its folder, or its id, which is searched for in plimsoll-results/.

    The model of docs/sizing.md predicts every volume type and instance class with a price. A target
    carries the load if the low end of its interval suffices, and may carry it if the high end does.
    Those that carry it are ranked by their price a month, then the cheaper ones that may, each with
    the resource that limits it first. Predictions are marked; RUN and the runs that --confirm has
    made (in RUN/sizing/) are measured.

    Exit code 1: nothing carries it. 3: the run's figures are doubtful; or with --confirm, nothing
    that was measured carries it. 4: nothing surely carries it, but something may.
    """
    from plimsoll.report.folder import SIZING
    from plimsoll.sizing.rank import Wish, parse_growth, parse_horizon
    from plimsoll.sizing.size import size
    from plimsoll.workflow.past import find_volume_gib

    if dsn is not None:
        more = run_folder is not None or want is not None
        return _observe(dsn, for_text, line, asked_more=more, as_json=as_json)
    if run_folder is None or want is None or for_text or line:
        raise UsageError(
            "needs RUN and --want OPS/S; --for and --line belong to `plimsoll observe DSN`, or to"
            " its old name --observe DSN"
        )
    if output is not None and output.suffix.lower() != ".html":
        raise UsageError(f"-o {output}: must end in .html")
    run_folder = _find_run_folder(run_folder)
    result = _read_result(run_folder)
    asked = statistic or ("p99" if limits else result.request.limits.statistic)
    limit_us = parse_limits(result, limits)
    wish = Wish(want, limit_us, parse_share(headroom), size_gib or find_volume_gib(result))
    grows = None if growth is None else parse_growth(growth, "--growth")
    ahead_years = None if horizon is None else parse_horizon(horizon, "--horizon")
    if ahead_years is not None and grows is None:
        raise UsageError("--horizon: needs --growth, such as --growth 50%/year")
    prices = find_prices(region, prices_file)
    _refuse_link(run_folder / SIZING)
    other_prices, rates = _read_cloud_options(clouds, rate_texts, cloud_prices_file)
    runs = {
        words.escape_controls(run_folder.name or str(run_folder)): _extract_measured(
            run_folder, result, asked, limit_us
        )
    }
    runs |= _read_confirmations(run_folder / SIZING, asked, limit_us)
    confirmed: tuple[Confirmed, ...] = ()
    if confirm:
        from plimsoll.cli.size_confirm import confirm_prediction

        if not result.local:
            raise UsageError("--confirm: measures on this machine, and the run was on AWS")

        def read(folder: Path) -> Measured:
            return _extract_measured(folder, _read_result(folder), asked, limit_us)

        runs, confirmed = confirm_prediction(runs, wish, prices, run_folder / SIZING, read)
    answer = size(
        runs,
        wish,
        prices,
        statistic=asked,
        today=datetime.now(UTC).date(),
        times_per_year=grows,
        horizon_years=ahead_years,
        confirmed=confirmed,
        clouds=[cloud for cloud in get_args(Cloud) if {"all", cloud} & set(clouds)],
        cloud_prices=other_prices,
        rates=rates,
    )
    _write_sizing(answer, run_folder / SIZING)
    if output is not None:
        _write_page(answer, output)
    if as_json:
        click.echo(answer.model_dump_json(indent=2))
    else:
        print_sizing(answer, whole=whole)
    return _exit_code(answer, confirm=confirm)


def _refuse_link(folder: Path) -> None:
    """Refuse a folder of a run, which somebody else may have made, that leads elsewhere.

    Raises:
        UsageError: It is a link out of its run's folder.
    """
    if resolve_links(folder).parent != resolve_links(folder.parent):
        raise UsageError(f"RUN: {folder}: is a link to {resolve_links(folder)}: remove it")


def _read_cloud_options(
    clouds: tuple[str, ...], rate_texts: tuple[str, ...], prices_file: Path | None
) -> tuple[CloudPrices, dict[str, float]]:
    """Return the prices of other clouds, and how many units of a currency a dollar costs.

    Raises:
        UsageError: The options belong to `--clouds`, or a rate or the file is invalid.
    """
    from plimsoll.quoting.cloud_prices import CloudPrices, parse_rate, read_cloud_prices
    from plimsoll.report.folder import read_model

    if (rate_texts or prices_file) and not clouds:
        raise UsageError("--rate and --cloud-prices: belong to --clouds")
    prices = read_cloud_prices()
    if prices_file is not None:
        prices = prices.prepend(read_model(prices_file, CloudPrices))
    return prices, dict(parse_rate(text) for text in rate_texts)


def _observe(
    dsn: str, for_text: str | None, line: Path | None, *, asked_more: bool, as_json: bool
) -> int:
    from plimsoll.cli.observing import observe

    if asked_more:
        raise UsageError("--observe: cannot be combined with RUN and --want; --line RUN compares")
    tell_new_name("size --observe", "observe")
    return observe(dsn, for_text, line, as_json, "--observe")


def _read_confirmations(
    folder: Path, statistic: Statistic, limit_us: dict[str, float]
) -> dict[str, Measured]:
    """Read the runs that confirm predictions; skip those without usable figures."""
    from plimsoll.report.folder import list_run_folders

    found = {}
    for made in sorted(list_run_folders(folder), key=_find_folder_number):
        result = _read_result(made)
        if result.failure is not None:
            _tell(f"left out: {made}: the run failed: {result.failure.cause}")
            continue
        try:
            found[f"{folder.name}/{made.name}"] = _extract_measured(
                made, result, statistic, limit_us
            )
        except (NoGroundError, UsageError) as error:
            _tell(f"left out: {error}")
    return found


def _write_sizing(answer: Sizing, folder: Path) -> None:
    """Write the answer beside its run, for the run's page; not into a folder that is not ours."""
    from plimsoll.report.folder import ANSWER

    try:
        folder.mkdir(exist_ok=True)
        write_whole(folder / ANSWER, answer.model_dump_json(indent=1))
    except (OSError, PlimsollError) as error:
        _tell(f"not kept for the run's page: {error}")


def _tell(text: str) -> None:
    """Print a line on standard error; it may repeat a file's name or text."""
    click.echo(words.escape_controls(text), err=True)


def _write_page(answer: Sizing, output: Path) -> None:
    from plimsoll.report.size_page import render_sizing

    write_whole(output, render_sizing(answer))


def _find_folder_number(folder: Path) -> int:
    return int(folder.name) if folder.name.isdigit() else 0


def _exit_code(answer: Sizing, *, confirm: bool) -> int:
    if not answer.options:
        return FAILURE
    if confirm and not any(option.status == "measured" for option in answer.options):
        return NO_ANSWER
    return MET if answer.options[0].outlook == "carries" else NOT_SURE


def _find_run_folder(run: Path) -> Path:
    """Find the folder of a run by its id, if no folder has that name."""
    from plimsoll.cli.run_experiment import RESULTS
    from plimsoll.report.folder import find_newest_runs, read_run_id

    if run.exists() or run.name != str(run):
        return run
    return next(
        (folder for folder in find_newest_runs(RESULTS) if read_run_id(folder) == str(run)), run
    )


def _read_result(folder: Path) -> RunResult:
    """Read the run in a folder.

    Raises:
        UsageError: There is no run in it, or there are several.
    """
    from plimsoll.cli.run_experiment import RESULTS
    from plimsoll.model.run.results import RunResult
    from plimsoll.report.folder import RESULT, list_run_folders, read_model

    if not folder.is_dir():
        raise UsageError(f"RUN: {folder}: there is no such folder, nor run in {RESULTS}/")
    if not (folder / RESULT).is_file():
        several = ", ".join(run.name for run in list_run_folders(folder))
        problem = f"name one of the runs in it: {several}" if several else f"it has no {RESULT}"
        raise UsageError(f"RUN: {folder}: {problem}")
    return read_model(folder / RESULT, RunResult)


def _extract_measured(
    folder: Path, result: RunResult, statistic: Statistic, limit_us: dict[str, float]
) -> Measured:
    """Extract from a run the measurements on which predictions are based.

    Raises:
        UsageError: The run measured too little; the message names its folder.
        NoGroundError: The run's figures are doubtful.
    """
    from plimsoll.workflow.past import extract_measured

    try:
        return extract_measured(result, statistic, limit_us)
    except (UsageError, NoGroundError) as error:
        raise type(error)(f"{folder}: {error}") from None
