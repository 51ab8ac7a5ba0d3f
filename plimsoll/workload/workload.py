"""A workload: its document, checked, and compiled for a number of records."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, model_validator

from plimsoll.complaints import Complaint, Place, Range, Scalar, complain_of_unknown
from plimsoll.documents import Document
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.databases import Language, find_protocol_facts
from plimsoll.model.engine.asked import EngineOperation, EngineWorkload, KeySpace, Protocol
from plimsoll.workload.compiled import Compiled, RowCondition, Table
from plimsoll.workload.ddl import define_tables
from plimsoll.workload.declared import (
    Declared,
    Given,
    Name,
    Text,
    build_workload_error,
    locate_errors,
    read_part,
)
from plimsoll.workload.names import Names
from plimsoll.workload.operations import Operations, describe_logic, list_texts
from plimsoll.workload.parameters import Parameter, Parameters, find_references, substitute
from plimsoll.workload.rows import find_row_keys
from plimsoll.workload.statements import Statement, require_short
from plimsoll.workload.tables import Tables, TableShape
from plimsoll.workload.values import Scope

MAX_RECORDS = 10**12
_DELETES = re.compile(r"\bDELETE\s+FROM\s+[`\"]?(\w+)", re.IGNORECASE)
_NAMES: dict[Language, str] = {"sql": "SQL", "cql": "CQL", "postgres": "PostgreSQL"}


class DatasetDocument(Declared):
    """The document of a dataset. `Tables` reads its tables once all parameters have values."""

    about: Text
    source: Any = None
    default_records: Given[Annotated[int, Field(ge=1, le=MAX_RECORDS)]] = None
    parameters: Parameters = Field(default_factory=dict)
    tables: Any


class WorkloadDocument(DatasetDocument):
    """The document of a workload, which has its own tables or names a dataset.

    `Operations` reads its operations once all parameters have values, `Condition` its conditions.

    Attributes:
        mix: `weights` to choose each operation by its weight; `deck` to take it from a shuffled
            deck of the connection, with as many cards of an operation as its weight.
        per_minute: Figures of the load by name: committed operations per minute, of which one.
        conditions: What is true of the rows before and after every load, by name.
        procedures: The stored procedures that its statements may call, by name.
        extends: The name of the built-in workload that it changes; None once they are joined.
    """

    extends: Given[Text] = None
    name: Given[Text] = None
    dataset: Given[Text] = None
    tables: Any = None
    operations: Any
    mix: Literal["weights", "deck"] = "weights"
    per_minute: dict[Name, Text] = Field(default_factory=dict)
    conditions: dict[Name, Any] = Field(default_factory=dict)
    procedures: dict[Name, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _has_tables(self) -> Self:
        if len(self.model_fields_set & {"dataset", "tables"}) != 1:
            raise build_workload_error("must have either 'tables' or the name of a 'dataset'")
        return self


class Condition(Declared):
    """A condition that the rows meet, as a query of what breaks it.

    Attributes:
        about: What is true.
        sql: A query whose first column is the number of breaches, for MySQL and its relatives, and
            for PostgreSQL if `postgres` is missing.
        postgres: The query for PostgreSQL.
    """

    about: Text
    sql: Text
    postgres: Given[Text] = None


class Procedure(Declared):
    """A stored procedure, with the statement that creates it.

    Attributes:
        sql: The statement for MySQL and its relatives; None if the procedure is there already.
        postgres: The statement for PostgreSQL; likewise.
    """

    sql: Given[Text] = None
    postgres: Given[Text] = None


@dataclass(frozen=True)
class Workload:
    """A checked workload.

    Attributes:
        name: The workload's name.
        about: A description in one line.
        dataset: The name of its dataset.
        default_records: The default number of records; None if the user must choose it.
        parameters: The parameters that a user may set, by name.
        document: The document that it was read from.
        tables_document: The document with its tables: a dataset's or its own.
        text: The text of the document.
        base_texts: The texts of the built-in workloads that it extends, the nearest first.
    """

    name: str
    about: str
    dataset: str
    default_records: int | None
    parameters: Mapping[str, Parameter]
    document: Document
    tables_document: Document
    text: str
    base_texts: tuple[str, ...] = ()

    def compile(
        self,
        records: int | None = None,
        parameters: Mapping[str, Scalar] | None = None,
        protocol: Protocol = "mysql",
    ) -> Compiled:
        """Compile it for a family of databases.

        Args:
            records: The value of `$records`; None for the workload's default.
            parameters: Parameter values that differ from the defaults, by name.
            protocol: The wire protocol of the database family.

        Raises:
            WorkloadError: A parameter or the number of records is not allowed, or the result is not
                valid.
        """
        facts = find_protocol_facts(protocol)
        chosen = self._records(records)
        values = self._values(parameters or {})
        tables, operations = self._resolve({"records": chosen, **values}, facts.language)
        sent = tuple(each[protocol] for each in operations if protocol in each)
        if len(sent) < len(operations):
            raise self._refusal(f"the workload has no {_NAMES[facts.language]} statements")
        sampled = tuple(name for name, shape in tables.items() if shape.keys == "sampled")
        if protocol == "cql":
            for operation in sent:
                if needs := describe_logic(operation):
                    raise self._refusal(f"operations.{operation.name}: Cassandra has no {needs}")
        if sampled and any(operation.steps for operation in sent):
            raise self._refusal(
                f"tables.{sampled[0]}.keys: cannot be sampled for operations with logic"
            )
        if sampled and protocol == "cql":
            raise self._refusal(
                f"tables.{sampled[0]}.keys: Cassandra's keys cannot be sampled: rows lie by their"
                " tokens, and a read of all keys has no bound"
            )
        if not facts.has_consistency:
            self._refuse_consistency(parameters or {})
        in_tables = find_references(self.tables_document.value["tables"])
        procedures = self._procedures(facts.language)
        return Compiled(
            name=self.name,
            protocol=protocol,
            dataset=self.dataset,
            records=chosen,
            parameters=values,
            dataset_parameters={name: values[name] for name in values if name in in_tables},
            tables=_mark_losses(self._define(tables, protocol), sent, procedures),
            engine=EngineWorkload(
                key_spaces=tuple(
                    KeySpace(name=name, first=shape.first, records=shape.rows)
                    for name, shape in tables.items()
                ),
                operations=sent,
                mix=self._declared.mix,
            ),
            per_minute=self._declared.per_minute,
            conditions=self._conditions(tables, {"records": chosen, **values}, facts.language),
            procedures=procedures,
            sampled=sampled,
        )

    @property
    def operation_names(self) -> list[str]:
        """The names of its operations, in their order."""
        return list(self.document.value["operations"])

    @property
    def has_procedures(self) -> bool:
        """Whether it has stored procedures, which no request may call."""
        return bool(self.document.value.get("procedures"))

    @property
    def setting_names(self) -> list[str]:
        """The names of what a user may set."""
        return list(self.parameters)

    def summary(self) -> dict[str, object]:
        """Describe it and its parameters, as plain values."""
        return {
            "name": self.name,
            "about": self.about,
            "dataset": self.dataset,
            "default_records": self.default_records,
            "parameters": {
                name: {
                    "about": parameter.about,
                    "default": parameter.default,
                    "kind": parameter.takes,
                    "allowed": list(parameter.allowed),
                }
                for name, parameter in self.parameters.items()
            },
        }

    def check_setting(self, name: str, value: Scalar) -> Scalar:
        """Check a parameter's value, and return it in the form that is used.

        Raises:
            WorkloadError: There is no such parameter, or it does not allow the value.
        """
        if name not in self.parameters:
            what = f"parameter of {self.name}"
            raise WorkloadError(complain_of_unknown(what, name, self.parameters, (name,)))
        with locate_errors(name):
            return self.parameters[name].check(value)

    def check(self) -> None:
        """Check everything once, with default parameters.

        Raises:
            WorkloadError: Something in it is not valid.
        """
        values = {"records": self.default_records or 1000, **self._values({})}
        tables, _ = self._resolve(values)
        self._conditions(tables, values, None)
        for language in get_args(Language):
            self._procedures(language)
        with _locate_in_document(self.document), locate_errors("per_minute"):
            for name, operation in self._declared.per_minute.items():
                if operation not in self.operation_names:
                    raise WorkloadError(
                        complain_of_unknown("operation", operation, self.operation_names, (name,))
                    )

    @property
    def _declared(self) -> WorkloadDocument:
        return read_part(WorkloadDocument, self.document.value)

    def _conditions(
        self,
        tables: Mapping[str, TableShape],
        values: Mapping[str, Scalar],
        wanted: Language | None,
    ) -> dict[str, RowCondition]:
        """Return its conditions in a language, by name; none in CQL."""
        copies = {name: shape.copies for name, shape in tables.items()}
        names = {language: Names.of(tables, language) for language in get_args(Language)}
        found: dict[str, RowCondition] = {}
        with _locate_in_document(self.document):
            part = substitute(dict(self._declared.conditions), values)
            for name, declared in part.items():
                with locate_errors("conditions", name):
                    condition = read_part(Condition, declared)
                    texts = {"sql": condition.sql, "postgres": condition.postgres}
                    given = {field: text for field, text in texts.items() if text is not None}
                    statement = read_part(Statement, given, Scope(copies=copies))
                    written = statement.resolve(copies, names, wanted)
                    for language, query in written.items():
                        if not query.sql[0].upper().startswith(("SELECT", "WITH", "(")):
                            raise build_workload_error(
                                "is a query alone: it begins with SELECT or WITH"
                            )
                        if language == wanted:
                            found[name] = RowCondition(condition.about, query.sql[0])
        return found

    def _procedures(self, language: Language) -> dict[str, str | None]:
        """Return the statements that create its procedures in a language, by name."""
        found: dict[str, str | None] = {}
        with _locate_in_document(self.document):
            for name, declared in self._declared.procedures.items():
                with locate_errors("procedures", name):
                    procedure = read_part(Procedure, declared)
                    texts = {"sql": procedure.sql, "postgres": procedure.postgres}
                    text = found[name] = texts.get(language)
                    begins = rf"CREATE\s+PROCEDURE\s+{name}\s*\("
                    if text is not None and not re.match(begins, text, re.IGNORECASE):
                        raise build_workload_error(
                            f"begins with CREATE PROCEDURE {name}(", language
                        )
        return found

    def _records(self, records: int | None) -> int:
        chosen = self.default_records if records is None else records
        if chosen is None:
            raise self._refusal("has no default number of records: give one")
        if not 1 <= chosen <= MAX_RECORDS:
            problem = f"must be from 1 to {MAX_RECORDS}, not {chosen}"
            allowed = Range(1, MAX_RECORDS)
            raise UsageError(Complaint(("records",), problem, chosen, allowed, listed=False))
        return chosen

    def _values(self, given: Mapping[str, Scalar]) -> dict[str, Scalar]:
        chosen = {name: self.check_setting(name, value) for name, value in given.items()}
        defaults = {
            name: parameter.check(parameter.default) for name, parameter in self.parameters.items()
        }
        return {**defaults, **chosen}

    def _refuse_consistency(self, given: Mapping[str, Scalar]) -> None:
        for name in given:
            if self.parameters[name].takes == "consistency":
                raise build_workload_error(f"a parameter of {self.name} on Cassandra alone", name)

    def _refusal(self, problem: str) -> WorkloadError:
        return WorkloadError(Complaint((), problem, place=Place(self.document.source)))

    def _resolve(
        self, values: Mapping[str, Scalar], wanted: Language | None = None
    ) -> tuple[dict[str, TableShape], list[dict[Protocol, EngineOperation]]]:
        with _locate_in_document(self.tables_document):
            part = {"tables": self.tables_document.value["tables"]}
            tables = read_part(Tables, substitute(part, values), Scope(row=True)).tables
        copies = {name: shape.copies for name, shape in tables.items()}
        procedures = self._declared.procedures
        names = {
            language: Names.of(tables, language, procedures) for language in get_args(Language)
        }
        resolved = []
        characters = 0
        with _locate_in_document(self.document):
            part = {"operations": self.document.value["operations"]}
            operations = read_part(Operations, substitute(part, values)).operations
            texts = [
                text
                for operation in operations.values()
                for text in list_texts(operation.statements)
            ]
            keys = find_row_keys(tables, texts)
            for name, operation in operations.items():
                with locate_errors("operations", name):
                    resolved.append(operation.resolve(name, copies, names, wanted, keys))
                    require_short(characters := characters + _count_characters(resolved[-1]))
        return tables, resolved

    def _define(self, tables: Mapping[str, TableShape], protocol: Protocol) -> tuple[Table, ...]:
        defined: list[Table] = []
        for name in tables:
            with _locate_in_document(self.tables_document), locate_errors("tables", name):
                defined += define_tables(name, tables, protocol)
        return tuple(defined)


def _mark_losses(
    tables: tuple[Table, ...],
    operations: Sequence[EngineOperation],
    procedures: Mapping[str, str | None],
) -> tuple[Table, ...]:
    """Mark the tables from which an operation with logic, or a stored procedure, deletes."""
    texts = [
        sql
        for operation in operations
        if operation.steps
        for statement in operation.statements
        for sql in statement.sql
    ]
    texts += [sql for sql in procedures.values() if sql is not None]
    deleted = {name for text in texts for name in _DELETES.findall(text)}
    return tuple(replace(table, loses_rows=table.name in deleted) for table in tables)


def read_workload(
    document: Document, *, text: str, name: str, datasets: Callable[[str], Document]
) -> Workload:
    """Read and check a workload's document.

    Args:
        document: The document.
        text: The text of the document.
        name: The name of the workload if the document has none.
        datasets: A function that finds the document of a dataset by name.

    Raises:
        WorkloadError: Something in it is not valid.
    """
    with _locate_in_document(document):
        declared = read_part(WorkloadDocument, document.value)
    shared: DatasetDocument = declared
    tables_document = document
    if declared.dataset is not None:
        with _locate_in_document(document), locate_errors("dataset"):
            tables_document = datasets(declared.dataset)
        with _locate_in_document(tables_document):
            shared = read_part(DatasetDocument, tables_document.value)
        with _locate_in_document(document), locate_errors("parameters"):
            for parameter in declared.parameters:
                if parameter in shared.parameters:
                    raise build_workload_error("is a parameter of the dataset already", parameter)
    own_name = declared.name or name
    workload = Workload(
        name=own_name,
        about=declared.about,
        dataset=declared.dataset or own_name,
        default_records=declared.default_records or shared.default_records,
        parameters={**shared.parameters, **declared.parameters},
        document=document,
        tables_document=tables_document,
        text=text,
    )
    workload.check()
    return workload


def _count_characters(operation: Mapping[Protocol, EngineOperation]) -> int:
    """Return the highest number of characters that one target gets for an operation."""
    return max(
        (
            sum(len(text) for each in family.statements for text in each.sql)
            for family in operation.values()
        ),
        default=0,
    )


@contextmanager
def _locate_in_document(document: Document) -> Iterator[None]:
    """Add the position in the document to every error that the block raises."""
    try:
        yield
    except (UsageError, RecursionError) as error:
        known = error if isinstance(error, UsageError) else UsageError("nested too deeply")
        raise WorkloadError(*document.locate_complaints(known).complaints) from None
