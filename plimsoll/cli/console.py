"""`plimsoll console`: a deployment's page in the browser, with one's own AWS credentials."""

import socket

import click

from plimsoll.cli.page import Page, new_token, shown, stay
from plimsoll.cli.service_calls import locate, profile_option, service_options
from plimsoll.client.http import Http
from plimsoll.client.service_client import Service
from plimsoll.errors import UsageError


@click.command()
@service_options
@profile_option
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=0,
    show_default=True,
    help="On 127.0.0.1; 0: a free one.",
)
@click.option("--open", "opened", is_flag=True, help="Have the browser open the page.")
def console(*, url: str | None, stack: str | None, port: int, opened: bool) -> int:
    """Show the page of a deployment in the browser, until Ctrl-C.

    It is served on 127.0.0.1, at an address with a token that is new each time. What it asks for
    goes to the deployment's API, signed with your AWS credentials as the calls of the other verbs:
    it shows and does what you may.
    """
    from plimsoll.cli.deployed_page import Deployed, config  # noqa: PLC0415 - an extra
    from plimsoll.local.front import Front  # noqa: PLC0415 - an extra
    from plimsoll.local.runner import termination_interrupts  # noqa: PLC0415 - an extra

    address = locate(url, stack)
    http = Http(address)
    version = Service(http).health().version
    click.echo(f"{address.url} answers, version {version}", err=True)
    behind, told = Deployed(http), config(address.url)
    with (
        termination_interrupts(),
        Front(behind, token=new_token(), listener=_listen(port), config=told) as front,
        shown(front, Page(shown=True, opened=opened)),
    ):
        stay()
    return 0


def _listen(port: int) -> socket.socket:
    from plimsoll.local.front import listen  # noqa: PLC0415 - an extra

    try:
        return listen(port)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}") from None
