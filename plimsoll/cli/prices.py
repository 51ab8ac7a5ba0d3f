"""`plimsoll prices`: a region's prices from AWS's own list, for cdk.json and `plimsoll quote`."""

from datetime import UTC, datetime

import click

from plimsoll.errors import PlimsollError


@click.command()
@click.option("--region", required=True, help="Region, such as eu-west-1; with --cloud, eastus.")
@click.option(
    "--cloud",
    type=click.Choice(["azure"]),
    help="Read the list of another cloud, which needs no account, for `plimsoll size"
    " --cloud-prices`. The lists of Alibaba Cloud and Google Cloud need one.",
)
@click.option(
    "--only",
    "names",
    multiple=True,
    metavar="CLASS",
    help="Include only these instance classes, such as db.m6i.large; repeatable. cdk.json has room"
    " for 90,000 characters.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the JSON on one line.")
def command(region: str, *, cloud: str | None, names: tuple[str, ...], as_json: bool) -> None:
    """Read a region's list prices and print them in the form of `plimsoll.prices` in cdk.json.

    Those of AWS need credentials that may do `pricing:GetProducts`.
    """
    if cloud is not None:
        from plimsoll.quoting.azure_prices import read_azure_prices

        read = read_azure_prices(region, today=datetime.now(UTC).date())
        click.echo(read.model_dump_json(indent=None if as_json else 2))
        return
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    from plimsoll.quoting.price_list import API_REGION, keep_instances, read_prices

    try:
        client = boto3.client("pricing", region_name=API_REGION)
        prices = read_prices(client, region, today=datetime.now(UTC).date())
    except (BotoCoreError, ClientError) as error:
        raise PlimsollError(f"AWS: {error}") from error
    prices = keep_instances(prices, names) if names else prices
    click.echo(prices.as_json if as_json else prices.model_dump_json(indent=2))
