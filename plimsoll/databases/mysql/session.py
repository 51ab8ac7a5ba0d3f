"""Connections to MySQL for schemas, counts and the server's own counters, not for load."""

import re
import ssl
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pymysql
import pymysql.connections
from pymysql.constants import CR, ER

from plimsoll.databases.connecting import (
    ASKS_FOR_PASSWORD,
    OtherServerError,
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
    speaks_first,
    use_connection,
)
from plimsoll.databases.load_user import LOAD_USER, derive_load_password
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget

if TYPE_CHECKING:
    _Driver = pymysql.connections.Connection[pymysql.cursors.Cursor]
else:
    _Driver = pymysql.connections.Connection  # generic in the type stubs only
Rows = tuple[tuple[Any, ...], ...]
ELSEWHERE = "information_schema"  # every server has it, and every account may use it

_LOCKED = "the account is locked (ALTER USER ... ACCOUNT UNLOCK)"
_EXPIRED = "the account's password has expired (ALTER USER ... PASSWORD EXPIRE NEVER, or a new one)"
_EXPIRED_LATE = 1820  # the login passes, and every statement but SET is refused
_BLOCKED = "the account is blocked after too many wrong passwords (ALTER USER ... ACCOUNT UNLOCK)"
_REFUSED = {
    # The servers say the same of an account that does not exist, so that nobody can find out.
    ER.ACCESS_DENIED_ERROR: "wrong user or password",
    ER.DBACCESS_DENIED_ERROR: "the user may not use this database",
    ER.BAD_DB_ERROR: "there is no such database",
    ER.CON_COUNT_ERROR: "the server is full of connections",
    ER.HOST_NOT_PRIVILEGED: "the server does not let this machine in",
    3159: "the server demands TLS: `tls` must be verify or require",  # MySQL
    CR.CR_SSL_CONNECTION_ERROR: "the server offers no TLS; `tls` off does without",
    1862: _EXPIRED,
    1698: "the account logs in without a password, by the system's user (unix_socket): give"
    " Plimsoll one that has a password",
    3118: _LOCKED,  # MySQL
    4151: _LOCKED,  # MariaDB
    3955: _BLOCKED,  # MySQL
    4150: _BLOCKED,  # MariaDB
}
_PLUGIN = re.compile(r"Authentication plugin 'b?'?([\w-]+)'+ not configured")
_SPEAKS_WITHIN_S = 1.0  # MySQL and MariaDB greet at once; then other protocols are tried
# Requests for the server's public key, with which a client would encrypt the password.
_KEY_REQUESTS = (b"\x01", b"\x02")  # sha256_password and caching_sha2_password
_CLEAR_TEXT = ("mysql_clear_password", "dialog")


class _Refused:
    """Replaces an authentication plugin that would reveal more than the connection may."""

    def __init__(self, _connection: object) -> None:
        pass

    def authenticate(self, _packet: object) -> None:
        """Refuse the login."""
        raise pymysql.OperationalError(CR.CR_AUTH_PLUGIN_ERR, ASKS_FOR_PASSWORD)


# Plugins of accounts that no client of Plimsoll's knows, by the names that servers send.
_UNKNOWN_PLUGINS = {
    "client_ed25519": "ed25519",
    "parsec": "parsec",
    "auth_gssapi_client": "gssapi",
    "authentication_kerberos_client": "kerberos",
    "authentication_ldap_sasl_client": "ldap",
    "authentication_oci_client": "oci",
    "authentication_openid_connect_client": "openid_connect",
    "authentication_webauthn_client": "webauthn",
    "authentication_windows_client": "windows",
}


class _Unknown:
    """Replaces an authentication plugin that is not known, so that the refusal names it."""

    def __init__(self, name: str, _connection: object) -> None:
        self._name = name

    def authenticate(self, _packet: object) -> None:
        """Refuse the login."""
        raise pymysql.OperationalError(CR.CR_AUTH_PLUGIN_CANNOT_LOAD, _describe_plugin(self._name))


def _describe_plugin(name: str) -> str:
    return (
        f"the account logs in by the plugin {name}, which Plimsoll does not know: give it an"
        " account that logs in by mysql_native_password or caching_sha2_password"
    )


class Connection(_Driver):
    """A connection that limits what the server learns, its time, and its bytes."""

    def __init__(self, target: EngineTarget) -> None:
        """Log in, in autocommit mode.

        Raises:
            Exception: An error of any type, depending on what the server sends.
        """
        self._watch = Watch(target.login_timeout_ms / 1000)
        self._trust = Trust.of(target.tls)
        self._sets = bool(target.session_settings)
        refused = ["mysql_old_password"]  # the response reveals the password
        refused += _CLEAR_TEXT if self._trust < Trust.VERIFIED else ()
        refused += ("sha256_password",) if self._trust < Trust.ENCRYPTED else ()
        plugins: dict[str, Callable[[Any], Any]] = {
            asked: partial(_Unknown, name) for asked, name in _UNKNOWN_PLUGINS.items()
        }
        super().__init__(
            host=target.host,
            port=target.port,
            user=target.user,
            # The driver would encode text as Latin-1; servers hash the bytes that clients send.
            password=target.password.encode(),
            database=target.database,
            ssl=make_tls_context(target.tls, self._watch),
            ssl_disabled=target.tls is None,
            auth_plugin_map=plugins | dict.fromkeys(refused, _Refused),
            init_command=f"SET {', '.join(map(' = '.join, target.session_settings))}"
            if target.session_settings
            else None,  # through a proxy
            autocommit=None,  # it is among the settings
            defer_connect=True,
        )
        reached = open_socket(target, self._watch)
        if not speaks_first(reached, _SPEAKS_WITHIN_S) and (other := describe_other_server(target)):
            reached.close()
            raise OtherServerError(other)
        self.connect(reached)
        self._watch.lift_limit()

    def write_packet(self, payload: bytes) -> None:
        """Send a login packet, unless it asks for a key with which to encrypt the password."""
        if payload in _KEY_REQUESTS and self._trust < Trust.ENCRYPTED:
            raise pymysql.OperationalError(CR.CR_AUTH_PLUGIN_ERR, ASKS_FOR_PASSWORD)
        super().write_packet(payload)

    @property
    def greeted_as(self) -> int:
        """The number of the session, by the server's greeting."""
        return int(self.thread_id())  # type: ignore[no-untyped-call]

    def set_character_set(self, charset: str, collation: str | None = None) -> None:
        """Set the character set, but not through a proxy: there the login's packet says it."""
        if self._sets:
            super().set_character_set(charset, collation)

    def cut_off(self) -> None:
        """Close it from another thread; whoever waits for an answer gets an error."""
        self._watch.cut_off()

    def query(self, sql: str | bytes, unbuffered: bool = False) -> int:
        """Send a statement and read its answer; the byte limit counts for each answer."""
        self._watch.begin_answer()
        return int(super().query(sql, unbuffered))


def connect(target: EngineTarget) -> Connection:
    """Connect, in autocommit mode.

    Raises:
        PlimsollError: The server is unreachable or refuses; one line, without the password.
    """
    try:
        return Connection(target)
    except Exception as error:  # noqa: BLE001 - by what it sends, a server makes the driver raise anything
        raise PlimsollError(_describe_refusal(target, error)) from None


def execute(
    connection: Connection, sql: str, values: Sequence[object] = (), *, escaped: bool = True
) -> Rows:
    """Execute a statement and return its rows.

    Args:
        connection: The connection.
        sql: The statement; its parameters are %s.
        values: The values of the parameters.
        escaped: Whether control characters of texts are escaped; False only for values that go
            back to the server and nowhere else.

    Raises:
        PlimsollError: The server refuses it, or the connection is lost.
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, values or None)
            rows = tuple(cursor.fetchall())
            return escape_rows(rows) if escaped else rows
    except pymysql.MySQLError as error:
        code, message = _split_error(error)
        if code == _EXPIRED_LATE:
            raise PlimsollError(f"{_EXPIRED} ({message}, {code})") from None
        raise PlimsollError(
            f"the database says: {message} ({code}) to: {shorten_statement(sql)}"
        ) from None
    except Exception as error:  # noqa: BLE001 - see above
        raise PlimsollError(f"{describe_unreadable(error)} to: {shorten_statement(sql)}") from None


def require_database(connection: Connection, database: str) -> None:
    """Require that the user may use a database, from a connection that uses `ELSEWHERE`.

    The switch is a protocol command, which does not count as a statement of that database.

    Raises:
        PlimsollError: There is no such database, or the user may not use it.
    """
    use_database(connection, database)
    use_database(connection, ELSEWHERE)


def use_database(connection: Connection, database: str) -> None:
    """Use another database, by a protocol command, which does not count as a statement.

    Raises:
        PlimsollError: The server refuses it, or the connection is lost.
    """
    try:
        connection.select_db(database)
    except pymysql.MySQLError as error:
        code, message = _split_error(error)
        raise PlimsollError(
            f"the database says: {message} ({code}) to: use {shorten_statement(database)}"
        ) from None
    except Exception as error:  # noqa: BLE001 - see above
        raise PlimsollError(
            f"{describe_unreadable(error)} to: use {shorten_statement(database)}"
        ) from None


def read_version(connection: Connection) -> str:
    """Return the server's product and version, as it reports them."""
    (row,) = execute(connection, "SELECT VERSION()")
    return shorten_message(row[0])


def _describe_refusal(target: EngineTarget, error: Exception) -> str:
    place = f"{target.host}:{target.port}"
    code, message = _split_error(error)
    if code in _REFUSED:
        reason = _REFUSED[code]
        if code == ER.ACCESS_DENIED_ERROR and target.tls is None:
            reason += ", or the account demands TLS or another host"
        return f"{target.user}@{place}/{target.database}: {reason} ({message}, {code})"
    if code == CR.CR_AUTH_PLUGIN_CANNOT_LOAD:
        unknown = _PLUGIN.match(message)
        told = _describe_plugin(unknown[1]) if unknown else message
        return f"{target.user}@{place}/{target.database}: {told}"
    # The driver's error wraps the socket's.
    cause = error.__context__ if isinstance(error, pymysql.MySQLError) else error
    if isinstance(cause, TimeoutError):
        message = describe_no_answer(target.login_timeout_ms / 1000)
    elif isinstance(cause, ssl.SSLError):
        message = describe_tls_error(cause)
    elif message == ASKS_FOR_PASSWORD:
        remedy = "`tls` must be verify"
        message = f"{message}: {remedy}"
    elif isinstance(error, pymysql.MySQLError) and "Packet sequence number" in message:
        message = describe_other_server(target) or f"this is no MySQL or MariaDB: {message}"
    elif not isinstance(error, pymysql.MySQLError | OSError | OtherServerError):
        message = describe_other_server(target) or describe_unreadable(error)
    return f"cannot connect to {place}: {message}"


def _split_error(error: Exception) -> tuple[int, str]:
    if len(error.args) >= 2 and isinstance(error.args[0], int):
        return error.args[0], shorten_message(error.args[1])
    return 0, shorten_message(error)


# The load user: it has only the rights that a workload needs.


RIGHTS = ("SELECT", "INSERT", "UPDATE", "DELETE")


def make_load_user(master: EngineTarget, run_id: str) -> str:
    """Create the user, or set its password and rights again.

    Returns:
        The user's name.

    Raises:
        PlimsollError: The server refuses.
    """
    account = f"'{LOAD_USER}'@'%'"
    account_with_values = account.replace("%", "%%")  # PyMySQL reads %% as % if there are values
    password = [derive_load_password(master.password, run_id)]
    # In GRANT, _ and % in a database's name are wildcards unless they are escaped.
    name = master.database.replace("`", "``").replace("_", r"\_").replace("%", r"\%")
    with use_connection(connect(master)) as connection:
        for verb in ("CREATE USER IF NOT EXISTS", "ALTER USER"):
            execute(connection, f"{verb} {account_with_values} IDENTIFIED BY %s", password)
        execute(connection, f"GRANT {', '.join(RIGHTS)} ON `{name}`.* TO {account}")
    return LOAD_USER


# Engine parameters.


def read_parameters(target: EngineTarget, names: Sequence[str]) -> dict[str, str]:
    """Read engine parameters; leave out unknown ones, and all if the server does not answer."""
    places = ", ".join(["%s"] * len(names))
    asked = f"SHOW GLOBAL VARIABLES WHERE Variable_name IN ({places})"
    try:
        with use_connection(connect(target)) as connection:
            rows = execute(connection, asked, tuple(names))
            return {str(name): str(value) for name, value in rows}
    except PlimsollError:
        return {}


def find_pooler(target: EngineTarget) -> Pooler | None:
    """Return the proxy before a MySQL or MariaDB; None if there is none, or it cannot be asked.

    Nothing is SET on its session.

    Raises:
        PlimsollError: The server is unreachable or refuses the login.
    """
    wanted = dict(target.session_settings)
    with use_connection(connect(target.model_copy(update={"session_settings": ()}))) as connection:
        try:
            # ProxySQL answers a plain `SELECT CONNECTION_ID()` itself
            ((number,),) = execute(connection, "SELECT CONNECTION_ID() + 0")
            if int(number) == connection.greeted_as:
                return None
            ((comment,),) = execute(connection, "SELECT @@version_comment LIMIT 1")
            asked = ", ".join(f"@@{name}" for name in wanted)
            (seen,) = execute(connection, f"SELECT {asked}") if wanted else ((),)
            has = dict(zip(wanted, map(str, seen), strict=True))
        except (PlimsollError, TypeError, ValueError):
            return None
    differs = {name: value for name, value in has.items() if not _agrees(value, wanted[name])}
    return Pooler("ProxySQL" if "ProxySQL" in str(comment) else None, differs)


def _agrees(value: str, wanted: str) -> bool:
    """Return whether a variable has the value of an expression; the order of a mode is free."""
    return set(value.upper().split(",")) == set(wanted.strip("'").upper().split(","))
