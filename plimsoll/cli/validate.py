"""`plimsoll validate`: checks a request without creating anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from plimsoll import words
from plimsoll.cli.options import allow_files_option
from plimsoll.cli.output import fold_line, measure_terminal
from plimsoll.complaints import Place
from plimsoll.errors import UsageError

if TYPE_CHECKING:
    from plimsoll.model.request.experiment import Experiment
    from plimsoll.model.request.request import Request
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.checked_request import CheckedRequest


@click.command()
@click.argument("request_file", type=click.Path(path_type=Path))
@allow_files_option
@click.option(
    "--local", is_flag=True, help="Also check whether the request can run on this machine."
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the body of POST /runs with all defaults (or of POST /experiments; several runs by"
    " name under `runs`), or the errors. Everything else goes to standard error.",
)
def validate(
    request_file: Path, *, allow_files: tuple[Path, ...], local: bool, as_json: bool
) -> None:
    """Check REQUEST_FILE, including volume rules, without creating anything.

    A budget is compared with the list prices of us-east-1.
    """
    from plimsoll.model.request.descriptions import describe_target
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.requests.experiment_file import read_file

    try:
        asked = read_file(request_file, allow_files)
        requests = require_all_possible(request_file, asked, local=local)
    except UsageError as error:
        if as_json:
            click.echo(json.dumps({"valid": False, "errors": _list_errors(error)}, indent=2))
        raise
    if as_json:
        click.echo(json.dumps(_build_bodies(asked), indent=2))
    width = measure_terminal(err=as_json)
    for name, checked in requests.items():
        workload = checked.request.workload.name or "its own workload"
        what = f"{name}: {describe_target(checked.request.target)}; {workload}"
        click.echo(fold_line(what, 4, width), err=as_json)
        for line in (*_estimate_times(checked), *(() if local else _list_warnings(checked))):
            click.echo(f"  {fold_line(line, 4, width)}", err=as_json)
    searched = isinstance(asked, CheckedExperiment) and asked.experiment.want is not None
    at_most = " at most" if searched else ""
    runs = words.format_count(len(requests), "run")
    shown = words.escape_controls(str(request_file))
    click.echo(f"{shown} is valid: {runs}{at_most}", err=as_json)


def _estimate_times(checked: CheckedRequest) -> Iterator[str]:
    """Estimate the duration of each search, phases first."""
    from plimsoll.quoting.times import describe_pass, describe_search

    for phase in checked.request.phases:
        if phase.to_completion is None:
            yield f"phase {phase.name}: {describe_search(checked.search_request(phase.name))}"
        else:
            yield f"phase {phase.name}: {describe_pass(phase.to_completion)}"
    yield describe_search(checked.request)


def _build_bodies(asked: CheckedExperiment | dict[str, CheckedRequest]) -> dict[str, Any]:
    """Return the bodies that the service accepts unchanged."""
    from plimsoll.requests.cells import CheckedExperiment

    if isinstance(asked, CheckedExperiment):
        return _build_body(asked.experiment)
    bodies = {name: _build_body(checked.request) for name, checked in asked.items()}
    return next(iter(bodies.values())) if len(bodies) == 1 else {"runs": bodies}


def _build_body(asked: Experiment | Request) -> dict[str, Any]:
    """Write all defaults except the team's: the sender may belong to another one."""
    unset = {"team"} - asked.model_fields_set
    return asked.model_dump(mode="json", exclude=unset)


def require_all_possible(
    request_file: Path, asked: CheckedExperiment | dict[str, CheckedRequest], *, local: bool
) -> dict[str, CheckedRequest]:
    """Return the runs of a file by name, if each of them is possible.

    Raises:
        UsageError: A budget cannot suffice, RDS has no such version, or this machine has no such
            target.
    """
    from plimsoll.quoting.prices import read_builtin_prices
    from plimsoll.quoting.quotes import find_today, require_known_version, require_possible
    from plimsoll.requests.cells import CheckedExperiment
    from plimsoll.sizing.cheapest import require_searchable

    if isinstance(asked, CheckedExperiment):
        try:
            require_searchable(asked, read_builtin_prices())
        except UsageError as error:
            place = Place(str(request_file))
            raise UsageError(*(replace(c, place=place) for c in error.complaints)) from None
        names = [cell.name for cell in asked.cells]
        requests = dict(zip(names, asked.requests, strict=True))
    else:
        requests = asked
    for name, checked in requests.items():
        try:
            require_possible(checked, read_builtin_prices(), local=local)
            if not local:
                require_known_version(checked.request, on=find_today())
        except UsageError as error:
            source = f"{request_file}: {name}" if len(requests) > 1 else str(request_file)
            place = Place(source)
            raise UsageError(*(replace(c, place=place) for c in error.complaints)) from None
    return requests


def _list_errors(error: UsageError) -> list[dict[str, object]]:
    """List the errors field by field, as the API does."""
    return [
        {
            "place": None if complaint.place is None else str(complaint.place),
            "field": complaint.field,
            "detail": complaint.sentence,
            "value": complaint.value,
            "allowed": complaint.allowed_words,
        }
        for complaint in error.complaints
    ]


def _list_warnings(checked: CheckedRequest) -> list[str]:
    """List what may go wrong with a run on AWS."""
    from plimsoll.quoting.prices import read_builtin_prices
    from plimsoll.quoting.quotes import NOTES, estimate_quote

    quoted = estimate_quote(checked, read_builtin_prices())
    lacking = [f"No price is known for {', '.join(quoted.missing)}."] if quoted.missing else []
    return [f"on AWS: {note}" for note in (*lacking, *quoted.notes) if note not in NOTES]
