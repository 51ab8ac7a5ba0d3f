"""A search in this process, on a terminal: its signals, its progress, its answer."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll.cli.find_progress import FindProgress
from plimsoll.cli.prepare import prepare_shown
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.families.dataset_notes import check_whole
from plimsoll.families.family import family_of
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
from plimsoll.model.toggled_target import endpoints_by_state
from plimsoll.requests.request_workload import workload_of
from plimsoll.workload import Compiled

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
        reached: By the states of its toggle, the target as it is reached in them.
    """

    request: Request
    target: EngineTarget
    found: Found
    stop_rules: Sequence[StopRule]
    rows: int | None
    notes: tuple[str, ...] = ()
    reached: Mapping[str, EngineTarget] = field(default_factory=dict)


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
    first = request.target.reached(request.toggle.states[0].endpoint if request.toggle else None)
    target, workload = opened(first), workload_of(request.workload)
    records, given = request.workload.records, request.workload.parameters
    found, made = look(target, workload, records, given), Made()
    if not is_complete(found):
        made = made_rows(target, found)
        found = look(target, workload, records, given)
    reached = _reached(request, request.target, found.compiled)
    return Search(request, target, found, (), made.rows, made.notes, reached)


def _reached(
    request: Request, target: EndpointTarget, compiled: Compiled
) -> dict[str, EngineTarget]:
    """Open the target in each state of its toggle, where the same rows have to be.

    Raises:
        PlimsollError: Somewhere they are not, or it cannot be reached.
    """
    if request.toggle is None:
        return {}
    states = endpoints_by_state(target, request.toggle)
    reached = {name: opened(endpoint) for name, endpoint in states.items()}
    for name, one in reached.items():
        with family_of(one.protocol).open_datasets(one) as datasets:
            note = datasets.read_note(compiled.dataset) if datasets.has_place() else None
            check_whole(compiled, note, f"state {name}: {states[name].address}")
    return reached


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
            load_number=lambda target: load_number(target, search.found),
            reached=search.reached,
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
