"""A request with its workloads, compiled and checked together, once, where the request enters.

Everything that needs a workload is given the `CheckedRequest`; nothing compiles it again. It enters
from a file or plain values (`validate_request`), or as a model that the API or a state of the
workflow has read (`check_request`).
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from plimsoll.complaints import Complaint, Range, Scalar, complain_of_unknown
from plimsoll.errors import UsageError
from plimsoll.model.databases import find_protocol
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.engine.values import FormatValue, LiteralValue, PatternValue, TextValue, Value
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.expectations import parse_rule, require_operations
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.model.request.phases import Phase, compute_records_per_operation
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from plimsoll.workload.compiled import Compiled, Table
from plimsoll.workload.library import load_builtin_workload, parse_workload
from plimsoll.workload.pgbench.schema import read_schema
from plimsoll.workload.pgbench.workload import NO_TABLES, ScriptWorkload, is_scripted
from plimsoll.workload.workload import Workload

# the fields of a request that a phase has too
_OF_A_PHASE = (("workload",), ("search",), ("limits",))

_NUMBER_BYTES = 20

_PGBENCH = "tpcb-like"  # the workload with pgbench's tables

# workloads by what chose them: `WorkloadChoice` as JSON, the protocol, and pgbench's scale
CompiledWorkloads = dict[tuple[str, Protocol, int | None], Compiled]


@dataclass(frozen=True)
class CheckedRequest:
    """A request and its workloads, compiled for their numbers of records and for its target.

    Attributes:
        request: The request.
        workload: The workload of the run's own search.
        phases: The workload of each phase, by the phase's name.
        background: The workload of each background load, in the request's order.
        schema: The statements that make the tables of scripts, where the request has them.
    """

    request: Request
    workload: Compiled
    phases: Mapping[str, Compiled]
    background: tuple[Compiled, ...]
    schema: tuple[str, ...] = ()

    def of_phase(self, phase: str | None) -> Compiled:
        """Return the workload of a phase, by its name; the run's own if it is None."""
        return self.workload if phase is None else self.phases[phase]

    @property
    def datasets(self) -> tuple[Compiled, ...]:
        """A workload for each dataset that is prepared, the run's own first."""
        by_dataset: dict[str, Compiled] = {}
        for compiled in (self.workload, *self.background):
            by_dataset.setdefault(compiled.dataset, compiled)
        return tuple(by_dataset.values())

    @property
    def tables(self) -> tuple[Table, ...]:
        """All tables of these datasets."""
        return tuple(table for compiled in self.datasets for table in compiled.tables)

    @property
    def rows(self) -> int:
        """The number of rows of these tables, before the load."""
        return sum(table.rows for table in self.tables)

    @property
    def rows_bytes(self) -> int:
        """An upper limit of the bytes of these rows, before a server stores them."""
        return sum(table.rows * sum(map(_estimate_width, table.row)) for table in self.tables)

    def search_request(self, phase: str | None) -> Request:
        """Return the request for a search: the run's own, or one with a phase's fields in place.

        Args:
            phase: The name of a phase with a search; None for the run's own search.
        """
        request = self.request
        if phase is None:
            return request
        asked = _find_phase(request, phase)
        operations = self.phases[phase].operation_names
        own_us = {name: us for name, us in request.limits.limits_us.items() if name in operations}
        inherited = request.limits.model_copy(update={"limits_us": own_us, "soak_s": 0})
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


def validate_request(
    value: Mapping[str, Any], known: CompiledWorkloads | None = None
) -> CheckedRequest:
    """Read a request from plain values, and check it; `known` as in `check_request`.

    Raises:
        UsageError: Something in it is not valid.
    """
    return check_request(validate(Request, value), known)


def check_request(request: Request, known: CompiledWorkloads | None = None) -> CheckedRequest:
    """Compile a request's workloads, and check them with the rest of it.

    Args:
        request: The request, whose fields are valid.
        known: The workloads that are compiled already; new ones are added. Requests that are
            checked together, such as an experiment's, compile the workloads that they share once.

    Raises:
        UsageError: Something in it is not valid; names the field.
    """
    checked = _compile_workloads(request, {} if known is None else known)
    _require_possible_background(checked)
    _require_known_limits(request, checked.workload)
    _require_possible_rules(checked)
    _require_possible_phases(checked)
    _require_own_tables(checked)
    _refuse_what_find_takes_alone(checked)
    return checked


def _compile_workloads(request: Request, known: CompiledWorkloads) -> CheckedRequest:
    protocol = find_request_protocol(request)
    scale = request.prepare.pgbench
    schema = _read_schema(request)
    own = _compile_choice(request.workload, protocol, known, scale)
    field = "schema_sql" if schema else "pgbench"
    makes_tables = scale is not None or bool(schema)
    if makes_tables and not is_scripted(own):
        problem = f"is for pgbench scripts, and {own.name} brings its own tables"
        raise UsageError(Complaint(("prepare", field), problem, scale))
    if makes_tables and not request.target.provisioned:
        problem = (
            "is for a target that is made for the run; in an existing database `plimsoll prepare"
            f" --workload {_PGBENCH}` makes pgbench's tables"
        )
        raise UsageError(Complaint(("prepare", field), problem, scale))
    background: list[Compiled] = []
    for number, load in enumerate(request.background):
        try:
            background.append(_compile_choice(load.workload, protocol, known, scale))
        except UsageError as error:
            raise error.within("background", number) from None
    phases: dict[str, Compiled] = {}
    for number, phase in enumerate(request.phases):
        try:
            choice = phase.workload_on(request.workload)
            phases[phase.name] = _compile_choice(choice, protocol, known, scale)
        except UsageError as error:
            raise error.within("phases", number) from None
    return CheckedRequest(request, own, phases, tuple(background), schema)


def _read_schema(request: Request) -> tuple[str, ...]:
    if request.prepare.schema_sql is None:
        return ()
    try:
        return read_schema(request.prepare.schema_sql)
    except UsageError as error:
        raise error.within("prepare", "schema_sql") from None


def _compile_choice(
    choice: WorkloadChoice, protocol: Protocol, known: CompiledWorkloads, scale: int | None
) -> Compiled:
    key = choice.model_dump_json(), protocol, scale
    if key not in known:
        workload = read_workload_choice(choice)
        try:
            if choice.name is not None:
                known[key] = _compile_builtin(
                    choice.name, choice.records, protocol, **choice.parameters
                )
            elif isinstance(workload, ScriptWorkload) and scale is not None:
                rows = _compile_builtin(_PGBENCH, scale, protocol)
                known[key] = workload.compile_on(rows, choice.parameters)
            else:
                known[key] = workload.compile(choice.records, choice.parameters, protocol)
        except UsageError as error:
            placed = (_place_complaint(choice, about) for about in error.complaints)
            raise UsageError(*placed) from None
    return known[key]


@lru_cache(maxsize=128, typed=True)  # 1 and 1.0 are different values of a parameter
def _compile_builtin(
    name: str, records: int, protocol: Protocol, /, **parameters: Scalar
) -> Compiled:
    """Compile a built-in workload once in a process, which plans many steps of a run with it."""
    return load_builtin_workload(name).compile(records, parameters, protocol)


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
    # never a file's name, as a request may come from anyone
    return load_builtin_workload(choice.name, ("workload", "name"))


def hash_workload(request: Request) -> str:
    """Return the SHA-256 of the workload's text and of those that it extends.

    It identifies what was measured.
    """
    workload = read_workload_choice(request.workload)
    return hashlib.sha256("".join([workload.text, *workload.base_texts]).encode()).hexdigest()


def _estimate_width(value: Value) -> int:
    """Return the most bytes that a value takes."""
    match value:
        case TextValue():
            return value.length
        case PatternValue():
            return len(value.pattern)
        case FormatValue():
            return len(value.template) + sum(map(_estimate_width, value.of))
        case LiteralValue():
            return max(_NUMBER_BYTES, len(str(value.value)))
    return _NUMBER_BYTES


def find_request_protocol(request: Request) -> Protocol:
    """Return the wire protocol of a request's target."""
    return find_protocol(request.target.engine)


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


# The background: its datasets and tables stand beside the run's own.


def _require_possible_background(checked: CheckedRequest) -> None:
    """Refuse a background whose dataset or tables conflict with others.

    Raises:
        UsageError: There is a conflict; names the field.
    """
    own = checked.workload
    known = {own.dataset: own}
    for number, compiled in enumerate(checked.background):
        tables = checked.request.background[number].tables
        try:
            _require_tables(tables, compiled, own, known.get(compiled.dataset))
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


def _refuse_what_find_takes_alone(checked: CheckedRequest) -> None:
    """Refuse a workload that draws keys of existing tables, or sends what cannot be read.

    A run makes its rows. What a procedure or a script does is not known, and it may do more than a
    request of the service may ask for, unless the target is made for the run: there its user has
    no further rights.

    A search of an existing database from this machine takes one. On AWS an endpoint has a secret.

    Raises:
        UsageError: There is one.
    """
    target = checked.request.target
    searched = isinstance(target, EndpointTarget) and target.secret_arn is None
    asked = () if searched else (checked.workload,)
    for compiled in (*asked, *checked.phases.values(), *checked.background):
        if compiled.sampled:
            problem = (
                f"{compiled.name} has `keys: sampled` in its table {compiled.sampled[0]}, which"
                " `plimsoll find` and `plimsoll load` take alone: a run makes rows whose keys it"
                " knows"
            )
            raise UsageError(Complaint(("workload",), problem))
        has_tables = target.provisioned and (compiled.tables or checked.schema)
        if is_scripted(compiled) and not has_tables:
            raise UsageError(Complaint(("workload",), NO_TABLES))
        if compiled.procedures:
            problem = (
                f"{compiled.name} has `procedures`, which `plimsoll find` and `plimsoll load` take"
                " alone: a run does not execute what it cannot read"
            )
            raise UsageError(Complaint(("workload",), problem))


# Limits and rules name operations of the workload.


def _require_known_limits(request: Request, workload: Compiled) -> None:
    """Refuse limits on operations that the workload does not have.

    Raises:
        UsageError: There is such a limit.
    """
    known = workload.operation_names
    for name in request.limits.limits_us:
        if name not in known:
            path = ("limits", "limits_us", name)
            raise UsageError(complain_of_unknown("operation", name, known, path))


def _require_possible_rules(checked: CheckedRequest) -> None:
    """Refuse rules about operations that the workload does not have.

    Raises:
        UsageError: There is such a rule.
    """
    for number, text in enumerate(checked.request.expect):
        try:
            require_operations([parse_rule(text)], checked.workload.operation_names)
        except UsageError as error:
            raise error.within("expect", number) from None


# Phases run on the run's own dataset.


def _find_phase(request: Request, name: str) -> Phase:
    for phase in request.phases:
        if phase.name == name:
            return phase
    raise UsageError(f"the request has no phase {name!r}")


def _require_possible_phases(checked: CheckedRequest) -> None:
    """Refuse phases with another dataset than the run's own, or with an impossible search.

    Raises:
        UsageError: There is such a phase.
    """
    own = checked.workload
    for number, phase in enumerate(checked.request.phases):
        theirs = checked.phases[phase.name]
        path = ("phases", number, "workload")
        if (theirs.dataset, theirs.dataset_parameters) != (own.dataset, own.dataset_parameters):
            made = f"{own.dataset}{_describe_parameters(own)}"
            problem = (
                f"uses the dataset {theirs.dataset}{_describe_parameters(theirs)}, but the run's"
                f" own is {made}"
            )
            raise UsageError(Complaint(path, problem))
        if phase.to_completion is None:
            _require_possible_search(checked, number)
            continue
        most, records = max(phase.to_completion.connections), phase.to_completion.records
        each = compute_records_per_operation(theirs.engine.operations)
        least = math.ceil(most * each)
        if records < least:
            of_each = "" if each == 1 else f", each of which sends {each:g} at a time"
            problem = f"are fewer than its {most} connections{of_each}"
            field = ("phases", number, "to_completion", "records")
            raise UsageError(Complaint(field, problem, records, Range(least=least)))


def _require_possible_search(checked: CheckedRequest, number: int) -> None:
    """Refuse a phase whose search would not be valid as the run's own.

    Raises:
        UsageError: The search is not valid.
    """
    name = checked.request.phases[number].name
    own = checked.search_request(name)
    try:
        validate(Request, own.model_dump(mode="json"))
        _require_known_limits(own, checked.phases[name])
    except UsageError as error:
        told = (
            complaint.within("phases", number) if complaint.path[:1] in _OF_A_PHASE else complaint
            for complaint in error.complaints
        )
        raise UsageError(*told) from None


def _describe_parameters(compiled: Compiled) -> str:
    given = ", ".join(f"{name}={value}" for name, value in compiled.dataset_parameters.items())
    return f" with {given}" if given else ""


def _require_own_tables(checked: CheckedRequest) -> None:
    """Refuse a workload that inserts into a user's own tables: new rows cannot be numbered.

    Raises:
        UsageError: The workload is such a one.
    """
    snapshot = checked.request.target.snapshot
    if snapshot is None:
        return
    if len(checked.datasets) > 1:
        problem = "a target restored from a snapshot has no tables for it: use the same ones"
        raise UsageError(Complaint(("background",), problem))
    sent = (checked.workload, *checked.phases.values(), *checked.background)
    if any(workload.inserts for workload in sent):
        problem = (
            "a workload that inserts rows needs the note of them that `prepare` makes; in a"
            " snapshot of your own it may read, update and delete"
        )
        raise UsageError(Complaint(("target", "snapshot"), problem, snapshot))
