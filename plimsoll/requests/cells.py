"""The runs of an experiment, each checked as a whole request before anything is created."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.experiment import (
    Cell,
    Experiment,
    cell_request,
    combinations,
    find_origin,
    find_partner,
)
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.validation import validate
from plimsoll.requests.request_values import validate_request

Made = TypeVar("Made")


def validate_experiment(value: Mapping[str, Any]) -> Experiment:
    """Check an experiment given as plain values, with all of its runs.

    Raises:
        UsageError: Something is not valid; each complaint names where it was written.
    """
    experiment = validate(Experiment, value)
    expand_cells(experiment)
    return experiment


def expand_cells(experiment: Experiment) -> tuple[Cell, ...]:
    """Return every cell with its request, in the order of the axes.

    Raises:
        UsageError: A request is not valid, or two are equal.
    """
    cells: list[Cell] = []
    complaints: dict[Complaint, None] = {}
    for index, variants in enumerate(combinations(experiment)):
        try:
            request = validate_request(cell_request(experiment, variants))
        except UsageError as error:
            for complaint in error.complaints:
                complaints[_place_complaint(experiment, variants, complaint)] = None
        else:
            if find_partner(experiment, variants) is not None:
                _require_one_load(request, complaints)
            name = "-".join(variants.values())
            cells.append(Cell(index=index, name=name, variants=variants, request=request))
    if complaints:
        raise UsageError(*complaints)
    _refuse_twins(cells)
    return tuple(cells)


def _require_one_load(request: Request, complaints: dict[Complaint, None]) -> None:
    """Complain about a paired run with several loads, or with parts longer than a turn.

    In pairs each step needs a partner, so both runs must try one load, without phases, toggle or
    soak.
    """
    search = request.search
    several = not isinstance(search, StepsSearch) or len(search.clients) > 1
    problems = (
        (several, "try one load: `search: {strategy: steps, clients: [N]}`"),
        (request.phases, "have no phases: the phases of both would run at the same time"),
        (request.toggle, "have no toggle: a step that warms its state first is longer than a turn"),
        (request.limits.soak_s, "have no soak: its windows are longer than a turn"),
    )
    for asked, problem in problems:
        if asked:
            complaints[Complaint(("pairs",), f"paired runs {problem}")] = None


def apply_to_cells(experiment: Experiment, make: Callable[[Request], Made]) -> tuple[Made, ...]:
    """Apply a function to the request of every cell, in the order of the axes.

    Args:
        experiment: The experiment with the cells.
        make: The function. Its complaints are about fields of the request.

    Raises:
        UsageError: A call failed; each complaint names where the field was written.
    """
    made: list[Made] = []
    complaints: dict[Complaint, None] = {}
    for cell in expand_cells(experiment):
        try:
            made.append(make(cell.request))
        except UsageError as error:
            for complaint in error.complaints:
                complaints[_place_complaint(experiment, cell.variants, complaint)] = None
    if complaints:
        raise UsageError(*complaints)
    return tuple(made)


def _place_complaint(
    experiment: Experiment, variants: Mapping[str, str], complaint: Complaint
) -> Complaint:
    """Return a complaint with the place in the experiment where the field was written."""
    if complaint.path[:1] == ("name",):
        joined = "-".join(variants.values())
        problem = f"the variants' names make the run {joined!r}: {complaint.problem}"
        return Complaint(("axes",), problem)
    return replace(complaint, path=find_origin(experiment, variants, complaint.path))


def _refuse_twins(cells: list[Cell]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        asked = json.dumps(_dump_measured(cell.request), sort_keys=True)
        if asked in seen:
            names = f"{seen[asked].name} and {cell.name}"
            message = f"the runs {names} would be the same: no field tells them apart"
            raise UsageError(Complaint(("axes",), message))
        seen[asked] = cell


def _dump_measured(request: Request) -> dict[str, Any]:
    return request.model_dump(mode="json", exclude={"name", "tags", "description"})
