"""The disk and memory that requests need on this machine, checked before anything starts."""

import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from plimsoll import words
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineOperation
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.quoting.times import count_lightest_step_clients
from plimsoll.requests.checked_request import CheckedRequest

_MIB = 2**20
_GIB = 2**30
# The least that a database takes on disk: its first data, its logs, and its rows half over again.
_LEAST_SERVER_BYTES = 200 * _MIB
_LEAST_GROWTH = 1.5
# Seen on an idle machine, rounded up: MariaDB with a pool of 48 MiB, Cassandra with a heap of 512.
_MARIADB_BYTES = 300 * _MIB
_CASSANDRA_BYTES = 1200 * _MIB
_CLIENT_BYTES = 50 * _MIB
_TWIN_BYTES = 300 * _MIB


def require_room(requests: Sequence[CheckedRequest], folder: Path, *, at_once: int = 1) -> None:
    """Check that the databases fit into a folder, and all processes into memory.

    Args:
        requests: All requests that will run.
        folder: The folder for their databases' files.
        at_once: The number of them that run at the same time.

    Raises:
        PlimsollError: One of them does not fit; the message says what is needed and what is free.
    """
    needed = at_once * max(map(estimate_disk_bytes, requests), default=0)
    free = read_free_disk_bytes(folder)
    if needed > free:
        raise PlimsollError(
            f"{folder}: the rows of {_describe_at_once(at_once)} need"
            f" {_format_gib(needed)}, and {_format_gib(free)} are"
            " free: ask for fewer records, or give another folder (--data-dir)"
        )
    needed = _TWIN_BYTES + at_once * max(
        (memory_bytes(checked.request) for checked in requests), default=0
    )
    free = read_available_memory_bytes()
    if needed > free:
        raise PlimsollError(
            f"memory: the database and the clients of {_describe_at_once(at_once)} need"
            f" {_format_gib(needed)}, and"
            f" {_format_gib(free)} are free: ask for fewer clients, or end other programs"
        )


def _describe_at_once(count: int) -> str:
    return "this request" if count == 1 else f"{count} requests at once"


def _format_gib(count: float) -> str:
    return f"{words.format_number(round(count / _GIB, 2))} GiB"


def estimate_disk_bytes(checked: CheckedRequest) -> int:
    """Return the least bytes that a request's database takes on disk before its load adds any."""
    target = checked.request.target
    if isinstance(target, EndpointTarget):
        return 0
    nodes, copies = 1, 1
    if isinstance(target, CassandraTarget):
        nodes, copies = target.nodes, target.copies
    rows_bytes = round(copies * _LEAST_GROWTH * checked.rows_bytes)
    return rows_bytes + nodes * _LEAST_SERVER_BYTES


def memory_bytes(request: Request) -> int:
    """Return roughly the least memory of a request's processes in bytes: database and clients."""
    clients = _CLIENT_BYTES * (count_lightest_step_clients(request.search) + request.clients_beside)
    match request.target:
        case EndpointTarget():
            return clients
        case CassandraTarget():
            return clients + request.target.nodes * _CASSANDRA_BYTES
    return clients + _MARIADB_BYTES


def load_adds_rows(checked: CheckedRequest) -> bool:
    """Return whether the load may leave more rows than it finds."""
    sent = (checked.workload, *checked.background)
    return any(_adds_rows(operation) for one in sent for operation in one.engine.operations)


def _adds_rows(operation: EngineOperation) -> bool:
    """Return whether an operation may add rows: it does not if each INSERT follows a DELETE."""
    verbs = Counter(statement.sql[0].split(None, 1)[0] for statement in operation.statements)
    adding = verbs.total() - verbs["SELECT"] - verbs["UPDATE"] - verbs["DELETE"]
    return adding > verbs["DELETE"]


def read_free_disk_bytes(folder: Path) -> int:
    """Return how many bytes an ordinary user may still write into a folder."""
    on_it = os.statvfs(folder)
    return on_it.f_bavail * on_it.f_frsize


def read_available_memory_bytes() -> int:
    """Return the memory available in bytes, within this machine's and the container's limits."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    available = 1024 * next(
        int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")
    )
    with suppress(OSError, ValueError):  # without a limit there is no such file, or it says `max`
        group = Path("/sys/fs/cgroup")
        limit = int((group / "memory.max").read_text())
        available = min(available, limit - int((group / "memory.current").read_text()))
    return available
