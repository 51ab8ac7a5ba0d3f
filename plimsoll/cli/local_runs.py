"""What `plimsoll run` of a run and of an experiment share: both go on on this machine."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from plimsoll.cli.progress import Lines
from plimsoll.model.request import Request
from plimsoll.model.search_request import StepsSearch

RESULTS = Path("plimsoll-results")
MOST_READY = 16  # processes of about 50 MiB; more start as they are needed


class Ongoing(Protocol):
    """A run or an experiment under way."""

    def wait(self, show: Callable[[Any], None]) -> object:
        """Follow it to its end; `show` is called with each look at it."""

    def stop(self) -> None:
        """Stop it, and have its targets deleted."""


def wait_or_stop(
    ongoing: Ongoing, show: Callable[[Any], None], lines: Lines, on_interrupt: str
) -> bool:
    """Follow a run to its end; Ctrl-C stops it, and it is followed until its targets are gone.

    Args:
        ongoing: The run.
        show: Shows a look at it.
        lines: Where `on_interrupt` is printed when Ctrl-C comes.
        on_interrupt: What follows from Ctrl-C.

    Returns:
        Whether it was interrupted.
    """
    try:
        ongoing.wait(show)
    except KeyboardInterrupt:
        lines.say(on_interrupt)
        ongoing.stop()
        ongoing.wait(show)
        return True
    return False


def first_clients(request: Request) -> int:
    """Say how many clients are worth having ready before the first step."""
    search = request.search
    wanted = search.clients[-1] if isinstance(search, StepsSearch) else 2
    return min(wanted + request.clients_beside, MOST_READY)


def write_report(folder: Path) -> None:
    """Draw the page of a run beside its files."""
    from plimsoll.report.folder import read_run  # noqa: PLC0415 - slow to load, and only here
    from plimsoll.report.page import render  # noqa: PLC0415 - slow to load, and only here

    result, seconds = read_run(folder)
    (folder / "report.html").write_text(render(result, seconds), encoding="utf-8")
