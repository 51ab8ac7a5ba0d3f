"""Pages in the browser: beside a command as long as it runs, and `plimsoll console`."""

from __future__ import annotations

import functools
import html
import os
import secrets
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

from plimsoll.cli.options import WholeRange
from plimsoll.cli.service_calls import find_service, profile_option, service_options
from plimsoll.errors import NotFoundError, PlimsollError
from plimsoll.packaged import require_extra

if TYPE_CHECKING:
    from werkzeug.wrappers import Request

    from plimsoll.client.http import Http
    from plimsoll.console.config import ConsoleConfig
    from plimsoll.local.front import Front
    from plimsoll.local.rest_api import HttpAnswer


Command = Callable[..., Any]
PACKAGES = ("werkzeug",)  # what serves a page


@dataclass(frozen=True)
class Page:
    """Whether a command has a page.

    Attributes:
        shown: Whether to serve it.
        opened: Whether to open it in the browser, too.
    """

    shown: bool = False
    opened: bool = False


def page_options(command: Command) -> Command:
    """Add `--ui` and `--ui-open`; the command receives them as `page`."""

    @functools.wraps(command)
    def run_with_options(*arguments: Any, ui: bool, ui_open: bool, **others: Any) -> Any:
        page = Page(ui or ui_open, ui_open)
        if page.shown:
            require_extra("local", PACKAGES, user="--ui")
        return command(*arguments, page=page, **others)

    run_with_options = click.option(
        "--ui-open", is_flag=True, help="Show the page as with --ui, and open it in the browser."
    )(run_with_options)
    return click.option(
        "--ui",
        is_flag=True,
        help="Show progress on a page on 127.0.0.1, whose address is printed; the page stays until"
        " Ctrl-C (docs/console.md).",
    )(run_with_options)


def make_token() -> str:
    """Return a new random token for a page."""
    return secrets.token_urlsafe(32)


@contextmanager
def show_page(front: Front, page: Page) -> Iterator[None]:
    """Print the address of a page, and open it in the browser if requested.

    The address holds a token, and other users can see a process's arguments, the browser's too. So
    the browser gets a file that only its owner can read and that redirects to the address. The file
    exists only within the block.
    """
    click.echo(f"open {front.page_url} in a browser", err=True)
    if not page.opened:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-page-") as folder:
        file = Path(folder) / "open.html"
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as leads:
            leads.write(_redirect_page(front.page_url))
        webbrowser.open(file.as_uri())
        yield


def _redirect_page(url: str) -> str:
    address = html.escape(url)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={address}"><title>Plimsoll</title>'
        f'<a href="{address}">Plimsoll</a>\n'
    )


def wait_for_interrupt() -> None:
    """Serve a page until Ctrl-C."""
    try:
        click.echo("the page stays until Ctrl-C", err=True)  # readers may press Ctrl-C at once
        Event().wait()
    except KeyboardInterrupt:
        click.echo("the page is closed", err=True)


# `plimsoll console`: a deployment's page in the browser, with the user's AWS credentials.


@click.command()
@service_options
@profile_option
@click.option(
    "--port",
    type=WholeRange(0, 65_535),
    default=0,
    show_default=True,
    help="Port on 127.0.0.1; 0 means any free one.",
)
@click.option("--open", "opened", is_flag=True, help="Open the page in the browser.")
def console(*, url: str | None, stack: str | None, port: int, opened: bool) -> int:
    """Show the page of a deployment in the browser, until Ctrl-C.

    It is served on 127.0.0.1, at an address with a token that is new each time. Its requests go to
    the deployment's API, signed with your AWS credentials like the calls of the other verbs: it
    shows and does what you may.
    """
    require_extra("local", PACKAGES, user="the page")
    from plimsoll.client.http import Http
    from plimsoll.client.service_client import Service
    from plimsoll.local.front import Front, listen
    from plimsoll.local.runner import interrupt_on_termination

    address = find_service(url, stack)
    http = Http(address)
    version = Service(http).health().version
    click.echo(f"{address.url} answers, version {version}", err=True)
    behind, told = Deployed(http), make_deployed_page_config(address.url)
    with (
        interrupt_on_termination(),
        Front(behind, token=make_token(), listener=listen(port), config=told) as front,
        show_page(front, Page(shown=True, opened=opened)),
    ):
        wait_for_interrupt()
    return 0


# The page of a deployment: files from here, requests forwarded to the deployment's API.


POLL_S = 30.0  # each poll of a running run makes the service read CloudWatch
PASSED_ON = ("Accept", "Content-Type", "Idempotency-Key")
PASSED_BACK = ("Content-Type", "Retry-After")


def make_deployed_page_config(where: str) -> ConsoleConfig:
    """Return the page's settings; it polls, since API Gateway has no stream of events."""
    from plimsoll.console.config import ConsoleConfig

    return ConsoleConfig(events_path=None, poll_s=POLL_S, where=where)


class Deployed:
    """The server side of the page: forwards requests to a deployment's API in the user's name."""

    def __init__(self, http: Http) -> None:
        """Prepare to forward requests.

        Args:
            http: The client that signs with the credentials of the page's user.
        """
        self._http = http

    def answer(self, request: Request, path: str) -> HttpAnswer:
        """Forward a request, and return its answer."""
        from plimsoll.local.front import read_body
        from plimsoll.local.rest_api import HttpAnswer, build_refusal

        body = read_body(request)
        if isinstance(body, HttpAnswer):
            return body
        given = request.headers
        headers = {name: given[name] for name in PASSED_ON if name in given}
        query = request.query_string.decode("latin-1")
        try:
            reply = self._http.pass_on(
                request.method, path, query=query, headers=headers, body=body
            )
        except PlimsollError as error:
            return build_refusal(502, str(error))
        back = [(name, reply.headers[name]) for name in PASSED_BACK if name in reply.headers]
        return HttpAnswer(reply.status, tuple(back), reply.body)

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        """Refuse: there are no events.

        Raises:
            NotFoundError: Always.
        """
        del request, ended
        raise NotFoundError("a deployment has no stream of events")
