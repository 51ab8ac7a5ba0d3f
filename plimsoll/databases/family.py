"""What Plimsoll asks of a family of databases, and where each family is found.

A family is all databases that speak one wire protocol. It is a package beside this module, whose
functions are those of `Family`.
"""

import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import assert_never

from plimsoll.databases import cassandra, mysql, postgres
from plimsoll.databases.dataset_notes import DatasetNote
from plimsoll.model.datasets import TableLayout
from plimsoll.model.engine.asked import EngineTarget, Protocol
from plimsoll.model.judging.steps import StorageRates
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerWaits
from plimsoll.workload.compiled import Compiled, Table

Start = int | str | None
GoOn = Callable[[], bool]


class Datasets(typing.Protocol):
    """The datasets of one server; every method raises `PlimsollError` where it refuses."""

    def version(self) -> str:
        """Say what server answers, as it calls itself."""

    def has_place(self) -> bool:
        """Whether what holds the datasets' tables is there; `create_tables` may make it."""

    def read_note(self, dataset: str) -> DatasetNote | None:
        """Read what is known of a dataset; None if Plimsoll did not make it."""

    def create_tables(self, compiled: Compiled) -> DatasetNote:
        """Make the tables that are not there, and note the dataset; returns what is there."""

    def note_progress(self, compiled: Compiled, loaded_rows: dict[str, int]) -> None:
        """Note how many rows of each table are surely there."""

    def finish(self, compiled: Compiled) -> dict[str, int]:
        """Make the indexes, verify the count of each table's rows, and return it by table."""

    def count_own(self, compiled: Compiled) -> dict[str, int]:
        """Count the rows of tables that Plimsoll did not make, and change nothing."""

    def scan(self, table: Table, index: str | None, start: Start, going_on: GoOn) -> Start:
        """Read pages of an index, or of a table and its primary key, as long as it may go on.

        Args:
            table: Which.
            index: By name; None: the table.
            start: What an earlier call gave; None: from the first page on.
            going_on: Asked between two parts of it.

        Returns:
            Where to go on; None: all has been read.
        """

    def layout(self, compiled: Compiled, counts: Mapping[str, int]) -> list[TableLayout]:
        """Say how large each table lies there, given its counted rows."""

    def drop(self, compiled: Compiled) -> None:
        """Drop a dataset that is noted, its note last; another's tables stay."""

    def begin_load(self, compiled: Compiled) -> int:
        """Number a load that inserts; 0 for the first on a fresh dataset."""


class Family(typing.Protocol):
    """A family of databases."""

    def open_datasets(self, target: EngineTarget) -> AbstractContextManager[Datasets]:
        """Connect to a target; leave it at the end of the `with`.

        Raises:
            PlimsollError: It cannot be reached or refuses; one line, without the password.
        """

    def await_ready(self, target: EngineTarget) -> None:
        """Wait until a target that was made for a run serves as a whole.

        Raises:
            PlimsollError: It does not.
        """

    def make_load_user(self, master: EngineTarget, run_id: str) -> str | None:
        """Make the user that a run's load connects as, with no more rights than it needs.

        Returns:
            Its name; None where the run's targets ask for no user.
        """

    def settle(self, target: EngineTarget, *, longest_s: float) -> bool:
        """Wait until a server has worked off what loading a dataset left it to do.

        Returns:
            False where it had not after `longest_s`.
        """

    def read_counters(self, target: EngineTarget) -> ServerCounters | None:
        """Read the server's own counters; None where it does not answer."""

    def read_parameters(self, target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
        """Read engine parameters as the server has them; without those that it does not know.

        Returns:
            Nothing where it does not answer.
        """

    def server_figures(
        self, before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
    ) -> ServerFigures:
        """Say what the server did between two readings of its counters.

        Args:
            before: Read before the step's load.
            after: Read when all clients had ended.
            statements_by_clients: What the clients say that they had executed; None where one of
                them did not say.
        """

    def signs_of_limits(self, server: ServerFigures) -> list[str]:
        """Say what the counters tell of the server's own limits in a step, a sentence each."""

    def waits(self, server: ServerFigures) -> ServerWaits:
        """Say what the counters tell of what a step's load waited for."""

    def storage_rates(self, server: ServerFigures) -> StorageRates | None:
        """Say what I/O the counters tell of; None where they tell of none, or began again."""

    def unfinished_work(self, now: ServerCounters) -> UnfinishedWork | None:
        """Say what a target still has to work off after a load; None where nothing is left."""


def family_of(protocol: Protocol) -> Family:
    """Find the family whose databases speak a protocol."""
    match protocol:
        case "mysql":
            return mysql
        case "cql":
            return cassandra
        case "postgres":
            return postgres
        case _:
            assert_never(protocol)
