"""The tables that a workload's statements write.

Only their names are read: whoever asks looks them up in the server. A table that a statement of
another form writes (one of several of a MySQL UPDATE, or in a function) is not found.
"""

import re
from collections.abc import Iterator

from plimsoll.workload.compiled import Compiled

_NAME = r'(?:"(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d][\w$]*)'
_TABLE = rf"(?P<table>{_NAME}(?:\.{_NAME})*)"
# ... FOR UPDATE, FOR NO KEY UPDATE, ON DUPLICATE KEY UPDATE and DO UPDATE name no table
_WRITES = re.compile(
    rf"(?<!\bFOR )(?<!\bKEY )(?<!\bDO )\b(?:INSERT|REPLACE|UPDATE|DELETE|MERGE)"
    rf"(?:\s+(?:LOW_PRIORITY|HIGH_PRIORITY|DELAYED|QUICK|IGNORE|INTO|FROM|ONLY)\b)*\s+{_TABLE}",
    re.IGNORECASE,
)
_MAKES = re.compile(
    r"\b(?:CREATE\s+(?:(?:GLOBAL|LOCAL)\s+)?(?P<kind>TEMP|TEMPORARY|UNLOGGED)\s+TABLE"
    rf"(?:\s+IF\s+NOT\s+EXISTS)?|INTO\s+(?P<into>TEMP|TEMPORARY|UNLOGGED)(?:\s+TABLE)?)\s+{_TABLE}",
    re.IGNORECASE,
)
_TEXT = re.compile(r"'[^']*'")


def list_written_tables(compiled: Compiled) -> tuple[str, ...]:
    """List the tables that statements and procedures write, as they write the names, in order.

    `UPDATE ONLY shop."Log" SET v = 1` gives `shop."Log"`.
    """
    found = (match["table"] for text in _list_texts(compiled) for match in _WRITES.finditer(text))
    return tuple(dict.fromkeys(found))


def find_made_tables(compiled: Compiled) -> dict[str, bool]:
    """Return the temporary and the unlogged tables that statements make, and which is temporary."""
    return {
        match["table"]: (match["kind"] or match["into"]).upper() != "UNLOGGED"
        for text in _list_texts(compiled)
        for match in _MAKES.finditer(text)
    }


def _list_texts(compiled: Compiled) -> Iterator[str]:
    """Yield the texts of all statements, without the texts in quotes within them."""
    for operation in compiled.engine.operations:
        for statement in operation.statements:
            yield from (_TEXT.sub("''", sql) for sql in statement.sql)
    for sql in compiled.procedures.values():
        yield _TEXT.sub("''", sql or "")
