"""A compiled workload: all names and numbers are resolved for the engine and the schema."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from plimsoll.complaints import Scalar
from plimsoll.model.engine.asked import (
    DatasetSpec,
    EngineTarget,
    EngineWorkload,
    KeySpace,
    LoadOrder,
    Protocol,
)
from plimsoll.model.engine.values import Value

ROWS_PER_STATEMENT = 500  # in one INSERT while a dataset is loaded
ROWS_PER_LOAD = 2**40  # distance between the new rows of successive loads


@dataclass(frozen=True)
class Table:
    """A table of the database.

    Attributes:
        name: The table's name in the database.
        key_space: The table's name in the workload, without the number of the copy.
        rows: The number of rows of the dataset.
        first: The number of the first row; the others follow.
        columns: The columns, in the order of `row`.
        key: The columns of the primary key.
        row: The values that fill the columns.
        create_sql: The statement that creates the table if it does not exist; CQL for Cassandra.
        index_sql: The statements that create secondary indexes after loading, by index name.
        reference_sql: What an ALTER TABLE adds for each foreign key after loading, by its name.
        loses_rows: Whether an operation with logic, or a stored procedure, deletes rows, which
            loading would bring back.
    """

    name: str
    key_space: str
    rows: int
    first: int
    columns: tuple[str, ...]
    key: tuple[str, ...]
    row: tuple[Value, ...]
    create_sql: str
    index_sql: dict[str, str]
    reference_sql: dict[str, str] = field(default_factory=dict)
    loses_rows: bool = False

    def dataset_spec(
        self,
        target: EngineTarget,
        *,
        share: int = 0,
        shares: int = 1,
        connections: int = 8,
        load_order: LoadOrder = "key",
        rows_per_statement: int = ROWS_PER_STATEMENT,
        timeout_ms: int = 60_000,
        seed: int = 1,
    ) -> DatasetSpec:
        """Return the part that one of several loaders has to load; parts are of equal size.

        Args:
            target: The database.
            share: The number of the loader, from 0.
            shares: The number of loaders.
            connections: The number of concurrent inserts.
            load_order: The order of the rows. `number` is that of YCSB, where hashed keys come
                unsorted.
            rows_per_statement: The number of rows per INSERT.
            timeout_ms: The time after which an INSERT has failed, in milliseconds.
            seed: The random seed of the rows.
        """
        return DatasetSpec(
            target=target,
            table=self.name,
            columns=self.columns,
            row=self.row,
            from_row=self.first + self.rows * share // shares,
            to_row=self.first + self.rows * (share + 1) // shares,
            load_order=load_order,
            rows_per_statement=rows_per_statement,
            connections=connections,
            timeout_ms=timeout_ms,
            seed=seed,
        )


@dataclass(frozen=True)
class RowCondition:
    """What is true of the rows before and after every load.

    Attributes:
        about: What is true.
        sql: A query whose first column is the number of breaches.
    """

    about: str
    sql: str


@dataclass(frozen=True)
class Compiled:
    """A workload, compiled for a number of records and values of its parameters.

    Attributes:
        name: The workload's name.
        protocol: The wire protocol of the database family.
        dataset: The name of the dataset; workloads with the same dataset use the same tables.
        records: The value of `$records`.
        parameters: The values of all parameters.
        dataset_parameters: The values of the parameters that the tables and rows depend on.
        tables: All tables, with each copy as one.
        engine: The workload that the engine sends.
        sampled: The tables whose keys are drawn from those that exist.
        per_minute: Figures by name: committed operations per minute, of which one.
        conditions: What is true of the rows, by name.
        procedures: The statements that create its stored procedures, by name; None for one that
            the user has made.
    """

    name: str
    protocol: Protocol
    dataset: str
    records: int
    parameters: dict[str, Scalar]
    dataset_parameters: dict[str, Scalar]
    tables: tuple[Table, ...]
    engine: EngineWorkload
    sampled: tuple[str, ...] = ()
    per_minute: Mapping[str, str] = field(default_factory=dict)
    conditions: Mapping[str, RowCondition] = field(default_factory=dict)
    procedures: Mapping[str, str | None] = field(default_factory=dict)

    def engine_workload(self, load_number: int = 0) -> EngineWorkload:
        """The workload to send after `load_number` loads have inserted into the tables.

        Each load's new rows have numbers of their own, so that a table can be loaded repeatedly
        without duplicate keys. 0 for the first load on a fresh dataset.
        """
        spaces = tuple(
            KeySpace(
                name=space.name,
                first=space.first,
                records=space.records,
                insert_from=space.first + space.records + load_number * ROWS_PER_LOAD
                if load_number
                else None,
            )
            for space in self.engine.key_spaces
        )
        return self.engine.model_copy(update={"key_spaces": spaces})

    @property
    def operation_names(self) -> tuple[str, ...]:
        """The names of its operations."""
        return tuple(operation.name for operation in self.engine.operations)

    @property
    def inserts(self) -> bool:
        """Whether operations insert rows with new numbers."""
        return '"next_key"' in self.engine.model_dump_json()

    @property
    def rows(self) -> int:
        """The number of rows of all tables."""
        return sum(table.rows for table in self.tables)
