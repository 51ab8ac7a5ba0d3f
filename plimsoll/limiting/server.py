"""Waits within the server: locks, pages, the log, and the maximum number of connections.

A wait is given as its share of the operations' time: mean waiting sessions / concurrent operations
(Little's law). A wait for a lock is a wait for another operation, so it is compared with the time
that the load added to operations, because that makes the limit. With four hot rows, for example,
a 99th percentile is three times its base when a third of all operations are waiting.
"""

from plimsoll import words
from plimsoll.limiting.seen import Seen
from plimsoll.model.judging.capacity import Resource
from plimsoll.model.run.results import Candidate, ServerLooks

WAITED = 0.50  # share of the operations' time, above which the wait is most of the latency
LOG_FULL = 0.75  # InnoDB flushes pages with priority from 7/8 on, until the age is somewhat lower


def judge_row_locks(seen: Seen) -> Candidate | None:
    """Return the waits for rows that other transactions have locked."""
    waits, looks = seen.waits, _find_server_looks(seen)
    return _judge_wait(
        seen,
        "row_locks",
        count=waits.row_lock_waits,
        waiting=_compute_mean_waiting(
            seen, waits.row_locks_s, looks.row_lock_waiters if looks else None
        ),
        evidence=f"row locks: {_format_count(waits.row_lock_waits)}",
        for_others=True,
        to_change="transactions that hold locks for a shorter time, or changes spread over more"
        " rows",
    )


def judge_table_locks(seen: Seen) -> Candidate | None:
    """Return the waits for table locks: engines without row locks, LOCK TABLES, DDL."""
    waits, looks = seen.waits, _find_server_looks(seen)
    return _judge_wait(
        seen,
        "table_locks",
        count=waits.table_lock_waits,
        waiting=_compute_mean_waiting(
            seen, waits.table_locks_s, looks.table_lock_waiters if looks else None
        ),
        evidence=f"table locks: {_format_count(waits.table_lock_waits)}",
        for_others=True,
        to_change="tables of an engine that locks rows (InnoDB), and no locks on whole tables",
    )


def judge_inner_locks(seen: Seen) -> Candidate | None:
    """Return the waits for the server's internal locks: a page in memory, a part of a table."""
    looks = _find_server_looks(seen)
    if looks is None or looks.inner_lock_waiters is None:
        return None
    return _judge_wait(
        seen,
        "inner_locks",
        count=None,
        waiting=looks.inner_lock_waiters,
        evidence="locks within the server (LWLock, BufferPin): waits",
        to_change="fewer connections at the same time, or changes spread over more pages",
    )


def judge_buffer_pool(seen: Seen) -> Candidate | None:
    """Return the reads of pages missing in the buffer pool; operations wait for each."""
    waits, looks, latency_us = seen.waits, _find_server_looks(seen), seen.target.read_latency_us
    if waits.page_reads is None:
        return None
    reads = waits.page_reads / seen.load_s
    waiting = None
    if looks is not None and looks.page_read_waiters is not None:
        # reads served by the operating system's cache are no I/O, and nobody waits for them
        waiting = _compute_mean_waiting(seen, waits.page_reads_s, looks.page_read_waiters)
    elif waits.page_reads_s is not None:
        waiting = waits.page_reads_s / seen.load_s
    elif latency_us is not None or not waits.page_reads:
        waiting = reads * (latency_us or 0.0) / 1e6
    each = seen.divide_by_throughput(reads)
    misses = "" if each is None else f", {words.format_three_figures(each)} per operation"
    return _judge_wait(
        seen,
        "buffer_pool",
        count=waits.page_reads,
        waiting=waiting,
        evidence=f"buffer pool: {words.format_rate(reads)} page reads/s missed it{misses}",
        to_change="a larger buffer pool (more memory), or fewer pages per operation",
    )


def judge_log(seen: Seen) -> Candidate | None:
    """Return how full the redo log was. Once full, the server must write pages to go on."""
    looks = _find_server_looks(seen)
    if looks is None or looks.checkpoint_share is None:
        return None
    debt = seen.step.step.debt
    if debt is not None and not debt.written_bytes:
        return None  # what earlier writes left there limits no load that only reads
    share = looks.checkpoint_share
    return Candidate(
        resource="log",
        share=share,
        threshold=LOG_FULL,
        reached=share >= LOG_FULL,
        evidence=f"redo log: pages that were not yet written held {words.format_percent(share)} of"
        " it"
        f" (median of {words.format_count(looks.looks, 'sample')})",
        to_change="a larger redo log (innodb_log_file_size; in MySQL innodb_redo_log_capacity),"
        " so that pages are written later and less often",
    )


def judge_connections(seen: Seen) -> Candidate | None:
    """Return the server's maximum of connections; reached if it refused any."""
    refused, most = seen.step.step.refused, seen.waits.connections_max
    asked = seen.step.plan.connections
    if refused is None and not most:
        return None
    limit = "" if most is None else f" of at most {most:,}"
    more = "a higher limit of the user's connections, or of the server's"
    if most and (asked > most or refused is None):
        more = f"max_connections above {most:,}"
    return Candidate(
        resource="connections",
        share=asked / most if most else None,
        threshold=1.0,
        reached=refused is not None,
        evidence=f"connections: {asked:,}{limit}{f'; {refused}' if refused else ''}",
        to_change=f"{more}, or fewer connections (a connection pool in front of the server)",
    )


def _find_server_looks(seen: Seen) -> ServerLooks | None:
    return seen.step.server.looks if seen.step.server else None


def _format_count(waits: int | None) -> str:
    return "waits" if waits is None else words.format_count(waits, "wait")


def _compute_mean_waiting(
    seen: Seen, waited_s: float | None, waiters: float | None
) -> float | None:
    """Return the mean number of waiting sessions, by wait time or samples (long waits end late)."""
    known = [] if waited_s is None else [waited_s / seen.load_s]
    return max([*known, *([] if waiters is None else [waiters])], default=None)


def _judge_wait(
    seen: Seen,
    resource: Resource,
    *,
    count: int | None,
    waiting: float | None,
    evidence: str,
    to_change: str,
    for_others: bool = False,
) -> Candidate | None:
    """Return the share of the operations' time that a wait was, from the mean number waiting.

    A wait for other operations is given as a share of the time that the load added.
    """
    if count is None and waiting is None:
        return None
    share = None if waiting is None else min(1.0, waiting / seen.under_way)
    part = "" if share is None else f", {words.format_percent(share)} of the operations' time"
    if waiting is not None and for_others and seen.added_by_load < seen.under_way:
        share = min(1.0, waiting / seen.added_by_load)
        part += f" and {words.format_percent(share)} of the time that the load added to them"
    return Candidate(
        resource=resource,
        share=share,
        threshold=WAITED,
        reached=share is not None and share >= WAITED,
        evidence=evidence + part,
        to_change=to_change,
    )
