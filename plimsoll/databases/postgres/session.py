"""Connections to PostgreSQL for schemas, counts and the server's own counters, not for load."""

import base64
import hashlib
import hmac
import os
import socket
import ssl
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import pg8000.native
from pg8000.exceptions import DatabaseError

from plimsoll.databases.connecting import (
    ASKS_FOR_PASSWORD,
    Pooler,
    Trust,
    Watch,
    describe_no_answer,
    describe_other_server,
    describe_tls_error,
    describe_unreadable,
    escape_rows,
    make_tls_context,
    open_socket,
    shorten_message,
    shorten_statement,
    use_connection,
)
from plimsoll.databases.load_user import LOAD_USER, derive_load_password
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget

Rows = tuple[tuple[Any, ...], ...]
OURS = "/* plimsoll */"  # in every statement of ours; statement statistics keep the comment

# www.postgresql.org/docs/current/errcodes-appendix.html
_REFUSED = {
    # It says the same of an account that does not exist, and of one whose password has expired.
    "28P01": "wrong user or password, or the password has expired (VALID UNTIL)",
    "28000": "the server does not let this user in from here",
    "3D000": "there is no such database",
    "42501": "the user may not use this database",
    "53300": "the server is full of connections",
    "57P03": "the server is starting or stopping",
}
# What 28000 may mean, by the server's own words.
_NOT_LET_IN = {
    "pg_hba.conf rejects": "the server's pg_hba.conf rejects this user from here, or without TLS"
    " (`tls` verify or require)",
    "no encryption": "the server demands TLS: `tls` must be verify or require",
    "is not permitted to log in": "the account may not log in (ALTER ROLE ... LOGIN)",
    "does not exist": "there is no such user",
}
# www.postgresql.org/docs/current/protocol-message-formats.html, AuthenticationRequest
_UNKNOWN_LOGINS = {2: "Kerberos", 6: "SCM", 7: "GSSAPI (Kerberos)", 9: "SSPI (Windows)"}
# Errors that no server of another protocol would cause.
_PLAIN = (TimeoutError, ConnectionRefusedError, socket.gaierror, ssl.SSLError)
_LET_IN, _CLEAR_TEXT, _MD5, _SCRAM, _SCRAM_CONTINUES, _SCRAM_ENDS = 0, 3, 5, 10, 11, 12
_LEAST_VERSION = 130_000  # pg_stat_statements has total_exec_time
_ASKS_FOR_MD5 = "the server asks for the password by MD5, which can be broken"
_ITERATIONS_MOST = 100_000  # SCRAM's; the engine has the same limit, and servers use 4,096


class _RefusedError(Exception):
    """The server asks for something that is not given."""


class Connection(pg8000.native.Connection):  # type: ignore[misc]  # it carries no types
    """A connection that limits what the server learns, its time, and its bytes."""

    def __init__(self, target: EngineTarget) -> None:
        """Log in, in autocommit mode.

        Raises:
            Exception: An error of any type, depending on what the server sends.
        """
        self._watch = Watch(target.login_timeout_ms / 1000)
        self._trust = Trust.of(target.tls)
        self._allow_md5 = target.allow_md5
        self._asked: list[int] = []  # authentication requests of the login, in order
        tls = make_tls_context(target.tls, self._watch)
        reached = open_socket(target, self._watch)
        try:
            super().__init__(
                target.user,
                host=target.host,
                port=target.port,
                database=target.database,
                password=target.password,
                ssl_context=False if tls is None else tls,
                sock=reached,
                application_name="plimsoll administration",
                startup_params=dict(target.session_settings),
            )
        except BaseException:
            # the driver leaves them open, and a file that cannot send its rest complains later
            for name in ("_sock", "_usock"):
                with suppress(OSError, AttributeError):
                    getattr(self, name).close()
            reached.close()
            raise
        if _LET_IN not in self._asked:
            self.close()
            raise _RefusedError("the server is ready before it has let anybody in")
        self._watch.lift_limit()

    def handle_AUTHENTICATION_REQUEST(self, data: bytes, context: Any) -> None:  # noqa: N802 - the driver's name
        """Answer an authentication request, unless the password could be read by another."""
        asked = int.from_bytes(data[:4], "big")
        if asked in _UNKNOWN_LOGINS:
            raise _RefusedError(
                f"the server asks for a login by {_UNKNOWN_LOGINS[asked]}, which Plimsoll does not"
                " know: give it an account with a password (scram-sha-256 in pg_hba.conf)"
            )
        if asked == _CLEAR_TEXT and self._trust < Trust.VERIFIED:
            raise _RefusedError(
                f"{ASKS_FOR_PASSWORD}, as for ldap, pam or radius: `tls` must be verify"
            )
        if asked == _MD5 and not self._allow_md5:
            raise _RefusedError(f"{_ASKS_FOR_MD5}: ?allow_md5=true answers all the same")
        if asked == _SCRAM_CONTINUES and _read_iterations(data) > _ITERATIONS_MOST:
            raise _RefusedError(f"the server asks for more than {_ITERATIONS_MOST:,} hashes")
        if asked in self._asked:
            raise _RefusedError("the server asks for the same thing twice")
        if asked == _LET_IN and _SCRAM in self._asked and self._asked[-1] != _SCRAM_ENDS:
            raise _RefusedError("the server has not proved that it knows the password")
        self._asked.append(asked)
        super().handle_AUTHENTICATION_REQUEST(data, context)

    def cut_off(self) -> None:
        """Close it from another thread; whoever waits for an answer gets an error."""
        self._watch.cut_off()

    @cached_property
    def pooled(self) -> bool:
        """Whether a pooler stands before the server: then another process serves this session."""
        announced = getattr(self, "_backend_key_data", None)
        if announced is None:
            return False
        try:
            ((process,),) = self.run(f"SELECT {OURS} pg_backend_pid()")
        except (pg8000.native.DatabaseError, ValueError):  # a server that cannot say it
            return False
        return int(process) != int.from_bytes(announced[:4], "big")

    def rows_of(self, sql: str, values: Sequence[object]) -> Rows:
        """Send a statement and read its answer; the byte limit counts for each answer."""
        self._watch.begin_answer()
        named = {f"value{number}": value for number, value in enumerate(values)}
        # pg8000 loses comments before the first word
        verb, space, rest = sql.strip().partition(" ")
        marked = f"{verb} {OURS}{space}{rest}"
        if not named or not self.pooled:
            return escape_rows(self.run(marked, **named) or ())
        # The driver sends values after the statement has been parsed, and a pooler may take another
        # server for them unless both are in one transaction.
        self.run(f"BEGIN {OURS}")
        try:
            rows = self.run(marked, **named) or ()
        except BaseException:
            self.run(f"ROLLBACK {OURS}")
            raise
        self.run(f"COMMIT {OURS}")
        return escape_rows(rows)

    def close(self) -> None:
        """Close the connection; ignore one that is lost."""
        try:
            super().close()
        except pg8000.native.InterfaceError:
            self._watch.cut_off()


def connect(target: EngineTarget) -> Connection:
    """Connect, in autocommit mode.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    try:
        return Connection(target)
    except Exception as error:  # noqa: BLE001 - by what it sends, a server makes the driver raise anything
        raise PlimsollError(_describe_refusal(target, error)) from None


def execute(connection: Connection, sql: str, values: Sequence[object] = ()) -> Rows:
    """Execute a statement and return its rows.

    Args:
        connection: The connection.
        sql: The statement; its parameters are $1, $2 ...
        values: The values of the parameters.

    Raises:
        PlimsollError: The server refuses it, or the connection is lost.
    """
    try:
        return connection.rows_of(sql, values)
    except DatabaseError as error:
        code, message = _split_error(error)
        raise PlimsollError(
            f"the database says: {message} ({code}) to: {shorten_statement(sql)}"
        ) from None
    except pg8000.native.InterfaceError as error:
        raise PlimsollError(
            f"{shorten_message(_find_cause(error))} to: {shorten_statement(sql)}"
        ) from None
    except Exception as error:  # noqa: BLE001 - see above
        raise PlimsollError(f"{describe_unreadable(error)} to: {shorten_statement(sql)}") from None


def quote_name(name: str) -> str:
    """Quote a name, whatever characters it has."""
    return '"' + name.replace('"', '""') + '"'


def read_version(connection: Connection) -> str:
    """Return the server's product and version, as it reports them.

    Raises:
        PlimsollError: The version is older than those that Plimsoll knows.
    """
    ((version, number),) = execute(
        connection,
        "SELECT current_setting('server_version'), current_setting('server_version_num')::int",
    )
    version = shorten_message(version)
    if int(number) < _LEAST_VERSION:
        raise PlimsollError(f"PostgreSQL {version}: Plimsoll needs 13 or later")
    return f"PostgreSQL {version}"


def _read_iterations(data: bytes) -> int:
    """Read the number of SCRAM iterations that a server demands: RFC 5802, section 5.1."""
    for part in data[4:].split(b","):
        if part.startswith(b"i=") and part[2:].isdigit():
            return int(part[2:12])
    return 0


def _describe_refusal(target: EngineTarget, error: Exception) -> str:
    place = f"{target.host}:{target.port}"
    if isinstance(error, DatabaseError):
        code, message = _split_error(error)
        if code not in _REFUSED:
            return f"cannot connect to {place}: {message} ({code})"
        told = (reason for part, reason in _NOT_LET_IN.items() if part in message)
        reason = next(told, _REFUSED[code]) if code == "28000" else _REFUSED[code]
        return f"{target.user}@{place}/{target.database}: {reason} ({message}, {code})"
    cause = _find_cause(error)
    known = isinstance(cause, (*_PLAIN, _RefusedError))
    if not known and (other := describe_other_server(target)):
        message = other
    elif isinstance(cause, TimeoutError):
        message = describe_no_answer(target.login_timeout_ms / 1000)
    elif isinstance(cause, ssl.SSLError):
        message = describe_tls_error(cause)
    elif "Server refuses SSL" in str(cause):
        message = "the server offers no TLS; `tls` off does without"
    elif isinstance(cause, pg8000.native.InterfaceError | OSError | _RefusedError):
        message = shorten_message(getattr(cause, "strerror", None) or cause)
    else:
        message = describe_unreadable(error)
    return f"cannot connect to {place}: {message}"


def _find_cause(error: BaseException) -> BaseException:
    """Return the socket's error that the driver's error wraps, if there is one."""
    behind = error.__cause__ or error.__context__
    driver = isinstance(error, pg8000.native.InterfaceError)
    return _find_cause(behind) if driver and behind is not None else error


def _split_error(error: DatabaseError) -> tuple[str, str]:
    """Return a server error's SQLSTATE and message."""
    fields = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    return shorten_message(fields.get("C", ""))[:5], shorten_message(fields.get("M", error))


# The load user: it has only the rights that a workload needs.


RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")
_ITERATIONS = 4096  # the servers' default of scram_iterations


def make_load_user(master: EngineTarget, run_id: str) -> str:
    """Create the user, or set its password and rights again.

    The server gets only the SCRAM verifier, as from libpq's PQchangePassword: the password itself
    would appear in its log and in pg_stat_statements. Statement statistics are switched on besides,
    since the target is the run's own.

    Returns:
        The user's name.

    Raises:
        PlimsollError: The server refuses.
    """
    verifier = compute_scram_verifier(derive_load_password(master.password, run_id), os.urandom(16))
    with use_connection(connect(master)) as connection:
        known = execute(connection, "SELECT 1 FROM pg_roles WHERE rolname = $1", (LOAD_USER,))
        verb = "ALTER" if known else "CREATE"
        execute(connection, f"{verb} ROLE {LOAD_USER} LOGIN PASSWORD '{verifier}'")
        ((schema,),) = execute(connection, "SELECT current_schema()")
        tables = f"ALL TABLES IN SCHEMA {quote_name(str(schema))}"
        execute(connection, f"GRANT USAGE ON SCHEMA {quote_name(str(schema))} TO {LOAD_USER}")
        execute(connection, f"GRANT {', '.join(RIGHTS)} ON {tables} TO {LOAD_USER}")
        _enable_statement_counts(connection)
    return LOAD_USER


def make_schema(master: EngineTarget, owner: EngineTarget, statements: Sequence[str]) -> None:
    """Send a schema's statements as the user who owns what they make, and vacuum all of it.

    Args:
        master: The connection settings that may grant rights on the database.
        owner: Those of the owner, who gets the right to make something in the database.
        statements: The statements. A transaction that they begin and do not end is committed.

    Raises:
        PlimsollError: The server refuses a statement; names it.
    """
    with use_connection(connect(master)) as connection:
        ((database, schema),) = execute(connection, "SELECT current_database(), current_schema()")
        for kind, name in (("DATABASE", database), ("SCHEMA", schema)):
            place = f"{kind} {quote_name(str(name))}"
            execute(connection, f"GRANT CREATE ON {place} TO {quote_name(owner.user)}")
    with use_connection(connect(owner)) as connection:
        for statement in (*statements, "COMMIT", "VACUUM (ANALYZE)"):
            execute(connection, statement)


def compute_scram_verifier(password: str, salt: bytes) -> str:
    """Compute the SCRAM verifier of a password of ASCII letters: RFC 5802, section 3; RFC 7677."""
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    client = hmac.digest(salted, b"Client Key", "sha256")
    server = hmac.digest(salted, b"Server Key", "sha256")
    stored = hashlib.sha256(client).digest()
    salt64, stored64, server64 = (base64.b64encode(one).decode() for one in (salt, stored, server))
    return f"SCRAM-SHA-256${_ITERATIONS}:{salt64}${stored64}:{server64}"


def _enable_statement_counts(connection: Connection) -> None:
    """Switch on statement statistics, if the server has loaded the module; RDS does by default."""
    ((loaded,),) = execute(connection, "SHOW shared_preload_libraries")
    if "pg_stat_statements" in str(loaded):
        execute(connection, "CREATE EXTENSION IF NOT EXISTS pg_stat_statements")


# Engine parameters.


_ASKED = "SELECT name, current_setting(name) FROM pg_settings"


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Read engine parameters; leave out unknown ones, and all if the server does not answer."""
    try:
        with use_connection(connect(target)) as connection:
            rows = execute(connection, _ASKED)
            return {str(name): str(value) for name, value in rows if name in names}
    except PlimsollError:
        return {}


def find_pooler(target: EngineTarget) -> Pooler | None:
    """Return the pooler before a PostgreSQL; None if there is none, or it cannot be asked.

    Raises:
        PlimsollError: The server is unreachable or refuses the login.
    """
    wanted = dict(target.session_settings)
    with use_connection(connect(target)) as connection:
        try:
            if not connection.pooled:
                return None
            asked = ", ".join(f"current_setting('{name}')" for name in wanted)
            (seen,) = execute(connection, f"SELECT {asked}") if wanted else ((),)
            has = dict(zip(wanted, map(str, seen), strict=True))
        except (PlimsollError, TypeError, ValueError):
            return None
    return Pooler(None, {name: value for name, value in has.items() if value != wanted[name]})
