"""A workload: read, checked, and resolved for a number of records."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from plimsoll.complaints import Complaint, Place, Range, Scalar, unknown
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.databases import protocol_facts
from plimsoll.model.engine import EngineWorkload, KeySpace, Protocol
from plimsoll.workload.compiled import Compiled
from plimsoll.workload.ddl import define
from plimsoll.workload.items import Item
from plimsoll.workload.operations import Operation, read_operations
from plimsoll.workload.parameters import Parameter, read_parameters, referenced, substitute
from plimsoll.workload.tables import TableShape, read_tables

MAX_RECORDS = 10**12


@dataclass(frozen=True)
class Workload:
    """A checked workload.

    Attributes:
        name: Its name.
        about: One line for people.
        source: Where it was read from: a file's name, or a request's field.
        dataset: Name of its dataset.
        default_records: Records where nobody says how many; None: somebody must.
        parameters: What a user may set, by name.
        root: The document.
        tables_root: The document that holds its tables: a dataset's, or its own.
        text: The document as written.
    """

    name: str
    about: str
    source: str
    dataset: str
    default_records: int | None
    parameters: Mapping[str, Parameter]
    root: Item
    tables_root: Item
    text: str

    def compile(
        self,
        records: int | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        protocol: Protocol = "mysql",
    ) -> Compiled:
        """Resolve it for a family of databases.

        Args:
            records: What `$records` stands for; None: the workload's own default.
            parameters: Values by name, for those that are not to have their default.
            protocol: The family.

        Raises:
            WorkloadError: A parameter or the number of records is not allowed, or what comes of
                them cannot be.
        """
        facts = protocol_facts(protocol)
        tables, operations, values = self._resolve(records, parameters or {})
        resolved = tuple(operation.resolve(protocol) for operation in operations)
        if any(operation is None for operation in resolved):
            problem = f"the workload has no {facts.language.upper()} statements"
            raise WorkloadError(Complaint((), problem, place=Place(self.source)))
        if not facts.has_consistency:
            self._refuse_consistency(parameters or {})
        in_tables = referenced(self.tables_root.entries()["tables"])
        return Compiled(
            name=self.name,
            protocol=protocol,
            dataset=self.dataset,
            records=int(str(values.pop("records"))),
            parameters=values,
            dataset_parameters={name: values[name] for name in values if name in in_tables},
            tables=tuple(table for shape in tables.values() for table in define(shape, protocol)),
            engine=EngineWorkload(
                key_spaces=tuple(
                    KeySpace(name=shape.name, first=shape.first, records=shape.rows)
                    for shape in tables.values()
                ),
                operations=tuple(operation for operation in resolved if operation is not None),
            ),
        )

    def summary(self) -> dict[str, object]:
        """Say what it is for, and what may be set of it, in plain values."""
        return {
            "name": self.name,
            "about": self.about,
            "dataset": self.dataset,
            "default_records": self.default_records,
            "parameters": {
                parameter.name: {
                    "about": parameter.about,
                    "default": parameter.default,
                    "kind": parameter.kind,
                    "allowed": list(parameter.allowed),
                }
                for parameter in self.parameters.values()
            },
        }

    def _refuse_consistency(self, given: Mapping[str, Scalar]) -> None:
        for name in given:
            if self.parameters[name].kind == "consistency":
                problem = f"a parameter of {self.name} on Cassandra alone"
                raise WorkloadError(Complaint((name,), problem))

    def check(self) -> None:
        """Read everything once, with the defaults.

        Raises:
            WorkloadError: Something in it cannot be.
        """
        self._resolve(None if self.default_records else 1000, {})

    def _resolve(
        self, records: int | None, parameters: Mapping[str, Scalar]
    ) -> tuple[dict[str, TableShape], tuple[Operation, ...], dict[str, Scalar]]:
        chosen = self.default_records if records is None else records
        if chosen is None:
            problem = "says no number of records: --records is needed"
            raise WorkloadError(Complaint((), problem, place=Place(self.source)))
        if not 1 <= chosen <= MAX_RECORDS:
            problem = f"must be from 1 to {MAX_RECORDS}, not {chosen}"
            allowed = Range(1, MAX_RECORDS)
            raise UsageError(Complaint(("records",), problem, chosen, allowed, listed=False))
        for name in parameters:
            if name not in self.parameters:
                what = f"parameter of {self.name}"
                raise WorkloadError(unknown(what, name, self.parameters, (name,)))
        values: dict[str, Scalar] = {"records": chosen}
        for name, parameter in self.parameters.items():
            given = name in parameters
            value = parameters[name] if given else parameter.default
            values[name] = parameter.check(value, None if given else parameter.item)
        tables = read_tables(_part(self.tables_root, "tables", values))
        operations = read_operations(_part(self.root, "operations", values), tables)
        return tables, operations, values


def read_workload(
    root: Item, *, text: str, name: str, datasets: Callable[[Item], Item]
) -> Workload:
    """Read a workload's document and check all of it.

    Args:
        root: The document.
        text: The document as written.
        name: The workload's name where the document has none.
        datasets: Finds the document of a dataset that the workload names.

    Raises:
        WorkloadError: Something in it cannot be.
    """
    fields = root.fields(
        "about",
        "operations",
        optional=("name", "source", "dataset", "tables", "parameters", "default_records"),
    )
    if ("dataset" in fields) == ("tables" in fields):
        raise root.error("must have either 'tables' or the name of a 'dataset'")
    tables_root, parameters, default_records = root, {}, fields.get("default_records")
    if "dataset" in fields:
        tables_root = datasets(fields["dataset"])
        shared = tables_root.fields(
            "about", "tables", optional=("source", "parameters", "default_records")
        )
        default_records = default_records or shared.get("default_records")
        parameters.update(read_parameters(shared))
    for parameter in read_parameters(fields).values():
        if parameter.name in parameters:
            raise parameter.item.error("is a parameter of the dataset already")
        parameters[parameter.name] = parameter
    own_name = fields["name"].text() if "name" in fields else name
    workload = Workload(
        name=own_name,
        about=fields["about"].text(),
        source=root.source,
        dataset=fields["dataset"].text() if "dataset" in fields else own_name,
        default_records=default_records.integer(1, MAX_RECORDS) if default_records else None,
        parameters=parameters,
        root=root,
        tables_root=tables_root,
        text=text,
    )
    workload.check()
    return workload


def _part(root: Item, name: str, values: Mapping[str, Scalar]) -> Item:
    return substitute(root.entries()[name], values)
