"""`plimsoll quote`: what a request will take in time and money; makes nothing."""

import json
import os
from pathlib import Path

import click

from plimsoll.cli.output import console
from plimsoll.cli.quote_text import print_experiment_quote, print_quote
from plimsoll.cli.service_calls import connect, json_option, service_options
from plimsoll.client.address import URL_VARIABLE
from plimsoll.client.service_client import Service
from plimsoll.model.experiment import Experiment
from plimsoll.model.prices import PriceOverrides
from plimsoll.model.request import Request
from plimsoll.prices import prices_for
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.possible import require_known_version, today
from plimsoll.quoting.quotes import quote as quote_request
from plimsoll.report.folder import read_model
from plimsoll.requests.cells import of_each_cell
from plimsoll.requests.experiment_file import read_file


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@click.option(
    "--prices",
    "prices_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Prices of another region, as `plimsoll prices` writes them. Default: us-east-1.",
)
@service_options
@json_option
def command(
    request_file: Path,
    *,
    prices_file: Path | None,
    url: str | None,
    stack: str | None,
    as_json: bool,
) -> int:
    """Say what each run of REQUEST_FILE will take on AWS, item by item; makes nothing.

    For an experiment, it also adds up all runs. With --url, --stack or the variable the service
    answers, with its own prices; else it is computed on this machine, from list prices with their
    dates (docs/costs.md). Exit code 1: a price is missing, so there is no sum.
    """
    if prices_file is not None and (url is not None or stack is not None):
        raise click.UsageError("--prices: a service has prices of its own")
    asked = read_file(request_file)
    service = None
    if prices_file is None and (url or stack or os.environ.get(URL_VARIABLE)):
        service = connect(url, stack)
    overrides = read_model(prices_file, PriceOverrides) if prices_file else PriceOverrides()
    if isinstance(asked, Experiment):
        return _experiment(asked, service, overrides, as_json=as_json)
    return _runs(asked, service, overrides, as_json=as_json)


def _runs(
    asked: dict[str, Request], service: Service | None, overrides: PriceOverrides, *, as_json: bool
) -> int:
    if service is not None:
        quotes = {name: service.quote(request) for name, request in asked.items()}
    else:
        prices = prices_for(overrides)
        for request in asked.values():
            require_known_version(request, on=today())
        quotes = {name: quote_request(request, prices) for name, request in asked.items()}
    if as_json:
        dumped = {name: quote.model_dump(mode="json") for name, quote in quotes.items()}
        click.echo(json.dumps({"quotes": dumped}, indent=2))
    else:
        for name, quote in quotes.items():
            print_quote(name, quote, console())
    return 0 if all(quote.usd is not None for quote in quotes.values()) else 1


def _experiment(
    asked: Experiment, service: Service | None, overrides: PriceOverrides, *, as_json: bool
) -> int:
    if service is not None:
        quote = service.quote_experiment(asked)
    else:
        of_each_cell(asked, lambda request: require_known_version(request, on=today()))
        quote = quote_experiment(asked, prices_for(overrides))
    if as_json:
        click.echo(json.dumps({"experiment": quote.model_dump(mode="json")}, indent=2))
    else:
        print_experiment_quote(asked.name, quote, console())
    return 0 if quote.usd is not None else 1
