"""The last statements of each thread, as MySQL and MariaDB keep them in performance_schema.

dev.mysql.com/doc/refman/8.4/en/performance-schema-statement-tables.html.
`events_statements_history` has 10 statements of each thread, `events_statements_history_long`
10,000 of all; either is filled only while its consumer is on. Where transactions are instrumented,
a statement names its own (`NESTING_EVENT_ID`); else BEGIN and COMMIT stand in their thread's order.
"""

from plimsoll.databases.counted_statements import HistoryEvent
from plimsoll.databases.mysql.session import Connection, execute
from plimsoll.errors import PlimsollError

EVENTS_MOST = 2000  # that one query reads, so that its answer stays below 1 MiB
TABLES = ("events_statements_history_long", "events_statements_history")
_CONSUMERS = """
SELECT NAME FROM performance_schema.setup_consumers
 WHERE ENABLED = 'YES' AND NAME IN ('events_statements_history_long', 'events_statements_history')
"""
_EVENTS = f"""
SELECT THREAD_ID, EVENT_ID, EVENT_NAME, DIGEST, MD5(SQL_TEXT),
       IF(NESTING_EVENT_TYPE = 'TRANSACTION', NESTING_EVENT_ID, NULL)
  FROM performance_schema.{{table}}
 WHERE CURRENT_SCHEMA = %s AND END_EVENT_ID IS NOT NULL
 ORDER BY TIMER_START DESC LIMIT {EVENTS_MOST}
"""  # noqa: S608 - names and a number of ours
_BEGINS = {"statement/sql/begin"}
_ENDS = {"statement/sql/commit": "commit", "statement/sql/rollback": "rollback"}
NOT_KEPT = (
    "this server keeps no history of statements, which would tell the transactions: UPDATE"
    " performance_schema.setup_consumers SET ENABLED = 'YES' WHERE NAME IN"
    " ('events_statements_current', 'events_statements_history_long') has it kept, without a"
    " restart, and 'NO' ends that"
)


def choose_history(connection: Connection) -> str | None:
    """Return the history that the server fills; None if it fills none, or hides it."""
    try:
        enabled = {str(name) for (name,) in execute(connection, _CONSUMERS)}
    except PlimsollError:
        return None
    return next((table for table in TABLES if table in enabled), None)


def read_thread_history(
    connection: Connection, table: str, database: str
) -> tuple[HistoryEvent, ...]:
    """Read the last statements in a database, in the order of each thread."""
    rows = execute(connection, _EVENTS.format(table=table), (database,))
    events = [
        HistoryEvent(
            thread=int(thread),
            number=int(number),
            control="begin" if name in _BEGINS else _ENDS.get(str(name), ""),
            kinds=tuple(
                filter(None, (str(digest or ""), f"prepared {of_text}" if of_text else ""))
            ),
            transaction=int(transaction or 0),
        )
        for thread, number, name, digest, of_text, transaction in rows
    ]
    return tuple(sorted(events, key=lambda one: (one.thread, one.number)))
