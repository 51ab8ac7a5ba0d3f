"""Counters of a Cassandra node, and what they show of limits and backlog.

All are read from virtual tables of `system_views`
(cassandra.apache.org/doc/latest/cassandra/managing/operating/virtualtables.html) rather than by
JMX, which would need another port.
"""

import time
from collections.abc import Callable
from typing import Any

from plimsoll import words
from plimsoll.model.run.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.run.results import ServerFigures, ServerWaits

EXECUTED = "prepared_statements_executed"  # the engine's statements; ours are `regular`
GENERATION = "gossip_generation"  # changes with each start of the node
COMPACTIONS = "compactions"  # running now
_BUSY_REQUESTS = 3  # our own, and those of the node itself

# The name here of each stage's tasks. Each stage has three counters: its tasks done in total, those
# waiting or running now, and those that found all threads busy.
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


def read_node_counters(execute: Callable[[str], Rows], keyspace: str) -> ServerCounters:
    """Read the node's own counters.

    Args:
        execute: The function that executes a statement and returns its rows.
        keyspace: The keyspace whose reads, writes and scans are counted.
    """
    values = _read_values(execute, keyspace)
    return ServerCounters(epoch_ms=round(time.time() * 1000), values=values, family="cql")


def _read_values(execute: Callable[[str], Rows], keyspace: str) -> dict[str, int]:
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
    """Return whether a counter is a gauge, a value at one moment and no total."""
    return name.endswith("_waiting") or name in (COMPACTIONS, GENERATION)


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Compute what the node did between two readings of its counters.

    Args:
        before: The counters before the step's load.
        after: The counters after all clients had ended.
        statements_by_clients: The statements that the clients report as executed; None if one of
            them did not report.
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
        buffer_pool_miss_share=None,  # Cassandra relies on the operating system's page cache
    )


def signs_of_limits(server: ServerFigures) -> list[str]:
    """Describe what the counters show of the server's own limits, one sentence each."""
    signs = []
    if blocked := server.counters.get("requests_blocked"):
        signs.append(
            f"{words.format_number(blocked)} requests that found all of the server's threads busy"
        )
    for name, waiting in (
        ("flushes_waiting", "memtables were being flushed"),
        ("compaction_tasks_waiting", "compactions were waiting or running"),
    ):
        if count := server.gauges.get(name):
            signs.append(f"{words.format_number(count)} {waiting} at its end")
    return signs


def waits(_: ServerFigures) -> ServerWaits:
    """Return nothing: the virtual tables count no wait times."""
    return ServerWaits()


def storage_rates(_: ServerFigures) -> None:
    """Return None: the virtual tables count no I/O."""


def find_unfinished_work(now: ServerCounters) -> UnfinishedWork | None:
    """Return the backlog that a load left on a node; None if there is none.

    Running requests, memtables being flushed, and compactions all take the volume's I/O from the
    next load.
    """
    running = max(now.values.get(name, 0) for name in _REQUESTS)
    if running > _BUSY_REQUESTS:
        return UnfinishedWork(what=f"{running} requests are still running")
    for name, waiting in _BACKLOG.items():
        if count := now.values.get(name, 0):
            return UnfinishedWork(what=f"{count} {waiting}")
    return None


def write_debt(_: ServerCounters) -> None:
    """Return None: the virtual tables name no memtable's bytes, and no bytes to be compacted."""
