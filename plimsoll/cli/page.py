"""The page in the browser beside a command: on a free port, as long as the command goes on."""

import functools
import secrets
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
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


def shown(front: "Front", page: Page) -> None:
    """Say where a page is, and have it opened where that is asked for."""
    click.echo(f"open {front.page_url} in a browser", err=True)
    if page.opened:
        webbrowser.open(front.page_url)


def stay() -> None:
    """Keep a page until Ctrl-C."""
    click.echo("the page stays until Ctrl-C", err=True)
    try:
        Event().wait()
    except KeyboardInterrupt:
        click.echo("the page is closed", err=True)
