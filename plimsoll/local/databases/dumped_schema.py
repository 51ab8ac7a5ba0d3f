"""A schema from a dump, on a private server: `mysqldump --no-data` or `pg_dump -s`.

Only statements that make tables, indexes, types and sequences are executed; the server reads them,
and no parser of ours.
"""

import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from plimsoll import words
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.files import read_limited
from plimsoll.model.engine.asked import EngineTarget, Protocol
from plimsoll.model.request.dsn import parse_dsn

BYTES_MOST = 64 << 20
# Quoted parts and comments, in which a semicolon ends nothing; one without an end ends the file.
_QUOTED = {
    "mysql": r"'(?:[^'\\]|\\.)*+(?:'|\Z)|\"(?:[^\"\\]|\\.)*+(?:\"|\Z)|`[^`]*+(?:`|\Z)|--[^\n]*+"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)",
    "postgres": r"'[^']*+(?:'|\Z)|\"[^\"]*+(?:\"|\Z)|\$(\w*+)\$.*?(?:\$\1\$|\Z)|--[^\n]*+"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)",
}
_TAKEN = {
    "mysql": re.compile(
        r"CREATE\s+TABLE\b|ALTER\s+TABLE\b|CREATE\s+(?:UNIQUE\s+|FULLTEXT\s+)?INDEX\b",
        re.IGNORECASE,
    ),
    "postgres": re.compile(
        r"CREATE\s+(?:UNLOGGED\s+)?TABLE\b|ALTER\s+TABLE\b(?!.*\bOWNER\s+TO\b)"
        r"|CREATE\s+(?:UNIQUE\s+)?INDEX\b|ALTER\s+INDEX\b|CREATE\s+(?:SEQUENCE|TYPE|DOMAIN|SCHEMA"
        r"|EXTENSION)\b|ALTER\s+SEQUENCE\b.*\bOWNED\s+BY\b",
        re.IGNORECASE | re.DOTALL,
    ),
}
_DELIMITER = re.compile(r"^DELIMITER ;;$.*?^DELIMITER ;$", re.MULTILINE | re.DOTALL)
_LEADING = re.compile(r"(?:\s|--[^\n]*+\n?|\#[^\n]*+\n?|/\*(?!!)(?:[^*]|\*(?!/))*+\*/)*+")
_SERVER = re.compile(r"^-- (?:Server version\s+|Dumped from database version )(\S+)", re.MULTILINE)


@dataclass(frozen=True)
class DumpedSchema:
    """A schema on a private server.

    Attributes:
        target: The server and database.
        server: Product and version of the server that was dumped; empty if the dump does not say.
        notes: What could not be made of it.
    """

    target: EngineTarget
    server: str
    notes: tuple[str, ...]


def split_schema(text: str, protocol: Protocol) -> list[str]:
    """Return the statements of a dump that make tables, in time linear in its length."""
    ends = re.compile(rf"{_QUOTED[protocol]}|(?P<end>;)", re.DOTALL)
    if protocol == "mysql":
        text = _DELIMITER.sub("", text)
    found, start = [], 0
    for match in ends.finditer(text):
        if match["end"]:
            found.append(text[start : match.start()])
            start = match.end()
    found.append(text[start:])
    taken = []
    for one in found:
        leading = _LEADING.match(one)
        statement = one[leading.end() if leading else 0 :].strip()
        if _TAKEN[protocol].match(statement):
            taken.append(statement)
    return taken


@contextmanager
def load_schema(path: Path, protocol: Protocol) -> Iterator[DumpedSchema]:
    """Make the tables of a dump on a private server, which is gone after the `with`.

    Raises:
        UsageError: The file cannot be read, or makes no table.
        PlimsollError: There is no server of this family on this machine, and none can be had.
    """
    text = read_limited(path, bytes_max=BYTES_MOST).decode("utf-8", "replace")
    statements = split_schema(text, protocol)
    if not statements:
        program = "pg_dump -s" if protocol == "postgres" else "mysqldump --no-data"
        raise UsageError(f"--schema: {path} makes no table: {program} writes a schema")
    named = _SERVER.search(text[:10_000])
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-schema-") as folder,
        _start_server(Path(folder) / "server", protocol) as dsn,
    ):
        target = parse_dsn(dsn)
        refused = _execute(target, statements)
        if len(refused) == len(statements):
            raise UsageError(f"--schema: {path}: {refused[0]}")
        yield DumpedSchema(target, named[1] if named else "", tuple(refused))


@contextmanager
def _start_server(directory: Path, protocol: Protocol) -> Iterator[str]:
    if protocol == "postgres":
        from plimsoll.local.databases.postgres_server import PostgresServer  # noqa: PLC0415 - a driver

        with PostgresServer.start(directory=directory) as postgres:
            yield postgres.dsn
        return
    from plimsoll.local.databases.mariadb_server import MariaDbServer  # noqa: PLC0415 - a driver

    with MariaDbServer.start(directory=directory) as mariadb:
        yield mariadb.dsn


def _execute(target: EngineTarget, statements: list[str]) -> list[str]:
    """Execute statements; returns a sentence for each that was refused."""
    if target.protocol == "postgres":
        from plimsoll.databases.postgres import session as postgres  # noqa: PLC0415 - a driver

        with closing(postgres.connect(target)) as connection:
            return _collect_refusals(lambda sql: postgres.execute(connection, sql), statements)
    from plimsoll.databases.mysql import session as mysql  # noqa: PLC0415 - a driver

    with closing(mysql.connect(target)) as connection:
        with suppress(PlimsollError):
            mysql.execute(connection, "SET SESSION foreign_key_checks = 0")
        return _collect_refusals(lambda sql: mysql.execute(connection, sql), statements)


def _collect_refusals(execute: Callable[[str], object], statements: Sequence[str]) -> list[str]:
    refused = []
    for statement in statements:
        try:
            execute(statement)
        except PlimsollError as error:
            head = words.escape_controls(" ".join(statement.split())[:60])
            refused.append(f"of the schema is left out: {head} ...: {error}".partition(" to: ")[0])
    return refused
