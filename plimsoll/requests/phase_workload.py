"""Workloads and searches of a request's phases, which run on the request's dataset."""

import math

from plimsoll.complaints import Complaint, Range, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.request.phases import Phase, records_per_operation
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from plimsoll.requests.request_workload import compile_workload
from plimsoll.workload.compiled import Compiled

# the fields of a request that a phase has too
_OF_A_PHASE = (("workload",), ("search",), ("limits",))


def compile_step(request: Request, phase: str | None) -> Compiled:
    """Compile the workload of a step: that of its phase, or the run's own.

    Raises:
        UsageError: The workload is not valid.
    """
    if phase is None:
        return compile_workload(request)
    choice = find_phase(request, phase).workload_on(request.workload)
    return compile_workload(request.model_copy(update={"workload": choice}))


def find_phase(request: Request, name: str) -> Phase:
    """Return the phase with a name."""
    return next(phase for phase in request.phases if phase.name == name)


def make_search_request(request: Request, phase: str | None) -> Request:
    """Return the request for a search: the run's own, or one with a phase's fields in place.

    Args:
        request: The request of the run.
        phase: The name of a phase with a search; None for the run's own search.

    Raises:
        UsageError: The phase's workload is not valid.
    """
    if phase is None:
        return request
    asked = find_phase(request, phase)
    operations = {operation.name for operation in compile_step(request, phase).engine.operations}
    of_run = request.limits
    own_us = {name: us for name, us in of_run.limits_us.items() if name in operations}
    inherited = of_run.model_copy(update={"limits_us": own_us, "soak_s": 0})
    return request.model_copy(
        update={
            "workload": asked.workload_on(request.workload),
            "search": asked.search,
            "limits": asked.limits or inherited,
            "phases": (),
            "background": (),
            "toggle": None,
            "expect": (),
        }
    )


def require_phases_possible(request: Request) -> None:
    """Refuse phases whose workload is not valid or has another dataset than the run's own.

    Raises:
        UsageError: There is such a phase.
    """
    own = compile_workload(request)
    for number, phase in enumerate(request.phases):
        try:
            theirs = compile_step(request, phase.name)
        except UsageError as error:
            raise error.within("phases", number) from None
        path = ("phases", number, "workload")
        if (theirs.dataset, theirs.dataset_parameters) != (own.dataset, own.dataset_parameters):
            made = f"{own.dataset}{_describe_parameters(own)}"
            problem = (
                f"uses the dataset {theirs.dataset}{_describe_parameters(theirs)}, but the run's"
                f" own is {made}"
            )
            raise UsageError(Complaint(path, problem))
        if phase.to_completion is None:
            _require_search(request, number)
            continue
        most, records = max(phase.to_completion.connections), phase.to_completion.records
        each = records_per_operation(theirs.engine.operations)
        least = math.ceil(most * each)
        if records < least:
            of_each = "" if each == 1 else f", each of which sends {each:g} at a time"
            problem = f"are fewer than its {most} connections{of_each}"
            field = ("phases", number, "to_completion", "records")
            raise UsageError(Complaint(field, problem, records, Range(least=least)))


def require_known_limits(request: Request) -> None:
    """Refuse limits on operations that the request's workload does not have.

    Raises:
        UsageError: There is such a limit.
    """
    known = {operation.name for operation in compile_workload(request).engine.operations}
    for name in request.limits.limits_us:
        if name not in known:
            path = ("limits", "limits_us", name)
            raise UsageError(complain_of_unknown("operation", name, known, path))


def _require_search(request: Request, number: int) -> None:
    """Refuse a phase whose search would not be valid as the run's own.

    Raises:
        UsageError: The search is not valid.
    """
    try:
        own = make_search_request(request, request.phases[number].name)
        validate(Request, own.model_dump(mode="json"))
        require_known_limits(own)
    except UsageError as error:
        told = (
            complaint.within("phases", number) if complaint.path[:1] in _OF_A_PHASE else complaint
            for complaint in error.complaints
        )
        raise UsageError(*told) from None


def _describe_parameters(compiled: Compiled) -> str:
    given = ", ".join(f"{name}={value}" for name, value in compiled.dataset_parameters.items())
    return f" with {given}" if given else ""
