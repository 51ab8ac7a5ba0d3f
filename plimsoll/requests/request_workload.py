"""The workload that a request names or brings, resolved for its number of records."""

import hashlib
from functools import cache

from plimsoll.complaints import Complaint, unknown
from plimsoll.errors import UsageError
from plimsoll.model.databases import protocol_of_engine
from plimsoll.model.engine import Protocol
from plimsoll.model.load_request import WorkloadChoice
from plimsoll.model.request import Request
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.library import builtin_names, load_workload, parse_workload
from plimsoll.workload.workload import Workload


def workload_of(choice: WorkloadChoice) -> Workload:
    """Read and check the workload.

    Raises:
        UsageError: It cannot be; names the field and what is allowed.
    """
    if choice.definition is not None:
        try:
            return parse_workload(choice.definition, source="workload.definition")
        except UsageError as error:
            raise error.within("workload", "definition") from None
    assert choice.name is not None  # noqa: S101 - the model has one of both
    names = builtin_names()
    if choice.name not in names:  # never a file's name: a request may come from anywhere
        path = ("workload", "name")
        raise UsageError(unknown("workload", choice.name, names, path, value=choice.name))
    return load_workload(choice.name)


def compiled_workload(request: Request) -> Compiled:
    """Resolve the request's workload; a warm function remembers it.

    Raises:
        UsageError: It cannot be.
    """
    return _compiled(request.workload.model_dump_json(), protocol_of(request))


def protocol_of(request: Request) -> Protocol:
    """Name the protocol of a request's target."""
    return protocol_of_engine(request.target.engine)


@cache
def _compiled(choice_json: str, protocol: Protocol) -> Compiled:
    choice = WorkloadChoice.model_validate_json(choice_json)
    workload = workload_of(choice)
    try:
        return workload.compile(choice.records, choice.parameters, protocol)
    except UsageError as error:
        raise UsageError(*(_of_request(choice, about) for about in error.complaints)) from None


def _of_request(choice: WorkloadChoice, complaint: Complaint) -> Complaint:
    """Say where in a request something is that keeps its workload from being compiled."""
    first = complaint.path[0] if complaint.path else None
    if first in choice.parameters:
        return complaint.within("workload", "parameters")
    if first == "records":
        return complaint.within("workload")
    if choice.definition is not None:
        return complaint.within("workload", "definition")
    return Complaint(("workload",), str(complaint))  # a part of it that the request does not have


def workload_sha256(request: Request) -> str:
    """Name the workload's text by its SHA-256: what was measured stays known."""
    return hashlib.sha256(workload_of(request.workload).text.encode()).hexdigest()
