"""The programs that run each protocol's databases on this machine, for `plimsoll doctor`."""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import assert_never

from plimsoll.errors import MissingToolError, UnusableToolError
from plimsoll.local.databases import (
    cassandra_program,
    mariadb_first_data,
    mariadb_program,
    postgres_first_data,
    postgres_program,
)
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.request.cassandra_target import VERSION


@dataclass(frozen=True)
class ServerProgram:
    """A program, and how to find it.

    Attributes:
        name: The name for people.
        describe: Function that tries the installed program and describes it; raises
            `PlimsollError` if there is none, or if it does not work.
        how_to_get: The command that installs it.
        why_optional: Why most users do not need it; None if it is needed.
    """

    name: str
    describe: Callable[[], str]
    how_to_get: str
    why_optional: str | None = None


def list_server_programs(protocol: Protocol) -> tuple[ServerProgram, ...]:
    """List the programs that run a protocol's databases on this machine."""
    match protocol:
        case "mysql":
            return (ServerProgram("MariaDB server", _describe_mariadb, mariadb_program.HOW_TO_GET),)
        case "cql":
            return (
                ServerProgram(
                    "Java 17",
                    lambda: str(cassandra_program.find_java()),
                    cassandra_program.HOW_TO_GET_JAVA,
                    why_optional="not here: Cassandra needs it",
                ),
                ServerProgram(
                    "Cassandra server",
                    lambda: f"{VERSION} ({cassandra_program.find_cassandra()})",
                    cassandra_program.HOW_TO_GET,
                    why_optional="not fetched yet: the first Cassandra target on this machine"
                    " fetches it",
                ),
            )
        case "postgres":
            return (
                ServerProgram(
                    f"PostgreSQL {postgres_program.MAJOR}",
                    _describe_postgres,
                    postgres_program.say_how_to_get(),
                ),
            )
        case _:
            assert_never(protocol)


def fetch_programs(protocols: Collection[Protocol], say: Callable[[str], None]) -> None:
    """Fetch what databases of some protocols need, if it is missing.

    Raises:
        PlimsollError: It could not be fetched.
    """
    for protocol in protocols:
        find, fetch, name = _fetch_steps(protocol)
        try:
            find()
        except MissingToolError as missing:
            because = f": {missing}" if isinstance(missing, UnusableToolError) else ""
            say(f"fetching {name}, once{because}")
            fetch()


def _fetch_steps(protocol: Protocol) -> tuple[Callable[[], Path], Callable[[], Path], str]:
    match protocol:
        case "mysql":
            return mariadb_program.find_mariadbd, mariadb_program.fetch_mariadb, "MariaDB's server"
        case "cql":
            return cassandra_program.find_cassandra, cassandra_program.fetch_cassandra, "Cassandra"
        case "postgres":
            find, fetch = postgres_program.find_postgres, postgres_program.fetch_postgres
            return find, fetch, "PostgreSQL's server"
        case _:
            assert_never(protocol)


def _describe_mariadb() -> str:
    mariadbd = mariadb_program.find_mariadbd()
    mariadb_first_data.find_first_data(mariadbd)  # made once: this is the trial
    return f"{mariadb_program.read_version(mariadbd)} ({mariadbd})"


def _describe_postgres() -> str:
    postgres = postgres_program.find_postgres()
    account = ("plimsoll", "plimsoll", "plimsoll")
    with TemporaryDirectory(prefix="plimsoll-doctor-") as folder:
        postgres_first_data.create_data_directory(
            postgres, Path(folder) / "data", account=account, as_on_rds=True
        )
    return f"{postgres_program.version(postgres)} ({postgres})"
