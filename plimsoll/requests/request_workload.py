"""The workload that a request names or brings, resolved for its number of records."""

import hashlib
from functools import cache

from plimsoll.complaints import Complaint, unknown
from plimsoll.errors import UsageError
from plimsoll.model.databases import protocol_of_engine
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.request.request import Request
from plimsoll.workload.compiled import Compiled, Table
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


def background_workload(request: Request, number: int) -> Compiled:
    """Resolve the workload of one of a request's backgrounds, from 0; remembered likewise.

    Raises:
        UsageError: It cannot be.
    """
    try:
        choice = request.background[number].workload
        return _compiled(choice.model_dump_json(), protocol_of(request))
    except UsageError as error:
        raise error.within("background", number) from None


def prepared_workloads(request: Request) -> tuple[Compiled, ...]:
    """Resolve a workload for each dataset that a request needs, its own first.

    Raises:
        UsageError: One cannot be.
    """
    beside = (background_workload(request, number) for number in range(len(request.background)))
    by_dataset: dict[str, Compiled] = {}
    for compiled in (compiled_workload(request), *beside):
        by_dataset.setdefault(compiled.dataset, compiled)
    return tuple(by_dataset.values())


def prepared_tables(request: Request) -> tuple[Table, ...]:
    """All tables of these datasets, in one order."""
    return tuple(table for compiled in prepared_workloads(request) for table in compiled.tables)


def require_possible_background(request: Request) -> None:
    """Refuse backgrounds whose tables are not what they say, or that others would make otherwise.

    Raises:
        UsageError: There is one, or its workload cannot be; names the field and what is allowed.
    """
    own = compiled_workload(request)
    known = {own.dataset: own}
    for number, asked in enumerate(request.background):
        compiled = background_workload(request, number)
        try:
            _require_tables(asked.tables, compiled, own, known.get(compiled.dataset))
            for other in known.values():
                _require_apart(compiled, other)
        except UsageError as error:
            raise error.within("background", number) from None
        known.setdefault(compiled.dataset, compiled)


def _require_apart(compiled: Compiled, other: Compiled) -> None:
    """Refuse a table that two datasets would make: it is one dataset's, and has its rows."""
    theirs = {table.name: table for table in other.tables}
    for table in compiled.tables:
        alike = compiled.dataset == other.dataset and table == theirs.get(table.name)
        if table.name in theirs and not alike:
            problem = f"its table {table.name} is there already, from the dataset {other.dataset}"
            raise UsageError(Complaint(("workload",), problem))


def _require_tables(tables: str, compiled: Compiled, own: Compiled, other: Compiled | None) -> None:
    """Hold a background's dataset against the request's own, and against one of its name."""
    if tables == "same" and compiled.dataset != own.dataset:
        problem = (
            f"{compiled.name} works on the dataset {compiled.dataset}, and the request's workload"
            f" on {own.dataset}: choose `own`, or a workload on {own.dataset}"
        )
        raise UsageError(Complaint(("tables",), problem, tables))
    if tables == "own" and compiled.dataset == own.dataset:
        problem = (
            f"{compiled.name} works on the dataset {own.dataset}, as the request's workload does:"
            " choose `same`, or a workload with other tables"
        )
        raise UsageError(Complaint(("tables",), problem, tables))
    if other is None:
        return
    if compiled.records != other.records:
        problem = f"the dataset {other.dataset} has {other.records:,} already"
        path, allowed = ("workload", "records"), (str(other.records),)
        raise UsageError(Complaint(path, problem, compiled.records, allowed))
    for name, value in compiled.dataset_parameters.items():
        if value != other.dataset_parameters.get(name):
            wanted = other.dataset_parameters.get(name)
            problem = f"the dataset {other.dataset} is made with {wanted} already"
            where = ("workload", "parameters", name)
            raise UsageError(Complaint(where, problem, value, (str(wanted),)))


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
