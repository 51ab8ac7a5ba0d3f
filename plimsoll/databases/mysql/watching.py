"""What a MySQL or MariaDB server does at one moment: who waits for locks, how full its log is.

A session sees all others of its own user without any right
(dev.mysql.com/doc/refman/8.4/en/information-schema-processlist-table.html), so that the user of a
load can look at the load. Waits for a row lock have no state of their own; InnoDB counts them.
"""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

from plimsoll.databases.mysql.session import Connection, connect, execute
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import ServerLook

# table level, table metadata, global read, backup, ...: the states of
# dev.mysql.com/doc/refman/8.4/en/general-thread-states.html
_TABLE_LOCK_WAITERS = (
    "SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'Waiting for % lock'"
)
_ROW_LOCK_WAITERS = "Innodb_row_lock_current_waits"
_CHECKPOINT = (  # MariaDB's
    "Innodb_checkpoint_age",
    "Innodb_checkpoint_max_age",
)
_REDO_LOG = (  # MySQL's
    "Innodb_redo_log_current_lsn",
    "Innodb_redo_log_checkpoint_lsn",
    "Innodb_redo_log_capacity_resized",
)
_NAMES = (_ROW_LOCK_WAITERS, *_CHECKPOINT, *_REDO_LOG)


class MySqlWatcher:
    """Looks at a server through one connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def cut_off(self) -> None:
        """End a look that takes too long, from another thread."""
        self._connection.cut_off()

    def look(self) -> ServerLook:
        """Say what the server does now.

        Raises:
            PlimsollError: It refuses, or is gone.
        """
        names = ", ".join(["%s"] * len(_NAMES))
        status = f"SHOW GLOBAL STATUS WHERE Variable_name IN ({names})"
        rows: dict[str, str] = dict(execute(self._connection, status, _NAMES))
        values = {name: int(value) for name, value in rows.items() if value.isdigit()}
        ((waiters,),) = execute(self._connection, _TABLE_LOCK_WAITERS)
        return ServerLook(
            row_lock_waiters=values.get(_ROW_LOCK_WAITERS),
            table_lock_waiters=int(waiters),
            checkpoint_share=checkpoint_share(values),
        )


def checkpoint_share(values: dict[str, int]) -> float | None:
    """Give the share of the redo log whose changes are in no data file; None where it is unknown.

    Args:
        values: The server's status, by name.
    """
    age, age_max = (values.get(name) for name in _CHECKPOINT)
    if age is not None and age_max:
        return age / age_max
    now, checkpoint, capacity = (values.get(name) for name in _REDO_LOG)
    if now is None or checkpoint is None or not capacity:
        return None
    return (now - checkpoint) / capacity


@contextmanager
def watch(target: EngineTarget) -> Iterator[MySqlWatcher]:
    """Connect to look at a server under load.

    Raises:
        PlimsollError: It cannot be reached or refuses.
    """
    with closing(connect(target)) as connection:
        yield MySqlWatcher(connection)


# Waiting until a server has worked off what loading a dataset left it to do.


SETTLED = 100  # transactions whose history is not yet purged: nothing that a load would feel
_POLL_S = 0.25


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until the purge has caught up with the rows that were loaded.

    MariaDB's purge visits every inserted row once more, to reset its transaction id (MDEV-12288):
    right after loading, it reads and writes the whole dataset a second time, and whoever measures
    then measures that.

    Returns:
        False where it had not caught up after `longest_s`.

    Raises:
        PlimsollError: The server cannot be reached.
    """
    with closing(connect(target)) as connection:
        deadline = time.monotonic() + longest_s
        while (length := _history_length(connection)) is not None and length > SETTLED:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
    return True


def _history_length(connection: Connection) -> int | None:
    """Give InnoDB's history list length; None where the account may not see it."""
    try:
        rows = execute(
            connection,
            "SELECT `COUNT` FROM information_schema.INNODB_METRICS"
            " WHERE name = 'trx_rseg_history_len'",
        )
    except PlimsollError:
        return None
    return int(rows[0][0]) if rows else None
