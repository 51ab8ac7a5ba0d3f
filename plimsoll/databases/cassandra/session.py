"""Cassandra sessions for schemas, counts and the server's own counters, not for load.

This includes the cluster as a whole: sessions to all its nodes, and waiting until it is complete.
"""

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
    describe_no_answer,
    describe_other_server,
    describe_tls_error,
    describe_unreadable,
    escape_rows,
    make_tls_context,
    refuse_other_answers,
    shorten_message,
    shorten_statement,
)
from plimsoll.errors import CassandraTimeoutError, PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.engine.networks import is_within
from plimsoll.model.run.fleet import ServerCounters

Rows = list[tuple[Any, ...]]

REQUEST_TIMEOUT_S = 60  # long, because schema statements flush tables
TRIES = 4  # attempts at a statement that times out in the server
# errors whose message is worth showing
_TOLD = (DriverException, NoHostAvailable, ConnectionException, ProtocolError, OSError)
# A node whose own read times out reports that as a replica's failure.
_TIMEOUTS = (OperationTimedOut, ReadFailure, ReadTimeout, WriteTimeout)

# Errors are raised as one line; otherwise the driver would log its attempts, too.
logging.getLogger("cassandra").setLevel(logging.CRITICAL)


class CassandraSession:
    """A session with one server only, even if its cluster has more nodes.

    Use it as a context manager, or close it.
    """

    def __init__(self, target: EngineTarget) -> None:
        """Connect without choosing a keyspace.

        Raises:
            PlimsollError: The server is unreachable or refuses; one line, without the password.
        """
        self.target = target
        timeout_s = target.login_timeout_ms / 1000
        self._watch = watch = Watch(timeout_s)
        profile = ExecutionProfile(
            load_balancing_policy=WhiteListRoundRobinPolicy([target.host]),
            retry_policy=FallthroughRetryPolicy(),  # our caller decides on retries
            # the engine inserts rows at the same level
            consistency_level=ConsistencyLevel.LOCAL_QUORUM,
            row_factory=lambda _, rows: rows,
            request_timeout=REQUEST_TIMEOUT_S,
        )
        self._cluster = Cluster(
            [target.host],
            port=target.port,
            auth_provider=PlainTextAuthProvider(target.user, target.password)
            if target.user
            else None,
            ssl_context=make_tls_context(target.tls, watch),
            ssl_options={"server_hostname": target.host} if target.tls else None,
            protocol_version=4,
            compression=False,  # a few compressed bytes can expand to gigabytes
            connection_class=_watch_connections(watch),
            connect_timeout=timeout_s,
            control_connection_timeout=timeout_s,
            execution_profiles={EXEC_PROFILE_DEFAULT: profile},
            schema_metadata_enabled=False,
            token_metadata_enabled=False,
        )
        try:
            self._session = _connect_in_time(self._cluster, watch, timeout_s)
        except Exception as error:  # noqa: BLE001 - by what it sends, a server makes the driver raise anything
            raise PlimsollError(_describe_refusal(target, error)) from None
        watch.lift_limit()

    def __enter__(self) -> "CassandraSession":
        """Return the session itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._cluster.shutdown()

    def execute(self, cql: str, values: Sequence[object] = ()) -> Rows:
        """Execute a statement and return its rows; values replace its `%s`.

        The statement is repeated after a time-out, so it must be safe to repeat: a server that
        stalls for some seconds drops requests, done or not.

        Raises:
            CassandraTimeoutError: The server or the driver timed out each time.
            PlimsollError: The server refuses it, or the connection is lost.
        """
        for tries_left in reversed(range(TRIES)):
            try:
                return self.result(self.start(cql, values), cql)
            except CassandraTimeoutError as error:
                if not (error.by_server and tries_left):
                    raise
        raise AssertionError("unreachable")  # pragma: no cover

    def start(self, cql: str, values: Sequence[object] = ()) -> ResponseFuture:
        """Send a statement; `result` waits for its answer."""
        self._watch.begin_answer()
        return self._session.execute_async(cql, list(values) or None)

    def result(self, future: ResponseFuture, cql: str) -> Rows:
        """Wait for the rows of a statement sent by `start`.

        Raises:
            CassandraTimeoutError: The server or the driver timed out.
            PlimsollError: The server refuses it, or the connection is lost.
        """
        try:
            return list(escape_rows(future.result()))
        except _TOLD as error:
            message = f"the database says: {_describe_error(error)} to: {shorten_statement(cql)}"
            if isinstance(error, _TIMEOUTS):
                by_server = not isinstance(error, OperationTimedOut)
                raise CassandraTimeoutError(message, by_server=by_server) from None
            raise PlimsollError(message) from None
        except Exception as error:  # noqa: BLE001 - see above
            raise PlimsollError(
                f"{describe_unreadable(error)} to: {shorten_statement(cql)}"
            ) from None

    def keyspace_exists(self, name: str) -> bool:
        """Return whether a keyspace of this name exists."""
        rows = self.execute(
            "SELECT keyspace_name FROM system_schema.keyspaces WHERE keyspace_name = %s", [name]
        )
        return bool(rows)

    def use(self, keyspace: str) -> None:
        """Select a keyspace for the following statements.

        Raises:
            PlimsollError: No keyspace has this name.
        """
        if not self.keyspace_exists(keyspace):
            target = self.target
            raise PlimsollError(
                f"{target.host}:{target.port}: there is no keyspace {keyspace!r}:"
                " `plimsoll prepare` makes it"
            )
        self.execute(f"USE {quote_name(keyspace)}")

    def version(self) -> str:
        """Return the server's product and version."""
        (row,) = self.execute("SELECT release_version FROM system.local")
        return f"Cassandra {shorten_message(row[0])}"


def _watch_connections(watch: Watch) -> type[Any]:
    """Return a connection class for the driver whose sockets obey a watch."""
    sockets = SimpleNamespace(socket=partial(WatchedSocket.make, watch))
    return type("Connection", (Cluster.connection_class,), {"_socket_impl": sockets})


def _connect_in_time(cluster: Cluster, watch: Watch, timeout_s: float) -> Session:
    """Log in within a total time: the driver limits only each of its many steps.

    Raises:
        TimeoutError: The time is up.
        Exception: The driver's error, or one of any type, depending on what the server sends.
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
        watch.cut_off()  # this also ends the thread
        raise


def quote_name(name: str) -> str:
    """Quote a name so that CQL keeps it as it is."""
    return '"' + name.replace('"', '""') + '"'


def _describe_refusal(target: EngineTarget, error: Exception) -> str:
    place = f"{target.host}:{target.port}"
    reasons = list(error.errors.values()) if isinstance(error, NoHostAvailable) else [error]
    reason = reasons[0] if reasons else error
    known = isinstance(reason, AuthenticationFailed | ConnectionRefusedError)
    if not known and (other := describe_other_server(target)):
        return f"cannot connect to {place}: {other}"
    if isinstance(reason, TimeoutError | OperationTimedOut):
        return f"cannot connect to {place}: {describe_no_answer(target.login_timeout_ms / 1000)}"
    if isinstance(reason, ssl.SSLError):
        return f"cannot connect to {place}: {describe_tls_error(reason)}"
    if isinstance(reason, AuthenticationFailed):
        if not target.user:
            return f"{place}: the server asks for a user and a password"
        return f"{target.user}@{place}: wrong user or password ({_describe_error(reason)})"
    if not isinstance(reason, _TOLD):
        return f"cannot connect to {place}: {describe_unreadable(reason)}"
    return f"cannot connect to {place}: {_describe_error(reason)}"


def _describe_error(error: Exception) -> str:
    return shorten_message(error) or type(error).__name__


# All nodes of a target's cluster. Their counters are combined as if of one server.


_RING_S = 120.0  # time in which listening nodes become one cluster
_AGREEMENT_S = 10.0  # the driver waits as long
_POLL_S = 0.1


@contextmanager
def sessions(target: EngineTarget) -> Iterator[list[CassandraSession]]:
    """Connect to each node that the load goes to, the target's own host first.

    Raises:
        PlimsollError: One of them is unreachable or refuses.
    """
    with ExitStack() as opened, refuse_other_answers():
        first = opened.enter_context(CassandraSession(target))
        others = [
            opened.enter_context(CassandraSession(target.model_copy(update={"host": address})))
            for address in (_list_peers(first) if target.nodes else ())
        ]
        yield [first, *others]


def _list_peers(session: CassandraSession) -> list[str]:
    rows = session.execute("SELECT rpc_address FROM system.peers")
    told = sorted({str(address) for (address,) in rows if address is not None})
    return [address for address in told if is_within(address, session.target.nodes)]


def combine_counters(each: Sequence[ServerCounters]) -> ServerCounters:
    """Combine the counters of all nodes.

    Counts and generations are summed, so that the restart of any node shows; of gauges the highest
    value is taken.
    """
    names = {name: None for one in each for name in one.values}
    values = {}
    for name in names:
        known = [one.values.get(name, 0) for one in each]
        values[name] = max(known) if is_gauge(name) and name != GENERATION else sum(known)
    return each[0].model_copy(update={"values": values})


def await_ring(target: EngineTarget, *, nodes: int, longest_s: float = _RING_S) -> None:
    """Wait until a cluster is complete: each node answers, and knows the others' ranges and schema.

    Args:
        target: One node, and the addresses of further ones.
        nodes: The total number of nodes.
        longest_s: The longest wait in seconds.

    Raises:
        PlimsollError: The cluster is not complete by then.
    """
    hosts = (target.host, *target.nodes)
    deadline = time.monotonic() + longest_s
    while (lacking := _describe_lack(target, hosts, nodes)) is not None:
        if time.monotonic() >= deadline:
            waited = words.format_duration(longest_s)
            raise PlimsollError(f"after {waited} the cluster is not whole: {lacking}")
        time.sleep(_POLL_S)


def _describe_lack(target: EngineTarget, hosts: Sequence[str], nodes: int) -> str | None:
    """Describe what a cluster lacks; None if it is complete."""
    schemas: set[object] = set()
    for host in hosts:
        try:
            one = target.model_copy(update={"host": host})
            with CassandraSession(one) as session, refuse_other_answers():
                peers = session.execute("SELECT tokens FROM system.peers_v2")
                schemas |= _read_schemas(session)
                known = 1 + sum(bool(tokens) for (tokens,) in peers)
        except PlimsollError as error:
            return str(error)
        if known < nodes:
            return f"{host} knows {known} of {nodes} nodes"
    return "its nodes have different schemas" if len(schemas) > 1 else None


def _read_schemas(session: CassandraSession) -> set[object]:
    """Return the schema versions that a node knows: its own, and its peers'."""
    rows = session.execute("SELECT schema_version FROM system.local")
    rows += session.execute("SELECT schema_version FROM system.peers")
    return {version for (version,) in rows if version is not None}


def await_agreement(session: CassandraSession) -> None:
    """Wait until all nodes have the same schema, so that each knows a table just created.

    A node that is down never agrees, so the wait ends after some seconds.
    """
    deadline = time.monotonic() + _AGREEMENT_S
    while time.monotonic() < deadline:
        if len(_read_schemas(session)) <= 1:
            return
        time.sleep(_POLL_S)
