"""`plimsoll quote`: the time and cost of a request, without creating anything."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import console, fold_line, make_table, print_figures
from plimsoll.cli.service_calls import connect_service, json_option, service_options

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from plimsoll.client.service_client import Service
    from plimsoll.model.aws.prices import PriceOverrides
    from plimsoll.model.run.quote import Amounts, ExperimentQuote, Quote, QuoteLine
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.checked_request import CheckedRequest


# Output: time by phase, money by item, and the assumptions.


CENT = 0.005  # items below one cent are added up in one line
AMOUNTS = ("time", "at least", "expected", "at most")


def print_quote(name: str, quote: Quote, console: Console) -> None:
    """Print one run's quote."""
    version = f"version {quote.database_version}; " if quote.database_version else ""
    console.print(f"[bold]{name}[/]  {version}{_describe_price_dates(quote)}", highlight=False)
    print_figures(console, _make_times_table(quote))
    print_figures(console, _make_money_table(quote.lines, quote.usd))
    _print_end(quote, console)


def print_experiment_quote(name: str, quote: ExperimentQuote, console: Console) -> None:
    """Print an experiment's quote: each run's time and cost, and the total cost by item."""
    console.print(f"[bold]{name}[/]  {_describe_price_dates(quote)}", highlight=False)
    table = make_table(
        "run", "time", "at most", "at least", "expected", "at most", "", right=AMOUNTS
    )
    for dataset in quote.datasets:
        shared = f"with its snapshot, for {words.format_count(dataset.runs, 'run')}"
        usd = _add_if_known([dataset.quote.usd, dataset.snapshot.usd])
        times = _format_expected_and_most(dataset.quote.time_s)
        table.add_row(dataset.name, *times, *_format_usd(usd), shared)
    for cell in quote.cells:
        table.add_row(
            cell.name,
            *_format_expected_and_most(cell.quote.time_s),
            *_format_usd(cell.quote.usd),
            "",
        )
    runs = words.format_count(len(quote.cells), "run")
    batches = words.format_count(quote.batches, "batch", "batches")
    order = f"{runs} in {batches}, {quote.at_once} at once"
    table.add_row(
        "in all", *_format_expected_and_most(quote.time_s), *_format_usd(quote.usd), order
    )
    print_figures(console, table)
    print_figures(console, _make_money_table(_add_items(quote), quote.usd))
    _print_end(quote, console)


def _describe_price_dates(quote: Quote | ExperimentQuote) -> str:
    from plimsoll.quoting.cloud_prices import describe_age

    if quote.as_of is None:
        return ""
    age = describe_age(quote.as_of, datetime.now(UTC).date())
    return f"list prices of {quote.region}, the oldest of {age}"


def _print_end(quote: Quote | ExperimentQuote, console: Console) -> None:
    if quote.usd is None:
        lacking = ", ".join(quote.missing)
        console.print(
            f"[bold]No sum[/]: no price is known for {lacking}."
            " `plimsoll prices` reads AWS's own list (docs/costs.md).",
            highlight=False,
            soft_wrap=not console.is_terminal,
        )
    for note in quote.notes:
        folded = fold_line(note, 4, console.width if console.is_terminal else None)
        console.print(f"  {folded}", highlight=False, soft_wrap=True)


def _add_items(quote: ExperimentQuote) -> list[QuoteLine]:
    """Add up the items of all runs that have the same name and price."""
    from plimsoll.model.run.quote import add_amounts

    alike: dict[tuple[str, str], list[QuoteLine]] = {}
    lines = [line for cell in quote.cells for line in cell.quote.lines]
    for dataset in quote.datasets:
        lines += [*dataset.quote.lines, dataset.snapshot]
    for line in lines:
        alike.setdefault((line.what, line.price.name), []).append(line)
    return [
        lines[0].model_copy(
            update={
                "what": lines[0].what + (f", {len(lines)} runs" if len(lines) > 1 else ""),
                "quantity": add_amounts([line.quantity for line in lines]),
                "usd": _add_if_known([line.usd for line in lines]),
            }
        )
        for lines in alike.values()
    ]


def _add_if_known(parts: list[Amounts | None]) -> Amounts | None:
    from plimsoll.model.run.quote import add_amounts

    known = [part for part in parts if part is not None]
    return add_amounts(known) if len(known) == len(parts) else None


def _format_expected_and_most(time_s: Amounts) -> tuple[str, str]:
    return words.format_duration(time_s.expected), words.format_duration(time_s.most)


def _make_times_table(quote: Quote) -> Table:
    table = make_table("phase", "expected", "at most", "assuming", right=AMOUNTS)
    for phase in quote.phases:
        times = words.format_duration(phase.expected_s), words.format_duration(phase.most_s)
        table.add_row(phase.name, *times, phase.assumption)
    longest = "at most: until the time limit, and the deletion after it"
    table.add_row("in all", *_format_expected_and_most(quote.time_s), longest)
    return table


def _make_money_table(lines: Sequence[QuoteLine], usd: Amounts | None) -> Table:
    from plimsoll.model.run.quote import add_amounts

    table = make_table("item", "at least", "expected", "at most", "price", right=AMOUNTS)
    small = [line for line in lines if line.usd and line.usd.most < CENT]
    for line in lines:
        if line not in small:
            table.add_row(line.what, *_format_usd(line.usd), _format_price(line))
    if small:
        sums = add_amounts([line.usd for line in small if line.usd])
        table.add_row(f"{len(small)} items of under a cent", *_format_usd(sums), "")
    table.add_row("in all", *_format_usd(usd), "")
    return table


def _format_usd(amounts: Amounts | None) -> tuple[str, str, str]:
    if amounts is None:
        return ("not known",) * 3
    return (
        words.format_usd(amounts.least),
        words.format_usd(amounts.expected),
        words.format_usd(amounts.most),
    )


def _format_price(line: QuoteLine) -> str:
    price = line.price
    if price.usd is None or price.source is None:
        return "not known"
    second = "" if price.source.primary else ", second-hand"
    return f"{words.format_unit_usd(price.usd, 10)}/{price.unit} ({price.source.as_of}{second})"


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@allow_files_option
@click.option(
    "--prices",
    "prices_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Prices of another region, in a file that `plimsoll prices` wrote. Default: us-east-1.",
)
@service_options
@json_option
def command(
    request_file: Path,
    *,
    allow_files: tuple[Path, ...],
    prices_file: Path | None,
    url: str | None,
    stack: str | None,
    as_json: bool,
) -> int:
    """Estimate the time and the cost of each run of REQUEST_FILE on AWS, item by item.

    Nothing is created. For an experiment, it also adds up all runs. With --url, --stack or the
    variable the service answers, with its own prices; otherwise it is computed on this machine,
    from list prices with their dates (docs/costs.md). Exit code 1: a price is missing, so there is
    no sum.
    """
    from plimsoll.client.address import URL_VARIABLE
    from plimsoll.model.aws.prices import PriceOverrides
    from plimsoll.report.folder import read_model
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    if prices_file is not None and (url is not None or stack is not None):
        raise click.UsageError("--prices: a service has prices of its own")
    asked = read_file(request_file, allow_files)
    service = None
    if prices_file is None and (url or stack or os.environ.get(URL_VARIABLE)):
        service = connect_service(url, stack)
    overrides = read_model(prices_file, PriceOverrides) if prices_file else PriceOverrides()
    if isinstance(asked, CheckedExperiment):
        return _quote_experiment(asked, service, overrides, as_json=as_json)
    return _quote_runs(asked, service, overrides, as_json=as_json)


def _quote_runs(
    asked: dict[str, CheckedRequest],
    service: Service | None,
    overrides: PriceOverrides,
    *,
    as_json: bool,
) -> int:
    from plimsoll.quoting.prices import override_prices
    from plimsoll.quoting.quotes import estimate_quote as quote_request

    if service is not None:
        quotes = {name: service.quote(checked.request) for name, checked in asked.items()}
    else:
        prices = override_prices(overrides)
        for checked in asked.values():
            _require_possible_on_aws(checked)
        quotes = {name: quote_request(checked, prices) for name, checked in asked.items()}
    if as_json:
        dumped = {name: quote.model_dump(mode="json") for name, quote in quotes.items()}
        click.echo(json.dumps({"quotes": dumped}, indent=2))
    else:
        for name, quote in quotes.items():
            print_quote(name, quote, console())
    return 0 if all(quote.usd is not None for quote in quotes.values()) else 1


def _require_possible_on_aws(checked: CheckedRequest) -> None:
    from plimsoll.quoting.quotes import find_today, require_known_version
    from plimsoll.requests.client_connections import require_openable_connections

    require_known_version(checked.request, on=find_today())
    require_openable_connections(checked.request)


def _quote_experiment(
    asked: CheckedExperiment, service: Service | None, overrides: PriceOverrides, *, as_json: bool
) -> int:
    from plimsoll.quoting.experiment_quotes import quote_experiment
    from plimsoll.quoting.prices import override_prices

    if service is not None:
        quote = service.quote_experiment(asked.experiment)
    else:
        asked.apply(_require_possible_on_aws)
        quote = quote_experiment(asked, override_prices(overrides))
    if as_json:
        click.echo(json.dumps({"experiment": quote.model_dump(mode="json")}, indent=2))
    else:
        print_experiment_quote(asked.experiment.name, quote, console())
    return 0 if quote.usd is not None else 1
