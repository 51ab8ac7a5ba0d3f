"""Reads statement statistics from a server, for each family that keeps them."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from time import monotonic
from typing import assert_never

from plimsoll.databases.counted_statements import (
    Look,
    StatementReader,
    TableReader,
    find_named_tables,
    select_foremost,
    sum_growth,
)
from plimsoll.databases.family import find_family
from plimsoll.databases.thread_history import find_transactions
from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.statements_seen import Digest, StatementsSeen, TransactionSeen
from plimsoll.workload.derive.statements import is_commit

LOOK_EVERY_S = 5.0
LOOKS_MOST = 500
NAMELESS = (
    "the server's history does not say which prepared statements it executed, so that their"
    " transactions are not known: a slow log does (--log)"
)


def open_statements(target: EngineTarget) -> AbstractContextManager[StatementReader]:
    """Connect to a target to read its statement statistics; disconnect at the end of the `with`.

    Raises:
        PlimsollError: The server is unreachable, refuses, keeps no statement statistics, or sends
            an answer that cannot be read.
        UsageError: The target's family keeps none, or a pooler answers.
    """
    match target.protocol:
        case "mysql":
            from plimsoll.databases.mysql.session import ELSEWHERE  # noqa: PLC0415 - a driver
            from plimsoll.databases.mysql.statements import open_mysql_reader  # noqa: PLC0415 - a driver

            # not in the target's database, which would count the question
            _refuse_pooler(target.model_copy(update={"database": ELSEWHERE}))
            return open_mysql_reader(target)
        case "postgres":
            from plimsoll.databases.postgres import statements  # noqa: PLC0415 - a driver

            _refuse_pooler(target)
            return statements.open_postgres_reader(target)
        case "cql":
            raise UsageError("DSN: Cassandra does not count its statements by kind")
        case _:
            assert_never(target.protocol)


def open_tables(target: EngineTarget) -> AbstractContextManager[TableReader]:
    """Connect to a target to read its tables, whether or not it counts statements.

    Raises:
        PlimsollError: The server is unreachable, refuses, or sends an answer that cannot be read.
        UsageError: No workload is derived from this family, or a pooler answers.
    """
    match target.protocol:
        case "mysql":
            from plimsoll.databases.mysql.session import ELSEWHERE  # noqa: PLC0415 - a driver
            from plimsoll.databases.mysql.statements import open_mysql_tables  # noqa: PLC0415 - a driver

            _refuse_pooler(target.model_copy(update={"database": ELSEWHERE}))
            return open_mysql_tables(target)
        case "postgres":
            from plimsoll.databases.postgres import statements  # noqa: PLC0415 - a driver

            _refuse_pooler(target)
            return statements.open_postgres_tables(target)
        case "cql":
            raise UsageError("DSN: no workload is derived from Cassandra's logs")
        case _:
            assert_never(target.protocol)


def describe_tables(
    reader: TableReader, target: EngineTarget, texts: Iterable[str]
) -> StatementsSeen:
    """Describe the tables that statements name, without any statistics of statements."""
    names = find_named_tables(reader.table_names(), texts)
    return StatementsSeen(
        protocol=target.protocol,
        server=reader.server(),
        database=target.database,
        schema_name=reader.qualifier(),
        interval_s=None,
        digests=(),
        tables=tuple(reader.tables(names)),
    )


def _refuse_pooler(target: EngineTarget) -> None:
    if find_family(target.protocol).find_pooler(target) is not None:
        raise UsageError(
            f"DSN: a connection pooler or proxy answers at {target.host}:{target.port}; statements"
            " are read from the server itself, since the session is made read-only for that"
        )


def combine_looks(
    reader: StatementReader, target: EngineTarget, looks: Sequence[Look]
) -> StatementsSeen:
    """Combine the readings of a database's statement statistics.

    Args:
        reader: The open connection.
        target: The server and database.
        looks: The readings. One gives all counts since the server began counting; several give the
            growth from the first to the last.
    """
    everything = sum_growth(looks)
    counted = select_foremost(everything)
    texts = {kind: text for kind, text in reader.texts(counted).items() if kind in counted}
    names = find_named_tables(reader.table_names(), texts.values())
    rest = sum(one.calls for kind, one in everything.items() if kind not in texts)
    unknown = looks[-1].unknown - (looks[0].unknown if len(looks) > 1 else 0)
    history = [look.history for look in looks if look.history is not None]
    seen = find_transactions(history, texts) if history else None
    places = {kind: place for place, kind in enumerate(texts)}
    calls = {kind: counted[kind].calls for kind in texts}
    commits = sum(calls[kind] for kind, text in texts.items() if is_commit(text))
    transactions = seen.count(calls, commits) if seen else {}
    return StatementsSeen(
        protocol=target.protocol,
        server=reader.server(),
        database=target.database,
        schema_name=reader.qualifier(),
        interval_s=looks[-1].epoch_s - looks[0].epoch_s if len(looks) > 1 else None,
        digests=tuple(
            Digest(
                text=text,
                calls=one.calls,
                time_s=one.time_us / 1e6,
                rows_sent=one.rows_sent,
                rows_examined=one.rows_examined,
                rows_affected=one.rows_affected,
                order=one.order,
                within=round(one.calls * seen.share_within(kind))
                if transactions and seen
                else None,
            )
            for kind, text in texts.items()
            if (one := counted[kind])
        ),
        pool_pages=reader.pool_pages(),
        pages_missed=_count_missed(looks),
        calls_unknown=max(unknown, 0) + rest,
        transactions=tuple(
            TransactionSeen(
                calls=count, statements=tuple((places[one], times) for one, times in kind)
            )
            for kind, count in transactions.items()
        ),
        transactions_by=None if seen is None else "the history of threads in performance_schema",
        tables=tuple(reader.tables(names)),
        notes=(*reader.notes(), *((NAMELESS,) if seen and seen.nameless else ())),
    )


def _count_missed(looks: Sequence[Look]) -> int | None:
    """Return how many pages missed the pool in the time; None if unknown or counting restarted."""
    first, last = looks[0].pages_missed, looks[-1].pages_missed
    if len(looks) < 2 or first is None or last is None or last < first:
        return None
    return last - first


def look_repeatedly(
    reader: StatementReader,
    for_s: float,
    wait: Callable[[float], None],
    each: Callable[[], None] = lambda: None,
) -> list[Look]:
    """Read the statistics repeatedly for some time, so that statements closed meanwhile are seen.

    Args:
        reader: The open connection.
        for_s: The total time in seconds.
        wait: The function that waits for a number of seconds.
        each: Called after each reading.
    """
    times = max(2, min(LOOKS_MOST, 1 + round(for_s / LOOK_EVERY_S)))
    began = monotonic()
    looks = []
    for number in range(times):
        wait(max(0.0, began + for_s * number / (times - 1) - monotonic()))
        looks.append(reader.look())
        each()
    return looks
