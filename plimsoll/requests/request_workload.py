"""The workload that a request names or contains, compiled for its number of records."""

import hashlib
from functools import cache

from plimsoll.complaints import Complaint, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.databases import protocol_of_engine
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.request.request import Request
from plimsoll.workload.compiled import Compiled, Table
from plimsoll.workload.library import list_builtin_names, load_workload, parse_workload
from plimsoll.workload.workload import Workload


def read_workload_choice(choice: WorkloadChoice) -> Workload:
    """Read and check the workload.

    Raises:
        UsageError: It is not valid; names the field and what is allowed.
    """
    if choice.definition is not None:
        try:
            return parse_workload(choice.definition, source="workload.definition")
        except UsageError as error:
            raise error.within("workload", "definition") from None
    assert choice.name is not None  # noqa: S101 - the model has one of both
    names = list_builtin_names()
    if choice.name not in names:  # never a file name, as a request may come from anyone
        path = ("workload", "name")
        raise UsageError(
            complain_of_unknown("workload", choice.name, names, path, value=choice.name)
        )
    return load_workload(choice.name)


def compile_workload(request: Request) -> Compiled:
    """Compile the request's workload; cached.

    Raises:
        UsageError: It is not valid.
    """
    return _compile_cached(request.workload.model_dump_json(), request_protocol(request))


def compile_background(request: Request, number: int) -> Compiled:
    """Compile the workload of a request's background with a number, from 0; cached.

    Raises:
        UsageError: It is not valid.
    """
    try:
        choice = request.background[number].workload
        return _compile_cached(choice.model_dump_json(), request_protocol(request))
    except UsageError as error:
        raise error.within("background", number) from None


def compile_prepared_workloads(request: Request) -> tuple[Compiled, ...]:
    """Compile a workload for each dataset that a request needs, its own first.

    Raises:
        UsageError: A workload is not valid.
    """
    beside = (compile_background(request, number) for number in range(len(request.background)))
    by_dataset: dict[str, Compiled] = {}
    for compiled in (compile_workload(request), *beside):
        by_dataset.setdefault(compiled.dataset, compiled)
    return tuple(by_dataset.values())


def list_prepared_tables(request: Request) -> tuple[Table, ...]:
    """Return all tables of these datasets."""
    return tuple(
        table for compiled in compile_prepared_workloads(request) for table in compiled.tables
    )


def require_possible_background(request: Request) -> None:
    """Refuse a background whose dataset or tables conflict with others.

    Raises:
        UsageError: There is a conflict, or a workload is not valid; names the field.
    """
    own = compile_workload(request)
    known = {own.dataset: own}
    for number, asked in enumerate(request.background):
        compiled = compile_background(request, number)
        try:
            _require_tables(asked.tables, compiled, own, known.get(compiled.dataset))
            for other in known.values():
                _require_apart(compiled, other)
        except UsageError as error:
            raise error.within("background", number) from None
        known.setdefault(compiled.dataset, compiled)


def _require_apart(compiled: Compiled, other: Compiled) -> None:
    """Refuse a table that two datasets would create: it has the rows of one of them."""
    theirs = {table.name: table for table in other.tables}
    for table in compiled.tables:
        alike = compiled.dataset == other.dataset and table == theirs.get(table.name)
        if table.name in theirs and not alike:
            problem = f"its table {table.name} is there already, from the dataset {other.dataset}"
            raise UsageError(Complaint(("workload",), problem))


def _require_tables(tables: str, compiled: Compiled, own: Compiled, other: Compiled | None) -> None:
    """Compare a background's dataset with the request's own, and with one of the same name."""
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


def request_protocol(request: Request) -> Protocol:
    """Return the wire protocol of a request's target."""
    return protocol_of_engine(request.target.engine)


@cache
def _compile_cached(choice_json: str, protocol: Protocol) -> Compiled:
    choice = WorkloadChoice.model_validate_json(choice_json)
    workload = read_workload_choice(choice)
    try:
        return workload.compile(choice.records, choice.parameters, protocol)
    except UsageError as error:
        raise UsageError(*(_place_complaint(choice, about) for about in error.complaints)) from None


def _place_complaint(choice: WorkloadChoice, complaint: Complaint) -> Complaint:
    """Add the place within a request to a complaint about its workload."""
    first = complaint.path[0] if complaint.path else None
    if first in choice.parameters:
        return complaint.within("workload", "parameters")
    if first == "records":
        return complaint.within("workload")
    if choice.definition is not None:
        return complaint.within("workload", "definition")
    return Complaint(("workload",), str(complaint))  # this part is not a field of the request


def hash_workload(request: Request) -> str:
    """Return the SHA-256 of the workload's text, which identifies what was measured."""
    return hashlib.sha256(read_workload_choice(request.workload).text.encode()).hexdigest()
