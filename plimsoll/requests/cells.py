"""The runs of an experiment, each checked as a whole request before anything is created."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, TypeVar

from plimsoll.complaints import Complaint
from plimsoll.errors import LimitReachedError, UsageError
from plimsoll.model.request.experiment import (
    Cell,
    Experiment,
    combinations,
    find_origin,
    find_partner,
    list_fresh_targets,
    make_cell_request,
    name_cell,
)
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import StepsSearch
from plimsoll.model.validation import validate
from plimsoll.requests.checked_request import CheckedRequest, CompiledWorkloads, check_request

Asked = TypeVar("Asked")
Made = TypeVar("Made")


@dataclass(frozen=True)
class CheckedExperiment:
    """An experiment with its cells, each checked as a whole request.

    Attributes:
        experiment: The experiment.
        cells: The cells, in the order of the axes.
        requests: The cells' requests with their workloads, in the same order.
    """

    experiment: Experiment
    cells: tuple[Cell, ...]
    requests: tuple[CheckedRequest, ...]

    def apply(self, make: Callable[[CheckedRequest], Made]) -> tuple[Made, ...]:
        """Apply a function to the request of every cell, in the order of the axes.

        Args:
            make: The function. Its complaints are about fields of the request.

        Raises:
            UsageError: A call failed; each complaint names where the field was written.
            LimitReachedError: The same, of the first call that failed so.
        """
        return _apply_to_cells(self.experiment, self.cells, self.requests, make)


def validate_experiment(value: Mapping[str, Any]) -> CheckedExperiment:
    """Read an experiment from plain values, and check it with all of its runs.

    Raises:
        UsageError: Something is not valid; each complaint names where it was written.
    """
    return check_experiment(validate(Experiment, value))


def check_experiment(experiment: Experiment) -> CheckedExperiment:
    """Check an experiment with all of its runs, whose equal workloads are compiled once.

    Raises:
        UsageError: A request is not valid, or two are equal; each complaint names where it was
            written.
    """
    cells = expand_cells(experiment)
    requests = [cell.request for cell in cells]
    known: CompiledWorkloads = {}
    check = partial(check_request, known=known)
    return CheckedExperiment(experiment, cells, _apply_to_cells(experiment, cells, requests, check))


def expand_cells(experiment: Experiment) -> tuple[Cell, ...]:
    """Return every cell with its request, in the order of the axes; compiles no workload.

    Raises:
        UsageError: A request is not valid, or two are equal.
    """
    cells: list[Cell] = []
    complaints: dict[Complaint, None] = {}
    runs = product(combinations(experiment), list_fresh_targets(experiment))
    for index, (variants, fresh) in enumerate(runs):
        try:
            request = validate(Request, make_cell_request(experiment, variants, fresh))
        except UsageError as error:
            for complaint in error.complaints:
                placed = _place_complaint(experiment, variants, complaint, fresh)
                complaints[placed] = None
        else:
            if find_partner(experiment, variants) is not None:
                _require_one_load(request, complaints)
            if fresh is not None and not request.target.provisioned:
                problem = "needs targets that are created; an existing database is never fresh"
                complaints[Complaint(("repeat",), problem)] = None
            name = name_cell(variants, fresh)
            cell = Cell(
                index=index, name=name, variants=variants, request=request, fresh_target=fresh
            )
            cells.append(cell)
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


def _apply_to_cells(
    experiment: Experiment,
    cells: Sequence[Cell],
    requests: Sequence[Asked],
    make: Callable[[Asked], Made],
) -> tuple[Made, ...]:
    made: list[Made] = []
    complaints: dict[Complaint, None] = {}
    for cell, request in zip(cells, requests, strict=True):
        try:
            made.append(make(request))
        except UsageError as error:
            for complaint in error.complaints:
                placed = _place_complaint(experiment, cell.variants, complaint, cell.fresh_target)
                complaints[placed] = None
        except LimitReachedError as error:
            place = partial(
                _place_complaint, experiment, cell.variants, fresh_target=cell.fresh_target
            )
            raise error.move(place) from None
    if complaints:
        raise UsageError(*complaints)
    return tuple(made)


def _place_complaint(
    experiment: Experiment,
    variants: Mapping[str, str],
    complaint: Complaint,
    fresh_target: int | None,
) -> Complaint:
    """Return a complaint with the place in the experiment where the field was written."""
    if complaint.path[:1] == ("name",):
        name = name_cell(variants, fresh_target)
        problem = f"the variants' names make the run {name!r}: {complaint.problem}"
        return Complaint(("axes",), problem)
    return replace(complaint, path=find_origin(experiment, variants, complaint.path))


def _refuse_twins(cells: list[Cell]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        asked = json.dumps(_dump_measured(cell.request), sort_keys=True)
        if asked in seen and seen[asked].variants != cell.variants:
            names = f"{seen[asked].name} and {cell.name}"
            message = f"the runs {names} would be the same: no field tells them apart"
            raise UsageError(Complaint(("axes",), message))
        seen.setdefault(asked, cell)


def _dump_measured(request: Request) -> dict[str, Any]:
    return request.model_dump(mode="json", exclude={"name", "tags", "description"})
