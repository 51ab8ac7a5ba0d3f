"""Samples of a MySQL or MariaDB server: sessions that wait for locks, and checkpoint age.

A session sees all others of its own user without any privilege
(dev.mysql.com/doc/refman/8.4/en/information-schema-processlist-table.html), so the load's user can
sample the load. A wait for a row lock has no state of its own; InnoDB counts those.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from plimsoll.databases.connecting import use_connection
from plimsoll.databases.mysql.session import Connection, connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.debt import WriteDebt
from plimsoll.model.run.fleet import ServerLook

# The states of waits for table-level, metadata, global read, backup and other locks:
# dev.mysql.com/doc/refman/8.4/en/general-thread-states.html
_TABLE_LOCK_WAITERS = (
    "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for % lock'"
)
_ROW_LOCK_WAITERS = "Innodb_row_lock_current_waits"
_CHECKPOINT = (  # MariaDB
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
    "Innodb_lsn_current",
)
_REDO_LOG = (  # MySQL, from 8.0.30 on
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
)
_DIRTY_PAGES = "Innodb_buffer_pool_pages_dirty"
LOG_NAMES = (*_CHECKPOINT, *_REDO_LOG)
HISTORY = "Innodb_history_list_length"  # MariaDB
_DATA_IOS = ("Innodb_data_reads", "Innodb_data_writes")
# Counted only where `Innodb_data_writes` counts writes of the log, too: not by MariaDB from 10.8 on
_LOG_FSYNCS = "Innodb_os_log_fsyncs"
_LOG_WRITES = "Innodb_log_writes"
_NAMES = (
    _ROW_LOCK_WAITERS,
    _DIRTY_PAGES,
    *LOG_NAMES,
    *_DATA_IOS,
    _LOG_FSYNCS,
    _LOG_WRITES,
    HISTORY,
)


class MySqlWatcher:
    """Samples what a server does, through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def cut_off(self) -> None:
        """Abort a sample that takes too long; called from another thread."""
        self._connection.cut_off()

    def look(self) -> ServerLook:
        """Sample what the server does now.

        Raises:
            PlimsollError: The server refuses, or the connection is lost.
        """
        names = ", ".join(["%s"] * len(_NAMES))
        status = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"
        rows: dict[str, str] = dict(execute(self._connection, status, _NAMES))
        values = {name: int(value) for name, value in rows.items() if value.isdigit()}
        seen_ms = round(time.time() * 1000)
        ((waiters,),) = execute(self._connection, _TABLE_LOCK_WAITERS)
        return ServerLook(
            epoch_ms=seen_ms,
            row_lock_waiters=values.get(_ROW_LOCK_WAITERS),
            table_lock_waiters=int(waiters),
            checkpoint_share=compute_checkpoint_share(values),
            debt=find_write_debt(values),
        )


def find_write_debt(values: Mapping[str, int]) -> WriteDebt | None:
    """Return the checkpoint age, and the age at which InnoDB flushes before anything else.

    Args:
        values: The server's status variables, by name.

    Returns:
        None if the server does not report it.
    """
    pages, ios, unpurged = values.get(_DIRTY_PAGES), _count_ios(values), values.get(HISTORY)
    age, age_max, written = (values.get(name) for name in _CHECKPOINT)
    if age is not None and age_max and written is not None:
        return WriteDebt(
            owed_bytes=age,
            limit_bytes=age_max,
            written_bytes=written,
            owed_pages=pages,
            ios=ios,
            unpurged=unpurged,
        )
    written, checkpoint, capacity = (values.get(name) for name in _REDO_LOG)
    if written is None or checkpoint is None or not capacity:
        return None
    return WriteDebt(
        owed_bytes=max(0, written - checkpoint),
        limit_bytes=capacity,
        written_bytes=written,
        owed_pages=pages,
        ios=ios,
        unpurged=unpurged,
    )


def _count_ios(values: Mapping[str, int]) -> int | None:
    """Return InnoDB's reads and writes since the server started, of its log too; None if unknown.

    MDEV-14425 (10.8) took the writes of the log out of those of the data files.
    """
    log_apart = () if _LOG_FSYNCS in values else (_LOG_WRITES,)
    counts = [values.get(name) for name in (*_DATA_IOS, *log_apart)]
    return None if None in counts else sum(count or 0 for count in counts)


def compute_checkpoint_share(values: Mapping[str, int]) -> float | None:
    """Return the checkpoint age as a share of the redo log; None if it is unknown.

    Args:
        values: The server's status variables, by name.
    """
    age, age_max, _ = (values.get(name) for name in _CHECKPOINT)
    if age is not None and age_max:
        return age / age_max
    now, checkpoint, capacity = (values.get(name) for name in _REDO_LOG)
    if now is None or checkpoint is None or not capacity:
        return None
    return (now - checkpoint) / capacity


@contextmanager
def open_mysql_watcher(target: EngineTarget) -> Iterator[MySqlWatcher]:
    """Connect to sample a server under load.

    Raises:
        PlimsollError: The server is unreachable or refuses.
    """
    with use_connection(connect(target)) as connection:
        yield MySqlWatcher(connection)


# Waiting until a server has worked off the backlog of loading.


SETTLED = 100  # transactions in the history list that a load would not notice
_POLL_S = 0.25


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until the purge has caught up with the loaded rows.

    MariaDB's purge visits every inserted row once more, to reset its transaction id (MDEV-12288).
    Right after loading, it reads and writes the whole dataset a second time, which a measurement
    would include.

    Returns:
        False if it had not caught up after `longest_s` seconds.

    Raises:
        PlimsollError: The server cannot be reached.
    """
    with use_connection(connect(target)) as connection:
        deadline = time.monotonic() + longest_s
        while (length := read_history_length(connection)) is not None and length > SETTLED:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
    return True


def read_history_length(connection: Connection) -> int | None:
    """Return InnoDB's history list length; None if the account may not see it."""
    try:
        rows = execute(
            connection,
            "SELECT `COUNT` FROM information_schema.INNODB_METRICS"
            " WHERE name = 'trx_rseg_history_len'",
        )
    except PlimsollError:
        return None
    return int(rows[0][0]) if rows else None
