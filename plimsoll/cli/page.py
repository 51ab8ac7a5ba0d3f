"""The page in the browser beside a command: on a free port, as long as the command goes on."""

import functools
import html
import os
import secrets
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from plimsoll.local.front import Front

Command = Callable[..., Any]


@dataclass(frozen=True)
class Page:
    """Whether there is to be one.

    Attributes:
        shown: It is.
        opened: The browser is asked to open it, too.
    """

    shown: bool = False
    opened: bool = False


def page_options(command: Command) -> Command:
    """Add `--ui` and `--ui-open`; the command gets them as `page`."""

    @functools.wraps(command)
    def called(*arguments: Any, ui: bool, ui_open: bool, **others: Any) -> Any:
        return command(*arguments, page=Page(ui or ui_open, ui_open), **others)

    called = click.option(
        "--ui-open", is_flag=True, help="The same, and have the browser open the page."
    )(called)
    return click.option(
        "--ui",
        is_flag=True,
        help="Show it as it goes on, on a page of 127.0.0.1 whose address is printed; the page"
        " stays after the end, until Ctrl-C (docs/console.md).",
    )(called)


def new_token() -> str:
    """Make a token for a page."""
    return secrets.token_urlsafe(32)


@contextmanager
def shown(front: "Front", page: Page) -> Iterator[None]:
    """Say where a page is, and have it opened where that is asked for.

    Other users see the arguments of a process, the browser's too: it gets a file that only its
    owner can read, which leads to the address, and is there as long as the block.
    """
    click.echo(f"open {front.page_url} in a browser", err=True)
    if not page.opened:
        yield
        return
    with tempfile.TemporaryDirectory(prefix="plimsoll-page-") as folder:
        file = Path(folder) / "open.html"
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as leads:
            leads.write(_leading_to(front.page_url))
        webbrowser.open(file.as_uri())
        yield


def _leading_to(url: str) -> str:
    address = html.escape(url)
    return (
        '<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={address}"><title>Plimsoll</title>'
        f'<a href="{address}">Plimsoll</a>\n'
    )


def stay() -> None:
    """Keep a page until Ctrl-C."""
    try:
        click.echo("the page stays until Ctrl-C", err=True)  # who reads this may press it at once
        Event().wait()
    except KeyboardInterrupt:
        click.echo("the page is closed", err=True)
