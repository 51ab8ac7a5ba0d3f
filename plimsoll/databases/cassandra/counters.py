"""What a Cassandra node says of itself: its counters, and what it has to work off.

All of it from virtual tables of `system_views`
(cassandra.apache.org/doc/latest/cassandra/managing/operating/virtualtables.html): no JMX, which
would need a port of its own.
"""

import time
from collections.abc import Callable
from typing import Any

from plimsoll import words
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerWaits

EXECUTED = "prepared_statements_executed"  # what the engine sends; our own are `regular`
GENERATION = "gossip_generation"  # differs after each start
COMPACTIONS = "compactions"  # that run now
_BUSY_REQUESTS = 3  # our own, and what the node asks itself

# By stage: what its tasks are called here. Of each stage the counters have the tasks that are done
# in all, those that wait or run now, and those that found all threads busy.
STAGES = {
    "Native-Transport-Requests": "requests",
    "ReadStage": "reads",
    "MutationStage": "mutations",
    "MemtableFlushWriter": "flushes",
    "CompactionExecutor": "compaction_tasks",
}
_REQUESTS = ("requests_waiting", "reads_waiting", "mutations_waiting")
_BACKLOG = {
    "flushes_waiting": "memtables are still being flushed",
    "compaction_tasks_waiting": "compactions are still waiting or running",
    COMPACTIONS: "compactions are still running",
}
Rows = list[tuple[Any, ...]]


def read(execute: Callable[[str], Rows], keyspace: str) -> ServerCounters:
    """Read the node's own counters.

    Args:
        execute: Sends a statement and returns its rows.
        keyspace: Whose reads, writes and scans are counted.
    """
    values = _values(execute, keyspace)
    return ServerCounters(epoch_ms=round(time.time() * 1000), values=values, family="cql")


def _values(execute: Callable[[str], Rows], keyspace: str) -> dict[str, int]:
    values = {
        name: int(value)
        for name, value in execute("SELECT name, value FROM system_views.cql_metrics")
        if name.endswith("_executed")
    }
    stages = execute(
        "SELECT name, completed_tasks, pending_tasks, active_tasks, blocked_tasks_all_time"
        " FROM system_views.thread_pools"
    )
    for stage, completed, pending, active, blocked in stages:
        if stage in STAGES:
            name = STAGES[stage]
            values[f"{name}_done"] = int(completed)
            values[f"{name}_waiting"] = int(pending) + int(active)
            values[f"{name}_blocked"] = int(blocked)
    for kind in ("read", "write", "scan"):
        counts = execute(
            f"SELECT keyspace_name, count FROM system_views.coordinator_{kind}_latency"  # noqa: S608 - ours
        )
        values[f"coordinator_{kind}s"] = sum(int(n) for owner, n in counts if owner == keyspace)
    for name, hits, requests in execute(
        "SELECT name, hit_count, request_count FROM system_views.caches"
    ):
        values[f"{name}_cache_hits"] = int(hits)
        values[f"{name}_cache_requests"] = int(requests)
    ((values[COMPACTIONS],),) = execute("SELECT count(*) FROM system_views.sstable_tasks")
    ((values[GENERATION],),) = execute("SELECT gossip_generation FROM system.local")
    return values


def is_gauge(name: str) -> bool:
    """Whether it says what is so at a moment, not what was done in all."""
    return name.endswith("_waiting") or name in (COMPACTIONS, GENERATION)


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Say what the node did between two readings of its counters.

    Args:
        before: Read before the step's load.
        after: Read when all clients had ended.
        statements_by_clients: What the clients say that they had executed; None where one of them
            did not say.
    """
    restarted = after.values.get(GENERATION) != before.values.get(GENERATION)
    grown = {
        name: value - (0 if restarted else before.values.get(name, 0))
        for name, value in after.values.items()
        if not is_gauge(name)
    }
    return ServerFigures(
        interval_s=(after.epoch_ms - before.epoch_ms) / 1000,
        counters=grown,
        gauges={name: value for name, value in after.values.items() if is_gauge(name)},
        restarted=restarted,
        statements_by_clients=None if restarted else statements_by_clients,
        statements_by_server=grown.get(EXECUTED),
        buffer_pool_miss_share=None,  # it has none: the operating system's page cache is its pool
    )


def signs_of_limits(server: ServerFigures) -> list[str]:
    """Say what the counters tell of the server's own limits in a step, a sentence each."""
    signs = []
    if blocked := server.counters.get("requests_blocked"):
        signs.append(
            f"{words.number(blocked)} requests that found all of the server's threads busy"
        )
    for name, waiting in (
        ("flushes_waiting", "memtables were being flushed"),
        ("compaction_tasks_waiting", "compactions were waiting or running"),
    ):
        if count := server.gauges.get(name):
            signs.append(f"{words.number(count)} {waiting} at its end")
    return signs


def waits(_: ServerFigures) -> ServerWaits:
    """Say nothing of waits: the virtual tables count no time."""
    return ServerWaits()


def storage_rates(_: ServerFigures) -> None:
    """Say nothing of I/O: the virtual tables do not."""


def unfinished_work(now: ServerCounters) -> UnfinishedWork | None:
    """Say what a node still has to work off after a load; None where nothing is left.

    Requests that still run, memtables that are being written, and compactions: each takes the
    volume's I/O from the next load.
    """
    running = max(now.values.get(name, 0) for name in _REQUESTS)
    if running > _BUSY_REQUESTS:
        return UnfinishedWork(what=f"{running} requests are still running")
    for name, waiting in _BACKLOG.items():
        if count := now.values.get(name, 0):
            return UnfinishedWork(what=f"{count} {waiting}")
    return None
