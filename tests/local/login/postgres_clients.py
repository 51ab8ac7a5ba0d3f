"""Whoever logs in to PostgreSQL: the engine, and Python's own connections."""

from contextlib import closing

from plimsoll.databases.postgres.session import connect, execute
from plimsoll.model.engine.answered import LoadReport
from plimsoll.model.engine.asked import (
    EngineOperation,
    EngineStatement,
    EngineTarget,
    EngineWorkload,
)
from plimsoll.model.engine.values import IntegerValue
from tests.local.load.driving import drive
from tests.local.login.conftest import IN_TIME_MS

SELECT = EngineStatement(
    sql=("SELECT v FROM t WHERE id = $1",), binds=(IntegerValue(low=0, high=9),)
)
READS = EngineWorkload(
    key_spaces=(), operations=(EngineOperation(name="read", weight=1, statements=(SELECT,)),)
)


def by_engine(target: EngineTarget) -> None:
    """Connect as the load clients do."""
    driven(target)


def driven(target: EngineTarget) -> LoadReport:
    """Read once."""
    return drive(
        target, READS, connections=1, duration_s=60, operations_limit=1, timeout_ms=IN_TIME_MS
    )


def by_python(target: EngineTarget) -> None:
    """Connect as schemas, counts and counters do."""
    connect(target).close()


def asking(target: EngineTarget) -> None:
    """Log in as these do, and ask for something."""
    with closing(connect(target)) as connection:
        execute(connection, "SELECT 1")
