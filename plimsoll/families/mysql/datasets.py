"""Datasets in a MySQL-protocol database: made once, completed when interrupted, never doubled.

What has been made is noted in the table `plimsoll_datasets`, beside the dataset, so that a load
knows how many rows there are and a second `prepare` where the first one stopped.
"""

import json

from plimsoll.errors import PlimsollError
from plimsoll.families.dataset_notes import DatasetNote, check_short, check_this
from plimsoll.families.mysql.session import Connection, execute
from plimsoll.workload.compiled import Compiled, Table

_NOTES = "plimsoll_datasets"
_CREATE_NOTES = f"""\
CREATE TABLE IF NOT EXISTS {_NOTES} (
  dataset VARCHAR(64) NOT NULL PRIMARY KEY,
  records BIGINT NOT NULL,
  parameters TEXT NOT NULL,
  loads INT NOT NULL DEFAULT 0,
  loaded_rows TEXT NOT NULL
) ENGINE = InnoDB"""


def read_note(connection: Connection, dataset: str) -> DatasetNote | None:
    """Read what is known of a dataset; None if it was not made by Plimsoll.

    Raises:
        PlimsollError: The database refuses.
    """
    if not _table_exists(connection, _NOTES):
        return None
    rows = execute(
        connection,
        f"SELECT records, parameters, loads, loaded_rows FROM {_NOTES} WHERE dataset = %s",  # noqa: S608 - ours
        [dataset],
    )
    if not rows:
        return None
    records, parameters, loads, loaded = rows[0]
    return DatasetNote(int(records), json.loads(parameters), int(loads), json.loads(loaded))


def create_tables(connection: Connection, compiled: Compiled) -> DatasetNote:
    """Make the tables that are not there, and note the dataset.

    Returns:
        What is there already.

    Raises:
        PlimsollError: A table of that name is there with other columns, or the dataset is there
            with more records or other parameters.
    """
    execute(connection, _CREATE_NOTES)
    note = read_note(connection, compiled.dataset)
    if note is not None:
        check_this(compiled, note, notes=_NOTES)
    for table in compiled.tables:
        execute(connection, table.create_sql)
        _check_columns(connection, table)
    loaded = note.loaded_rows if note else {}
    execute(
        connection,
        f"INSERT INTO {_NOTES} (dataset, records, parameters, loaded_rows)"  # noqa: S608 - ours
        " VALUES (%s, %s, %s, %s) ON DUPLICATE KEY UPDATE"
        " records = VALUES(records), parameters = VALUES(parameters)",
        [
            compiled.dataset,
            compiled.records,
            json.dumps(compiled.dataset_parameters),
            json.dumps(loaded),
        ],
    )
    return DatasetNote(
        compiled.records, compiled.dataset_parameters, note.loads if note else 0, loaded
    )


def note_progress(connection: Connection, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
    """Note how many rows of each table are surely there.

    Raises:
        PlimsollError: The database refuses.
    """
    execute(
        connection,
        f"UPDATE {_NOTES} SET loaded_rows = %s WHERE dataset = %s",  # noqa: S608 - ours
        [json.dumps(loaded_rows), compiled.dataset],
    )


def create_indexes(connection: Connection, table: Table) -> None:
    """Make a table's secondary indexes that are not there.

    Raises:
        PlimsollError: The database refuses.
    """
    rows = execute(
        connection,
        "SELECT DISTINCT index_name FROM information_schema.statistics"
        " WHERE table_schema = DATABASE() AND table_name = %s",
        [table.name],
    )
    present = {str(row[0]) for row in rows}
    for name, sql in table.index_sql.items():
        if name not in present:
            execute(connection, sql)


def count_rows(connection: Connection, table: Table) -> int:
    """Count a table's rows, exactly.

    Raises:
        PlimsollError: The database refuses.
    """
    (row,) = execute(connection, f"SELECT COUNT(*) FROM `{table.name}`")  # noqa: S608 - a checked name
    return int(row[0])


def finish(connection: Connection, compiled: Compiled) -> dict[str, int]:
    """Make the indexes and verify the count of each table.

    Returns:
        Rows by table; more than the dataset's where loads have inserted.

    Raises:
        PlimsollError: A table has fewer rows than its dataset.
    """
    counts = {}
    for table in compiled.tables:
        create_indexes(connection, table)
        counts[table.name] = count_rows(connection, table)
    try:
        check_short(compiled, counts)
    except PlimsollError:
        note_progress(connection, compiled, {})  # the next prepare goes through all rows again
        raise
    note_progress(connection, compiled, {table.name: table.rows for table in compiled.tables})
    return counts


def begin_load(connection: Connection, compiled: Compiled) -> int:
    """Number a load that inserts; 0 for the first on a fresh dataset.

    Raises:
        PlimsollError: The database refuses.
    """
    execute(
        connection,
        f"UPDATE {_NOTES} SET loads = LAST_INSERT_ID(loads + 1) WHERE dataset = %s",  # noqa: S608 - ours
        [compiled.dataset],
    )
    (row,) = execute(connection, "SELECT LAST_INSERT_ID()")
    return max(int(row[0]) - 1, 0)


def _check_columns(connection: Connection, table: Table) -> None:
    rows = execute(
        connection,
        "SELECT column_name FROM information_schema.columns"
        " WHERE table_schema = DATABASE() AND table_name = %s ORDER BY ordinal_position",
        [table.name],
    )
    present = tuple(str(row[0]) for row in rows)
    if [name.lower() for name in present] != [name.lower() for name in table.columns]:
        raise PlimsollError(
            f"a table {table.name} is there with other columns ({', '.join(present)}): "
            "use another database"
        )


def _table_exists(connection: Connection, name: str) -> bool:
    return bool(
        execute(
            connection,
            "SELECT 1 FROM information_schema.tables"
            " WHERE table_schema = DATABASE() AND table_name = %s",
            [name],
        )
    )
