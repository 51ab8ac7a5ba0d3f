"""How large a dataset's tables lie in a server, of each family by its own means."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from plimsoll.model.dataset_layout import TableLayout
from plimsoll.workload.compiled import Compiled

Ask = Callable[..., Sequence[Sequence[Any]]]  # a statement and its values; gives the rows
_MIB = 2**20


def mysql_layout(ask: Ask, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
    """Ask InnoDB: pages that its trees hold, from statistics that ANALYZE TABLE has just renewed.

    dev.mysql.com/doc/refman/8.4/en/information-schema-tables-table.html: DATA_LENGTH is the
    clustered index's pages, INDEX_LENGTH those of the others, times the page size.
    """
    ((page,),) = ask("SELECT @@innodb_page_size")
    page_bytes = int(page)
    found = []
    for table in compiled.tables:
        ask(f"ANALYZE TABLE `{table.name}`")
        rows = ask(
            "SELECT data_length, index_length FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = ?",
            table.name,
        )
        data, index = (None if value is None else int(value) for value in rows[0])
        found.append(_paged(table.name, counts[table.name], data, index, page_bytes))
    return found


def postgres_layout(ask: Ask, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
    """Ask PostgreSQL for the sizes of the files: the table with its TOAST and maps, its indexes."""
    ((page,),) = ask("SELECT current_setting('block_size')")
    found = []
    for table in compiled.tables:
        name = '"' + table.name.replace('"', '""') + '"'
        ((data, index),) = ask(
            "SELECT pg_table_size(?::regclass), pg_indexes_size(?::regclass)", name, name
        )
        found.append(_paged(table.name, counts[table.name], int(data), int(index), int(page)))
    return found


def cassandra_layout(
    ask: Ask, keyspace: str, compiled: Compiled, counts: Mapping[str, int]
) -> list[TableLayout]:
    """Ask Cassandra for the space of SSTables, in whole MiB; it has no pages.

    cassandra.apache.org/doc/5.0/cassandra/managing/operating/virtualtables.html, `disk_usage`.
    """
    rows = ask("SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage")
    used = {str(row[1]): int(row[2]) * _MIB for row in rows if row[0] == keyspace}
    return [
        TableLayout(name=table.name, rows=counts[table.name], data_bytes=used.get(table.name))
        for table in compiled.tables
    ]


def _paged(
    name: str, rows: int, data: int | None, index: int | None, page_bytes: int
) -> TableLayout:
    pages = None if data is None else (data + (index or 0)) // page_bytes
    return TableLayout(
        name=name,
        rows=rows,
        data_bytes=data,
        index_bytes=index,
        pages=pages,
        page_bytes=page_bytes,
    )
