"""Keys that a server has as texts, and that a workload binds to numbers."""

from plimsoll.databases.family import family_of
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.workload.compared import list_compared_with_numbers
from plimsoll.workload.compiled import Compiled


def find_texts_compared_with_numbers(target: EngineTarget, compiled: Compiled) -> tuple[str, ...]:
    """Describe the columns of tables of the user's own whose index a workload's numbers cannot use.

    MySQL and MariaDB read a whole table to compare a text with a number. PostgreSQL binds the
    number as the column's type, and Cassandra refuses it.

    Raises:
        PlimsollError: The database refuses.
    """
    with family_of(target.protocol).open_datasets(target) as datasets:
        texts = {table.name: datasets.texts_apart_from_numbers(table) for table in compiled.tables}
    if not any(texts.values()):
        return ()
    compared = {
        (table, column)
        for operation in compiled.engine.operations
        for column, sql in list_compared_with_numbers(operation)
        for table, types in texts.items()
        if column.lower() in types and f"`{table}`" in sql
    }
    return tuple(
        f"the column {column} of {table} is {texts[table][column.lower()]}, and {compiled.name}"
        " compares it with a number: the server reads the whole table for that, without an index."
        " Give the column a text as its value in the workload, such as"
        ' {format: "{}", of: [row]}'
        for table, column in sorted(compared)
    )
