"""A workload with every name and number resolved: what the engine and the schema need."""

from dataclasses import dataclass

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

ROWS_PER_STATEMENT = 500  # of one INSERT, while a dataset is loaded
ROWS_PER_LOAD = 2**40  # how far apart the new rows of successive loads are


@dataclass(frozen=True)
class Table:
    """One table as the database knows it.

    Attributes:
        name: Its name in the database.
        key_space: The table's name in the workload, without the copy's number.
        rows: Rows of its dataset.
        first: Number of the first row; the others follow.
        columns: Its columns, in the order of `row`.
        key: Those of its primary key.
        row: What fills them.
        create_sql: Makes it, unless it is there; of CQL databases, in CQL.
        index_sql: By index name, what makes its secondary indexes once its rows are there.
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
        """Say what one of several loaders, each with an equal share of the rows, has to load.

        Args:
            target: The database.
            share: The loader's share, counted from 0.
            shares: How many loaders there are.
            connections: Connections that insert at the same time.
            load_order: `number`: as YCSB inserts, so that hashed keys come in no order.
            rows_per_statement: Rows of one INSERT.
            timeout_ms: After which an INSERT has failed.
            seed: Seed of the rows' random parts.
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
class Compiled:
    """A workload for a number of records and a choice of its parameters.

    Attributes:
        name: The workload's name.
        protocol: The databases that it is resolved for.
        dataset: Name of its dataset; workloads with the same one run on the same tables.
        records: What `$records` stands for.
        parameters: Every parameter's value.
        dataset_parameters: Those of them that the tables and their rows depend on.
        tables: All tables, copies one by one.
        engine: What the engine sends.
    """

    name: str
    protocol: Protocol
    dataset: str
    records: int
    parameters: dict[str, Scalar]
    dataset_parameters: dict[str, Scalar]
    tables: tuple[Table, ...]
    engine: EngineWorkload

    def engine_workload(self, load_number: int = 0) -> EngineWorkload:
        """What the engine sends when `load_number` loads have inserted into the tables before.

        Each load's new rows have numbers of their own, so that a table can be loaded again and
        again without a key being met twice. 0 for the first load on a fresh dataset.
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
        return EngineWorkload(key_spaces=spaces, operations=self.engine.operations)

    @property
    def inserts(self) -> bool:
        """Whether its operations add rows with numbers of their own."""
        return '"next_key"' in self.engine.model_dump_json()

    @property
    def rows(self) -> int:
        """Rows of all tables together."""
        return sum(table.rows for table in self.tables)
