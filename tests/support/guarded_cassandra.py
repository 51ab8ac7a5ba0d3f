"""A Cassandra that asks for passwords, grants rights, and writes down what one user does.

Cassandra's own audit log is the judge: for each statement it prepares or carries out it says of
what kind the statement is and which table it is on, as the server understood it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import EXEC_PROFILE_DEFAULT, Cluster, ExecutionProfile, Session

from plimsoll.local.databases.cassandra_server import CassandraServer
from tests.support.patient_cassandra import PATIENCE_S, PATIENT_SETTINGS

ADMIN = ("cassandra", "cassandra")  # what such a server begins with
AUDITED = ("audited_user", "x")
GUARDED_SETTINGS: dict[str, object] = {
    **PATIENT_SETTINGS,
    "authenticator": "PasswordAuthenticator",
    "authorizer": "CassandraAuthorizer",
    "user_defined_functions_enabled": True,
    "audit_logging_options": {
        "enabled": True,
        "logger": [{"class_name": "FileAuditLogger"}],
        "included_users": AUDITED[0],
        "excluded_keyspaces": "",  # its own are left out by default
    },
}
_LINE = re.compile(
    r" FileAuditLogger - user:.*?\|type:(?P<kind>\w+)\|category:\w+"
    r"(?:\|ks:(?P<keyspace>[^|]*))?(?:\|scope:(?P<table>[^|]*))?\|operation:"
)


@dataclass(frozen=True)
class Deed:
    """What the server did.

    Attributes:
        kind: `PREPARE_STATEMENT`, `SELECT`, `UPDATE` (an INSERT too), `UNAUTHORIZED_ATTEMPT` ...
        keyspace: None where it was done to none.
        table: The same.
    """

    kind: str
    keyspace: str | None
    table: str | None


class AuditLog:
    """What the server has written down, read onward from where it was read before."""

    def __init__(self, server: CassandraServer) -> None:
        """Begin with what is written from now on."""
        self._path: Path = server.directory / "server.log"
        self._at = self._path.stat().st_size

    def read(self) -> list[Deed]:
        """Give what is new; what the server has answered is in it, since it writes that first."""
        with self._path.open("rb") as log:
            log.seek(self._at)
            text = log.read()
        self._at += len(text)
        return [Deed(**match.groupdict()) for match in _LINE.finditer(text.decode())]


@contextmanager
def session_of(
    server: CassandraServer, user: tuple[str, str], keyspace: str | None = None
) -> Iterator[Session]:
    """Connect as a user for a time."""
    name, password = user
    with Cluster(
        [server.host],
        port=server.port,
        protocol_version=4,
        auth_provider=PlainTextAuthProvider(name, password),
        connect_timeout=PATIENCE_S,
        control_connection_timeout=PATIENCE_S,
        execution_profiles={EXEC_PROFILE_DEFAULT: ExecutionProfile(request_timeout=PATIENCE_S)},
    ) as cluster:
        yield cluster.connect(keyspace)
