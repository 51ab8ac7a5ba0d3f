"""Waiting until a server has worked off what loading a dataset left it to do."""

import time
from contextlib import closing

from plimsoll.errors import PlimsollError
from plimsoll.families.postgres.session import connect, execute
from plimsoll.model.engine import EngineTarget

_POLL_S = 0.25
_AT_WORK = "SELECT COUNT(*) FROM pg_stat_activity WHERE backend_type = 'autovacuum worker'"


def settle(target: EngineTarget, *, longest_s: float) -> bool:
    """Wait until autovacuum has ended and a checkpoint has written what loading changed.

    Without a checkpoint of ours the next one comes in the middle of a load, and writes the dataset
    once more. Where the user may not ask for one (`pg_checkpoint`), it is left out.

    Returns:
        False where they had not ended after `longest_s`.

    Raises:
        PlimsollError: The server cannot be reached.
    """
    deadline = time.monotonic() + longest_s
    with closing(connect(target)) as connection:
        while execute(connection, _AT_WORK)[0][0]:
            if time.monotonic() >= deadline:
                return False
            time.sleep(_POLL_S)
        ((may,),) = execute(connection, "SELECT pg_has_role('pg_checkpoint', 'USAGE')")
        if not may:
            return True
        left_ms = max(1, round((deadline - time.monotonic()) * 1000))
        execute(connection, "SELECT set_config('statement_timeout', $1, false)", (str(left_ms),))
        try:
            execute(connection, "CHECKPOINT")
        except PlimsollError:
            if time.monotonic() < deadline - _POLL_S:
                raise
            return False
        finally:
            execute(connection, "RESET statement_timeout")  # a pooler may give the session away
    return True
