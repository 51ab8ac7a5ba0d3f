"""The two families of databases behind one face: what a dataset needs of its server."""

from contextlib import AbstractContextManager, closing
from typing import Protocol

from plimsoll.families.dataset_notes import DatasetNote
from plimsoll.families.mysql import datasets as dataset
from plimsoll.families.mysql import session as mysql
from plimsoll.model.engine import EngineTarget
from plimsoll.workload.compiled import Compiled


class Database(Protocol):
    """A server with datasets in it; every method raises `PlimsollError` where it refuses."""

    def close(self) -> None:
        """Leave the server."""

    def version(self) -> str:
        """Say what server answers, as it calls itself."""

    def read_note(self, dataset: str) -> DatasetNote | None:
        """Read what is known of a dataset; None if it was not made by Plimsoll."""

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Make the tables that are not there; returns what is there already."""

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are surely there."""

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Make the indexes, verify the count of each table, and return it."""

    def begin_load(self, compiled: Compiled) -> int:
        """Number a load that inserts; 0 for the first on a fresh dataset."""


class MysqlDatasets:
    """The datasets in one database of MySQL or a relative."""

    def __init__(self, connection: mysql.Connection) -> None:
        self._connection = connection

    def close(self) -> None:
        """Leave the server."""
        self._connection.close()

    def version(self) -> str:
        """Say what server answers, as it calls itself."""
        return mysql.server_version(self._connection)

    def read_note(self, dataset_name: str) -> DatasetNote | None:
        """Read what is known of a dataset; None if it was not made by Plimsoll."""
        return dataset.read_note(self._connection, dataset_name)

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Make the tables that are not there; returns what is there already."""
        return dataset.create_tables(self._connection, compiled)

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are surely there."""
        dataset.note_progress(self._connection, compiled, loaded_rows)

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Make the indexes, verify the count of each table, and return it."""
        return dataset.finish(self._connection, compiled)

    def begin_load(self, compiled: Compiled) -> int:
        """Number a load that inserts; 0 for the first on a fresh dataset."""
        return dataset.begin_load(self._connection, compiled)


def open_database(target: EngineTarget) -> AbstractContextManager[Database]:
    """Connect to a target, whichever family it is of; leave it at the end of the `with`.

    Raises:
        PlimsollError: The server cannot be reached or refuses; one line, without the password.
    """
    if target.protocol == "mysql":
        return closing(MysqlDatasets(mysql.connect(target)))
    # here, since the driver takes a while to import, and most loads are of the other family
    from plimsoll.families.cassandra.datasets import CassandraDatasets  # noqa: PLC0415
    from plimsoll.families.cassandra.session import Cassandra  # noqa: PLC0415

    return closing(CassandraDatasets(Cassandra(target)))
