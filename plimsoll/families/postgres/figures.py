"""What follows from a PostgreSQL server's counters: of a step, and of what it left to do."""

from plimsoll import words
from plimsoll.model.fleet import ServerCounters, UnfinishedWork
from plimsoll.model.results import ServerFigures, ServerLooks, ServerWaits
from plimsoll.model.target_figures import StorageRates

STATEMENTS = "statements"  # executed, but for ours and those that begin and end transactions
FORGOTTEN = "statements_forgotten"  # kinds of statements that made room for others, calls and all
STARTED = "started_s"
GAUGES = (
    STARTED,
    "autovacuum_blocks_left",
    "autovacuum_workers",
    "max_connections",
    "max_wal_bytes",
    "running",
    "wal_bytes_since_checkpoint",
)
PAGE_BYTES = 8192  # every server's, unless its owner has compiled it otherwise
MERGED_MOST_BYTES = 256 * 1024  # that a checkpoint's writes of neighbors can be one I/O of
DEBT_SHARE = 0.9  # of max_wal_size since the last checkpoint: the next one is about to begin


def server_figures(
    before: ServerCounters, after: ServerCounters, *, statements_by_clients: int | None
) -> ServerFigures:
    """Say what the server did between two readings of its counters.

    Statistics outlast a restart, but for one after a crash: then they began again. A counter that
    is lower without a restart was reset by somebody, or has forgotten something: it is left out.

    Args:
        before: Read before the step's load.
        after: Read when all clients had ended.
        statements_by_clients: What the clients say that they had executed; None where one of them
            did not say.
    """
    old, new = before.values, after.values
    counters = [name for name in new if name not in GAUGES]
    restarted = new.get(STARTED) != old.get(STARTED)
    fallen = {name for name in counters if new[name] < old.get(name, 0)}
    began_again = restarted and bool(fallen)
    grown = {
        name: new[name] - (0 if began_again else old.get(name, 0))
        for name in counters
        if began_again or name not in fallen
    }
    blocks, hits = grown.get("blocks_read"), grown.get("blocks_hit")
    known = STATEMENTS in old and FORGOTTEN not in fallen and not grown.get(FORGOTTEN)
    return ServerFigures(
        interval_s=(after.epoch_ms - before.epoch_ms) / 1000,
        counters=grown,
        gauges={name: new[name] for name in GAUGES if name in new},
        restarted=restarted,
        statements_by_clients=None if restarted else statements_by_clients,
        statements_by_server=grown.get(STATEMENTS) if known else None,
        buffer_pool_miss_share=blocks / (blocks + hits) if blocks is not None and hits else None,
    )


def signs_of_limits(server: ServerFigures) -> list[str]:
    """Say what else the counters tell of the server's own limits in a step, a sentence each."""
    grown, signs = server.counters, []
    requested, timed = grown.get("checkpoints_requested"), grown.get("checkpoints_timed")
    buffers = grown.get("checkpoint_buffers", 0)
    if requested or timed:
        begun = words.plural((requested or 0) + (timed or 0), "checkpoint")
        because = f", {requested} of them because max_wal_size was full" if requested else ""
        signs.append(f"{begun} began{because}")
    if buffers:
        pages = grown.get("wal_full_pages", 0)
        signs.append(
            f"checkpoints wrote {words.number(buffers)} pages, and {words.number(pages)} whole"
            " pages went into the log behind them"
        )
    if count := grown.get("backend_writes"):
        signs.append(f"sessions had to write {words.number(count)} pages to make room for others")
    if count := grown.get("wal_buffers_full"):
        signs.append(f"{words.plural(count, 'wait')} for room in the log's buffers")
    vacuumed = grown.get("autovacuum_reads", 0) + grown.get("autovacuum_writes", 0)
    if vacuumed:
        signs.append(f"autovacuum read and wrote {words.number(vacuumed)} pages")
    if count := grown.get("deadlocks"):
        signs.append(words.plural(count, "deadlock"))
    return [*signs, *_seen(server.looks)]


def _seen(looks: ServerLooks | None) -> list[str]:
    """Say how much of the server's own work was seen by looking."""
    if looks is None:
        return []
    signs = []
    if looks.checkpoint_looks:
        of_looks = f"{looks.checkpoint_looks} of {words.plural(looks.looks, 'look')}"
        signs.append(f"a checkpoint was under way in {of_looks}")
    if looks.autovacuum_workers:
        workers = words.three_figures(looks.autovacuum_workers)
        signs.append(f"{workers} autovacuum workers were at work, as a mean")
    if looks.log_waiters:
        waiters = words.three_figures(looks.log_waiters)
        signs.append(f"{waiters} sessions waited for the log, as a mean")
    return signs


def waits(server: ServerFigures) -> ServerWaits:
    """Say what the counters tell of what a step's load waited for.

    A page that was read may have come from the operating system's memory: how many wait for one is
    seen by looking (`plimsoll.families.postgres.watching`).
    """
    grown = server.counters
    return ServerWaits(
        page_reads=grown.get("blocks_read"),
        page_reads_s=_seconds(grown.get("block_read_us")),
        commits=grown.get("commits"),
        log_flushes=grown.get("wal_flushes"),
        log_io_s=_seconds(grown.get("wal_io_us")),
        connections_max=server.gauges.get("max_connections"),
    )


def _seconds(us: int | None) -> float | None:
    return None if us is None else us / 1e6


def storage_rates(server: ServerFigures) -> StorageRates | None:
    """Say what I/O surely reached the storage; None where the counters began again.

    That is what was flushed: the log, and what checkpoints wrote, its neighbors as one I/O. Reads
    and other writes may have ended in the operating system's memory, and are not counted.
    """
    writes, flushes = (server.counters.get(f"wal_{name}") for name in ("writes", "flushes"))
    log_bytes = server.counters.get("wal_bytes")
    buffers = server.counters.get("checkpoint_buffers")
    if server.restarted or server.interval_s <= 0:
        return None
    if writes is None or flushes is None or log_bytes is None or buffers is None:
        return None
    checkpoint_bytes = buffers * PAGE_BYTES
    return StorageRates(
        interval_s=server.interval_s,
        iops=(writes + checkpoint_bytes / MERGED_MOST_BYTES) / server.interval_s,
        mib_s=(log_bytes + checkpoint_bytes) / 2**20 / server.interval_s,
        fsyncs_per_second=flushes / server.interval_s,
        whole=False,
    )


def unfinished_work(now: ServerCounters) -> UnfinishedWork | None:
    """Say what a target still has to work off after a load; None where nothing is left.

    Three things outlast a load and slow the next one: statements that still run, autovacuum, and a
    checkpoint that is about to begin since max_wal_size is nearly full. A server without load may
    leave that much for minutes: then nothing is being worked off.
    """
    running = now.values.get("running", 0)
    if running:
        return UnfinishedWork(what=f"{words.plural(running, 'statement')} still running")
    if workers := now.values.get("autovacuum_workers"):
        left = now.values.get("autovacuum_blocks_left", 0)
        at_work = words.plural(workers, "autovacuum worker")
        return UnfinishedWork(what=f"{at_work} with {words.number(left)} pages left", left=left)
    debt, most = (now.values.get(n) for n in ("wal_bytes_since_checkpoint", "max_wal_bytes"))
    if debt is not None and most and debt > most * DEBT_SHARE:
        share = words.percent(debt / most)
        what = f"{share} of max_wal_size was written since the last checkpoint"
        return UnfinishedWork(what=what, left=debt)
    return None
