"""Making the load user in a target, with the rights that a workload needs and no others."""

import base64
import hashlib
import hmac
import os
from contextlib import closing

from plimsoll.families.load_user import LOAD_USER, load_password
from plimsoll.families.postgres.session import Connection, connect, execute, quoted
from plimsoll.model.engine import EngineTarget

RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_ITERATIONS = 4096  # as servers have it: scram_iterations


def make_load_user(master: EngineTarget, run_id: str) -> str:
    """Make the user, or set its password and rights again.

    The server is sent what it keeps of a password, as libpq's PQchangePassword does: the password
    itself would stand in its log and in pg_stat_statements. The target is the run's own, and gets
    what counts its statements besides.

    Returns:
        Its name.

    Raises:
        PlimsollError: The server refuses.
    """
    verifier = scram_verifier(load_password(master.password, run_id), os.urandom(16))
    with closing(connect(master)) as connection:
        known = execute(connection, "SELECT 1 FROM pg_roles WHERE rolname = $1", (LOAD_USER,))
        verb = "ALTER" if known else "CREATE"
        execute(connection, f"{verb} ROLE {LOAD_USER} LOGIN PASSWORD '{verifier}'")
        ((schema,),) = execute(connection, "SELECT current_schema()")
        tables = f"ALL TABLES IN SCHEMA {quoted(str(schema))}"
        execute(connection, f"GRANT USAGE ON SCHEMA {quoted(str(schema))} TO {LOAD_USER}")
        execute(connection, f"GRANT {', '.join(RIGHTS)} ON {tables} TO {LOAD_USER}")
        _count_statements(connection)
    return LOAD_USER


def scram_verifier(password: str, salt: bytes) -> str:
    """Compute what a server keeps of a password of ASCII letters: RFC 5802, section 3; RFC 7677."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    client = hmac.digest(salted, b"Client Key", "sha256")
    server = hmac.digest(salted, b"Server Key", "sha256")
    stored = hashlib.sha256(client).digest()
    salt64, stored64, server64 = (base64.b64encode(one).decode() for one in (salt, stored, server))
    return f"SCRAM-SHA-256${_ITERATIONS}:{salt64}${stored64}:{server64}"


def _count_statements(connection: Connection) -> None:
    """Let the server count statements, where it has loaded what can: RDS has by default."""
    ((loaded,),) = execute(connection, "SHOW shared_preload_libraries")
    if "pg_stat_statements" in str(loaded):
        execute(connection, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")
