"""The workloads of a request's phases, resolved on the dataset of its own."""

from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.model.request import Request
from plimsoll.requests.request_workload import compiled_workload
from plimsoll.workload.compiled import Compiled


def compiled_step(request: Request, phase: str | None) -> Compiled:
    """Resolve what a step sends: the workload of its phase, or the run's own.

    Raises:
        UsageError: It cannot be.
    """
    if phase is None:
        return compiled_workload(request)
    asked = next(one for one in request.phases if one.name == phase)
    choice = asked.workload.on(request.workload)
    return compiled_workload(request.model_copy(update={"workload": choice}))


def require_phases_possible(request: Request) -> None:
    """Refuse phases whose workload cannot be, or is of another dataset than the run's own.

    Raises:
        UsageError: There is such a phase.
    """
    own = compiled_workload(request)
    for number, phase in enumerate(request.phases):
        try:
            theirs = compiled_step(request, phase.name)
        except UsageError as error:
            raise error.within("phases", number) from None
        path = ("phases", number, "workload")
        if (theirs.dataset, theirs.dataset_parameters) != (own.dataset, own.dataset_parameters):
            made = f"{own.dataset}{_with(own)}"
            problem = f"is of the dataset {theirs.dataset}{_with(theirs)}; the run's own is {made}"
            raise UsageError(Complaint(path, problem))
        most = max(phase.to_completion.connections)
        if phase.to_completion.records < most:
            problem = f"are fewer than its {most} connections"
            records = phase.to_completion.records
            field = ("phases", number, "to_completion", "records")
            raise UsageError(Complaint(field, problem, records, Range(least=most)))


def _with(compiled: Compiled) -> str:
    given = ", ".join(f"{name}={value}" for name, value in compiled.dataset_parameters.items())
    return f" with {given}" if given else ""
