"""`plimsoll quote`: what a request will take in time and money; makes nothing."""

import json
import os
from pathlib import Path

import click
from pydantic import ValidationError

from plimsoll.cli.output import console
from plimsoll.cli.quote_text import print_experiment_quote, print_quote
from plimsoll.cli.service_calls import connect, json_option, service_options
from plimsoll.client.address import URL_VARIABLE
from plimsoll.client.service_client import Service
from plimsoll.errors import UsageError
from plimsoll.model.experiment import Experiment
from plimsoll.model.prices import PriceOverrides
from plimsoll.model.request import Request
from plimsoll.prices import prices_for
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.quotes import quote as quote_request
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

    Of an experiment, what all its runs come to as well. With --url, --stack or the variable the
    service answers, with its own prices; else it is computed on this machine, from list prices with
    their dates (docs/costs.md). Exit code 1: a price is missing, so there is no sum.
    """
    if prices_file is not None and (url is not None or stack is not None):
        raise click.UsageError("--prices: a service has prices of its own")
    asked = read_file(request_file)
    service = None
    if prices_file is None and (url or stack or os.environ.get(URL_VARIABLE)):
        service = connect(url, stack)
    overrides = _overrides(prices_file) if prices_file else PriceOverrides()
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
        quotes = {name: quote_request(request, prices) for name, request in asked.items()}
    if as_json:
        found = {name: one.model_dump(mode="json") for name, one in quotes.items()}
        click.echo(json.dumps({"quotes": found}, indent=2))
    else:
        for name, one in quotes.items():
            print_quote(name, one, console())
    return 0 if all(one.usd is not None for one in quotes.values()) else 1


def _experiment(
    asked: Experiment, service: Service | None, overrides: PriceOverrides, *, as_json: bool
) -> int:
    if service is not None:
        found = service.quote_experiment(asked)
    else:
        found = quote_experiment(asked, prices_for(overrides))
    if as_json:
        click.echo(json.dumps({"experiment": found.model_dump(mode="json")}, indent=2))
    else:
        print_experiment_quote(asked.name, found, console())
    return 0 if found.usd is not None else 1


def _overrides(path: Path) -> PriceOverrides:
    """Read a file of prices.

    Raises:
        UsageError: It is not one.
    """
    try:
        return PriceOverrides.model_validate_json(path.read_text())
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the file"
        raise UsageError(f"--prices {path}: {where}: {fault['msg']}") from None
