"""Waiting until a server has worked off what loading a dataset left it to do."""

import time
from contextlib import closing

from plimsoll.errors import PlimsollError
from plimsoll.families.mysql.session import Connection, connect, execute
from plimsoll.model.engine import EngineTarget

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
