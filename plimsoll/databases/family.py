"""The interface of a family of databases, and the lookup of the family for a protocol.

A family is all databases that speak one wire protocol. It is a package beside this module, whose
functions are those of `Family`.
"""

import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import assert_never

from plimsoll.databases import cassandra, mysql, postgres
from plimsoll.databases.connecting import Pooler
from plimsoll.databases.dataset_notes import DatasetNote
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import EngineTarget, Protocol
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerWaits
from plimsoll.workload.compiled import Compiled, Table

Start = int | str | None
GoOn = Callable[[], bool]


class Datasets(typing.Protocol):
    """The datasets of one server; every method raises `PlimsollError` if the server refuses."""

    def version(self) -> str:
        """Return the server's product and version, as it reports them."""

    def has_place(self) -> bool:
        """Return whether the database or keyspace exists; `create_tables` may create it."""

    def read_notes(self) -> dict[str, DatasetNote]:
        """Read the notes of all datasets that Plimsoll made, by the dataset's name."""

    def find_noted_name(self, compiled: Compiled) -> str:
        """Return the name under which a workload's dataset is noted; its own if it is not."""

    def read_note(self, compiled: Compiled) -> DatasetNote | None:
        """Read the note of a workload's dataset; None if Plimsoll did not make the dataset."""

    def has_table(self, table: Table) -> bool:
        """Return whether a table exists that has at least the workload's columns."""

    def texts_apart_from_numbers(self, table: Table) -> dict[str, str]:
        """Return the columns, in small letters, that no index serves if compared with a number.

        Each has its type, as the server writes it.
        """

    def describe_early_writes(self, names: Sequence[str]) -> dict[str, str]:
        """Say of tables what their writes wait for, where that is not the storage.

        Args:
            names: The tables, as statements write them; those that do not exist are left out.

        Returns:
            A sentence for each such table, or for the one behind a view or partition.
        """

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Create the missing tables, and note the dataset; return the note of what is present."""

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are known to be present."""

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Build the indexes, verify the row count of each table, and return the counts."""

    def count_own(self, compiled: Compiled) -> dict[str, int]:
        """Count the rows of tables that Plimsoll did not make, without changing anything."""

    def scan(self, table: Table, index: str | None, start: Start, going_on: GoOn) -> Start:
        """Read pages of an index, or of a table and its primary key, while `going_on` allows it.

        Args:
            table: The table.
            index: The name of the index; None to read the table.
            start: The result of an earlier call; None to start at the first page.
            going_on: Called between pieces; False ends the reading.

        Returns:
            Where the next call continues; None if all has been read.
        """

    def layout(self, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
        """Return the stored size of each table, given its counted rows."""

    def read_row(self, table: str, column: str, key: int | str) -> tuple[object, ...] | None:
        """Read the row in which a column has a value; None if there is none."""

    def count_keys(self, table: str, column: str, keys: Sequence[int | str]) -> int:
        """Count the keys that a table has."""

    def sample_keys(self, table: str, column: str, most: int) -> tuple[int | str, ...]:
        """Return keys that a table has: all, or if there are more than `most`, a sample."""

    def drop(self, compiled: Compiled) -> None:
        """Drop a dataset that has a note, and its note last; other tables stay."""

    def begin_load(self, compiled: Compiled) -> int:
        """Return the number of a new load that inserts; 0 for the first on a fresh dataset."""


class Family(typing.Protocol):
    """A family of databases."""

    def open_datasets(self, target: EngineTarget) -> AbstractContextManager[Datasets]:
        """Connect to a target; disconnect at the end of the `with`.

        Raises:
            PlimsollError: The server is unreachable or refuses; one line, without the password.
        """

    def find_pooler(self, target: EngineTarget) -> Pooler | None:
        """Return the pooler or proxy that answers at a server's address; None if there is none.

        Raises:
            PlimsollError: The server is unreachable or refuses the login.
        """

    def await_ready(self, target: EngineTarget) -> None:
        """Wait until a target that was made for a run is ready as a whole.

        Raises:
            PlimsollError: It does not become ready.
        """

    def make_load_user(self, master: EngineTarget, run_id: str) -> str | None:
        """Create the user as which a run's load connects, with only the rights that it needs.

        Returns:
            Its name; None if the run's targets need no user.
        """

    def settle(self, target: EngineTarget, *, longest_s: float) -> bool:
        """Wait until a server has worked off the backlog of loading.

        Returns:
            False if it had not after `longest_s` seconds.
        """

    def read_counters(self, target: EngineTarget) -> ServerCounters | None:
        """Read the server's own counters; None if it does not answer."""

    def read_parameters(self, target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
        """Read engine parameters as the server reports them; unknown ones are left out.

        Returns:
            The values by name; empty if the server does not answer.
        """

    def server_figures(
        self, before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
    ) -> ServerFigures:
        """Compute what the server did between two readings of its counters.

        Args:
            before: The counters before the step's load.
            after: The counters after all clients had ended.
            statements_by_clients: The statements that the clients report to have executed; None if
                one of them did not report.
        """

    def signs_of_limits(self, server: ServerFigures) -> list[str]:
        """Describe what the counters show of the server's own limits, one sentence each."""

    def waits(self, server: ServerFigures) -> ServerWaits:
        """Return what a step's load waited for, as far as the counters show."""

    def storage_rates(self, server: ServerFigures) -> StorageRates | None:
        """Return the server's storage I/O; None if it is not counted or the counters restarted."""

    def find_unfinished_work(self, now: ServerCounters) -> UnfinishedWork | None:
        """Return the backlog that a load left on a target; None if there is none."""

    def write_debt(self, now: ServerCounters) -> WriteDebt | None:
        """Return what the server owes to its data files; None if it does not report it."""


def find_family(protocol: Protocol) -> Family:
    """Return the family whose databases speak a protocol."""
    match protocol:
        case "mysql":
            return mysql
        case "cql":
            return cassandra
        case "postgres":
            return postgres
        case _:
            assert_never(protocol)
