"""A search in this process, on a terminal: its signals, its progress, its answer."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.find_progress import FindProgress
from plimsoll.cli.prepare import prepare_shown
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.finding.asked import opened
from plimsoll.finding.dataset import Found, Made, is_complete, load_number, look, settled
from plimsoll.finding.finder import Finder
from plimsoll.finding.interrupts import INTERRUPTED, ended_by_signals
from plimsoll.finding.outcome import searched, write
from plimsoll.finding.quantities import StopRule
from plimsoll.model.dashboards import Dashboards
from plimsoll.model.endpoint_target import EndpointTarget
from plimsoll.model.engine import EngineTarget
from plimsoll.model.request import Request
from plimsoll.requests.request_workload import workload_of

if TYPE_CHECKING:
    from plimsoll.cli.find_page import FindPage


@dataclass(frozen=True)
class Search:
    """What is to be found out.

    Attributes:
        request: What is asked for.
        target: Its target, with what opens it.
        found: The rows that are there.
        stop_rules: What ends the load at once.
        rows: Of the dataset, counted; None: nobody has.
        notes: What a reader has to know besides.
    """

    request: Request
    target: EngineTarget
    found: Found
    stop_rules: Sequence[StopRule]
    rows: int | None
    notes: tuple[str, ...] = ()


def asked_search(request: Request) -> Search:
    """Make a search of a request whose target is there already; its dataset is made if it lacks.

    The request is the user's own file, which is the permission.

    Raises:
        UsageError: The environment does not say who logs in, or the request asks for faults.
        PlimsollError: The database refuses, or a table of the dataset is another's.
    """
    assert isinstance(request.target, EndpointTarget)  # noqa: S101 - the caller has looked
    if request.faults:
        raise UsageError("faults: an existing database has no emulated volume to make fail")
    if request.background:
        problem = (
            "a search of a database that is there from this machine sends one workload: leave it"
            " out, or run the request on AWS"
        )
        raise UsageError(Complaint(("background",), problem))
    target, workload = opened(request.target), workload_of(request.workload)
    records, given = request.workload.records, request.workload.parameters
    found, made = look(target, workload, records, given), Made()
    if not is_complete(found):
        made = made_rows(target, found)
        found = look(target, workload, records, given)
    return Search(request, target, found, (), made.rows, made.notes)


def made_rows(target: EngineTarget, found: Found) -> Made:
    """Make a dataset, and wait until the server has worked it off, but not for ever."""
    prepared = prepare_shown(target, found.compiled)
    click.echo("waiting until the server has worked off the loading", err=True)
    made = settled(target, prepared)
    for late in made.notes:
        click.echo(late, err=True)
    return made


def find_into(search: Search, folder: Path, page: "FindPage | None" = None) -> bool:
    """Search, and write the results into a folder; says whether it was interrupted.

    Args:
        search: What is to be found out.
        folder: For its results.
        page: Follows it; None: it has no page.
    """
    Dashboards.of_environment(os.environ)  # refused before anything is measured
    with FindProgress(search.request) as progress:
        shows = progress.shows()
        finder = Finder(
            request=search.request,
            target=search.target,
            compiled=search.found.compiled,
            load_number=lambda: load_number(search.target, search.found),
            stop_rules=search.stop_rules,
            shows=shows if page is None else page.beside(shows),
        )
        if page is not None:
            page.stop = finder.end
        with ended_by_signals(lambda: finder.end(INTERRUPTED)):
            result, seconds = searched(
                finder, server=search.found.server, rows=search.rows, notes=search.notes
            )
            if page is not None:
                page.ended(result)
            try:
                write(folder, result, seconds)
            except OSError:  # the disk is full, say: the answer is not lost with it
                if result.capacity is not None:
                    click.echo(f"{result.capacity.verdict}: {result.capacity.summary}", err=True)
                raise
    return finder.cut_short == INTERRUPTED
