"""Cassandra sessions for schemas, counts and the server's own metrics; never for load."""

import logging
import ssl
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from functools import partial
from threading import Thread
from types import SimpleNamespace
from typing import Any

from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    DriverException,
    OperationTimedOut,
    ReadFailure,
    ReadTimeout,
    WriteTimeout,
)
from cassandra.auth import PlainTextAuthProvider
from cassandra.cluster import (
    EXEC_PROFILE_DEFAULT,
    Cluster,
    ExecutionProfile,
    NoHostAvailable,
    ResponseFuture,
    Session,
)
from cassandra.connection import ConnectionException, ProtocolError
from cassandra.policies import FallthroughRetryPolicy, WhiteListRoundRobinPolicy

from plimsoll import words
from plimsoll.databases.cassandra.counters import GENERATION, is_gauge
from plimsoll.databases.connecting import (
    Watch,
    WatchedSocket,
    no_answer,
    said,
    short,
    tls_context,
    tls_problem,
    unreadable,
)
from plimsoll.errors import CassandraTimeoutError, PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.engine.networks import within
from plimsoll.model.run.fleet import ServerCounters

Rows = list[tuple[Any, ...]]

REQUEST_TIMEOUT_S = 60  # of statements about the schema, which flush tables
TRIES = 4  # of a statement whose time passed in the server
# what the driver, or the system, has words for
_TOLD = (DriverException, NoHostAvailable, ConnectionException, ProtocolError, OSError)
# a node that gives up a read of its own because its time is up calls that a replica's failure
_TIMEOUTS = (OperationTimedOut, ReadFailure, ReadTimeout, WriteTimeout)

# what goes wrong is raised as one line; without this the driver logs its attempts, too
logging.getLogger("cassandra").setLevel(logging.CRITICAL)


class CassandraSession:
    """A session with one server, whatever other nodes its cluster has.

    Use it as a context manager, or close it.
    """

    def __init__(self, target: EngineTarget) -> None:
        """Connect, in no keyspace.

        Raises:
            PlimsollError: The server cannot be reached or refuses; one line, without the password.
        """
        self.target = target
        timeout_s = target.login_timeout_ms / 1000
        self._watch = watch = Watch(timeout_s)
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([target.host]),
            retry_policy=FallthroughRetryPolicy(),  # the caller judges time-outs
            consistency_level=ConsistencyLevel.LOCAL_QUORUM,  # as the engine inserts rows
            row_factory=lambda _, rows: rows,
            request_timeout=REQUEST_TIMEOUT_S,
        )
        self._cluster = Cluster(
            [target.host],
            port=target.port,
            auth_provider=PlainTextAuthProvider(target.user, target.password)
            if target.user
            else None,
            ssl_context=tls_context(target.tls, watch),
            ssl_options={"server_hostname": target.host} if target.tls else None,
            protocol_version=4,
            compression=False,  # a few bytes can be told to be gigabytes
            connection_class=_watched(watch),
            connect_timeout=timeout_s,
            control_connection_timeout=timeout_s,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            schema_metadata_enabled=False,
            token_metadata_enabled=False,
        )
        try:
            self._session = _connected(self._cluster, watch, timeout_s)
        except Exception as error:  # noqa: BLE001 - by what it sends, a server makes the driver raise anything
            raise PlimsollError(_refusal(target, error)) from None
        watch.logged_in()

    def __enter__(self) -> "CassandraSession":
        """Give the session itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Leave the server."""
        self._cluster.shutdown()

    def execute(self, cql: str, values: Sequence[object] = ()) -> Rows:
        """Send a statement and return its rows; values replace its `%s`.

        The statement is repeated after a time-out, so a repetition must do no harm: a server that
        stood still for some seconds gives up what it was asked meanwhile, done or not.

        Raises:
            CassandraTimeoutError: The server gave up waiting each time, or the driver did.
            PlimsollError: The server refuses it, or is gone.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                return self.result(self.start(cql, values), cql)
            except CassandraTimeoutError as error:
                if not (error.by_server and tries_left):
                    raise
        raise AssertionError("unreachable")  # pragma: no cover

    def start(self, cql: str, values: Sequence[object] = ()) -> ResponseFuture:
        """Send a statement; `result` awaits its answer."""
        self._watch.answer_begins()
        return self._session.execute_async(cql, list(values) or None)

    def result(self, future: ResponseFuture, cql: str) -> Rows:
        """Await the rows of what `start` has sent.

        Raises:
            CassandraTimeoutError: The server, or the driver, gave up waiting.
            PlimsollError: The server refuses it, or is gone.
        """
        try:
            return list(future.result())
        except _TOLD as error:
            message = f"the database says: {_line(error)} to: {short(cql)}"
            if isinstance(error, _TIMEOUTS):
                by_server = not isinstance(error, OperationTimedOut)
                raise CassandraTimeoutError(message, by_server=by_server) from None
            raise PlimsollError(message) from None
        except Exception as error:  # noqa: BLE001 - see above
            raise PlimsollError(f"{unreadable(error)} to: {short(cql)}") from None

    def keyspace_exists(self, name: str) -> bool:
        """Whether there is a keyspace of this name."""
        rows = self.execute(
            "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = %s", [name]
        )
        return bool(rows)

    def use(self, keyspace: str) -> None:
        """Take a keyspace for what follows.

        Raises:
            PlimsollError: There is none of that name.
        """
        if not self.keyspace_exists(keyspace):
            target = self.target
            raise PlimsollError(
                f"{target.host}:{target.port}: there is no keyspace {keyspace!r}:"
                " `plimsoll prepare` makes it"
            )
        self.execute(f"USE {quoted(keyspace)}")

    def version(self) -> str:
        """Say what server answers."""
        (row,) = self.execute("SELECT release_version FROM system.local")
        return f"Cassandra {row[0]}"


def _watched(watch: Watch) -> type[Any]:
    """Make the driver's connections mind a watch."""
    sockets = SimpleNamespace(socket=partial(WatchedSocket.made, watch))
    return type("Connection", (Cluster.connection_class,), {"_socket_impl": sockets})


def _connected(cluster: Cluster, watch: Watch, timeout_s: float) -> Session:
    """Log in, in so much time: the driver has a limit for each of its many steps alone.

    Raises:
        TimeoutError: The time is up.
        Exception: The driver's, or of any kind: what the server sends decides it.
    """
    connected: Future[Session] = Future()

    def connect() -> None:
        try:
            connected.set_result(cluster.connect())
        except Exception as error:  # noqa: BLE001 - it is raised where it is awaited
            cluster.shutdown()
            connected.set_exception(error)

    Thread(target=connect, daemon=True).start()
    try:
        return connected.result(timeout_s)
    except TimeoutError:
        watch.cut_off()  # which ends the thread, too
        raise


def quoted(name: str) -> str:
    """Quote a name, so that CQL changes nothing of it."""
    return '"' + name.replace('"', '""') + '"'


def _refusal(target: EngineTarget, error: Exception) -> str:
    place = f"{target.host}:{target.port}"
    reasons = list(error.errors.values()) if isinstance(error, NoHostAvailable) else [error]
    reason = reasons[0] if reasons else error
    if isinstance(reason, TimeoutError | OperationTimedOut):
        return f"cannot connect to {place}: {no_answer(target.login_timeout_ms / 1000)}"
    if isinstance(reason, ssl.SSLError):
        return f"cannot connect to {place}: {tls_problem(reason)}"
    if isinstance(reason, AuthenticationFailed):
        if not target.user:
            return f"{place}: the server asks for a user and a password"
        return f"{target.user}@{place}: wrong user or password ({_line(reason)})"
    if not isinstance(reason, _TOLD):
        return f"cannot connect to {place}: {unreadable(reason)}"
    return f"cannot connect to {place}: {_line(reason)}"


def _line(error: Exception) -> str:
    return said(error) or type(error).__name__


# Every node of a target's cluster, where it has several; their counters are one server's.


_RING_S = 120.0  # until all nodes of a cluster are one, once each of them listens
_AGREEMENT_S = 10.0  # as the driver waits for it
_POLL_S = 0.1


@contextmanager
def sessions(target: EngineTarget) -> Iterator[list[CassandraSession]]:
    """Connect to each node that the load goes to, the target's own host first.

    Raises:
        PlimsollError: One of them cannot be reached, or refuses.
    """
    with ExitStack() as opened:
        first = opened.enter_context(CassandraSession(target))
        others = [
            opened.enter_context(CassandraSession(target.model_copy(update={"host": address})))
            for address in (_peers(first) if target.nodes else ())
        ]
        yield [first, *others]


def _peers(session: CassandraSession) -> list[str]:
    rows = session.execute("SELECT rpc_address FROM system.peers")
    told = sorted({str(address) for (address,) in rows if address is not None})
    return [address for address in told if within(address, session.target.nodes)]


def together(each: Sequence[ServerCounters]) -> ServerCounters:
    """Put the counters of all nodes together.

    Counts are added up, and generations, so that any node's new start is seen; of what is so at a
    moment the highest counts.
    """
    names = {name: None for one in each for name in one.values}
    values = {}
    for name in names:
        known = [one.values.get(name, 0) for one in each]
        values[name] = max(known) if is_gauge(name) and name != GENERATION else sum(known)
    return each[0].model_copy(update={"values": values})


def await_ring(target: EngineTarget, *, nodes: int, longest_s: float = _RING_S) -> None:
    """Wait until a cluster is whole: each node answers, and knows the others' ranges and schema.

    Args:
        target: One node, and the addresses of further ones.
        nodes: How many there are in all.
        longest_s: How long that may take.

    Raises:
        PlimsollError: It is not whole by then.
    """
    hosts = (target.host, *target.nodes)
    deadline = time.monotonic() + longest_s
    while (lacking := _lacking(target, hosts, nodes)) is not None:
        if time.monotonic() >= deadline:
            waited = words.duration(longest_s)
            raise PlimsollError(f"after {waited} the cluster is not whole: {lacking}")
        time.sleep(_POLL_S)


def _lacking(target: EngineTarget, hosts: Sequence[str], nodes: int) -> str | None:
    """Say what a cluster lacks; None where it is whole."""
    schemas: set[object] = set()
    for host in hosts:
        try:
            with CassandraSession(target.model_copy(update={"host": host})) as session:
                peers = session.execute("SELECT tokens FROM system.peers_v2")
                schemas |= _schemas(session)
        except PlimsollError as error:
            return str(error)
        if (known := 1 + sum(bool(tokens) for (tokens,) in peers)) < nodes:
            return f"{host} knows {known} of {nodes} nodes"
    return "its nodes have different schemas" if len(schemas) > 1 else None


def _schemas(session: CassandraSession) -> set[object]:
    """Give the versions of the schema that a node knows of: its own, and its peers'."""
    rows = session.execute("SELECT schema_version FROM system.local")
    rows += session.execute("SELECT schema_version FROM system.peers")
    return {version for (version,) in rows if version is not None}


def await_agreement(session: CassandraSession) -> None:
    """Wait until all nodes have the same schema, so that each knows a table that was just made.

    A node that is away tells nothing new: after some seconds it is waited for no more.
    """
    deadline = time.monotonic() + _AGREEMENT_S
    while time.monotonic() < deadline:
        if len(_schemas(session)) <= 1:
            return
        time.sleep(_POLL_S)
