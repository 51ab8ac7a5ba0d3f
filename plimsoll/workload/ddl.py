"""Creation of a dataset's tables, for each protocol."""

from typing import assert_never

from plimsoll.model.engine.asked import Protocol
from plimsoll.workload import cql_ddl, mysql_ddl, postgres_ddl
from plimsoll.workload.compiled import Table
from plimsoll.workload.tables import TableShape


def define_tables(table: str, shape: TableShape, protocol: Protocol) -> list[Table]:
    """Define each copy of a table.

    Raises:
        WorkloadError: The protocol's databases cannot have such a table.
    """
    match protocol:
        case "mysql":
            return mysql_ddl.define_mysql_tables(table, shape)
        case "cql":
            return cql_ddl.define_cql_tables(table, shape)
        case "postgres":
            return postgres_ddl.define_postgres_tables(table, shape)
        case _:
            assert_never(protocol)
