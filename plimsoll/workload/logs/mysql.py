"""The slow log and the general log of MySQL, MariaDB and Percona Server.

mariadb.com/kb/en/slow-query-log-overview/, dev.mysql.com/doc/refman/8.4/en/slow-query-log.html and
docs.percona.com/percona-server/8.4/slow-extended.html. A statement begins after lines with `#`; the
database is said when it changes (`use shop;`) or each time (`Schema:`), the time with each
statement (`SET timestamp`).
"""

import re
from datetime import UTC, datetime
from functools import lru_cache

from plimsoll.workload.logs.fold import SESSIONS_MOST, Event, Fold, LogFacts
from plimsoll.workload.logs.lines import Lines
from plimsoll.workload.logs.texts import STATEMENT_MOST

SLOW_LOG = "slow log of MySQL or MariaDB"
GENERAL_LOG = "general log of MySQL or MariaDB"
_FIELD = re.compile(r"\b(\w+): *(\S+)")
_COMMAND = "# administrator command:"
_QUERY_TIME = re.compile(r"^# Query_time: *[0-9.]++ ", re.MULTILINE)
_BANNER = re.compile(r"^\S.*, Version: (\S+) .*started with:$")
_TIMESTAMP = re.compile(r"SET timestamp=([0-9]{1,12}(?:\.[0-9]{1,6})?);")
_USE = re.compile(r"use (`?)(.{1,200})\1;")
_GENERAL = re.compile(
    r"^([0-9]{4}-[0-9T:.+Z-]{10,30}|[0-9]{6} [ 0-9]?[0-9]:[0-9]{2}:[0-9]{2}|\t)?\t *([0-9]{1,20})"
    r" (Query|Execute|Prepare|Connect|Quit|Init DB|Field List|Close stmt|Reset stmt|Statistics"
    r"|Ping|Long Data|Change user|Fetch|Debug|Kill|Shutdown|Refresh|Set option|Binlog Dump|Error)"
    r"\t?(.*)$"
)
_MARIADB_TIME = re.compile(r"([0-9]{2})([0-9]{2})([0-9]{2}) +([0-9]{1,2}):([0-9]{2}):([0-9]{2})")
_CONNECTED = re.compile(r"\S* on (\S*) using ")


def is_slow_log(head: str) -> bool:
    """Whether a text begins a slow log."""
    return bool(_QUERY_TIME.search(head))


def is_general_log(head: str) -> bool:
    """Whether a text begins a general log."""
    lines = head.splitlines()[:200]
    return sum(bool(_GENERAL.match(line)) for line in lines) > len(lines) // 4


def read_slow_log(lines: Lines) -> LogFacts:
    """Read a slow log."""
    facts = LogFacts(SLOW_LOG, Fold("sql"), durations=True)
    reader = _SlowLog(facts)
    for line in lines:
        reader.read(line)
    reader.end_statement()
    if facts.one_in > 1 and not facts.samples_sessions:
        facts.notes.append(f"one in {facts.one_in} statements is in the log")
    return facts


class _SlowLog:
    """Reads a slow log line by line."""

    def __init__(self, facts: LogFacts) -> None:
        self._facts, self._fold = facts, facts.fold
        self._event = Event("")
        self._text: list[str] = []
        self._length = 0
        self._header = True  # before the first statement
        self._database = ""
        self._skipped = 0  # lines of a banner that are left

    def read(self, line: str) -> None:
        if self._skipped:
            self._skipped -= 1
        elif line.startswith("# ") and (
            self._header or line.startswith(("# Time: ", "# User@Host: "))
        ):
            self._read_header(line)
        elif line.endswith("started with:") and (banner := _BANNER.match(line)):
            self.end_statement()
            self._facts.server = banner[1]
            self._skipped = 2
        else:
            self._read_text(line)

    def _read_header(self, line: str) -> None:
        if not self._header:
            self.end_statement()
            self._header = True
        if line.startswith(_COMMAND):
            self._read_command(line)
            return
        if line.startswith("# Time: "):
            self._event.at_s = parse_time(line[8:].strip())
            return
        for name, value in _FIELD.findall(line):
            self._take(name, value)

    def _read_command(self, line: str) -> None:
        """Read a command that is no statement; what the header said is about it."""
        if line.startswith(f"{_COMMAND} Quit"):
            self._fold.end_session(self._event.session)
        self._event = Event("")

    def _take(self, name: str, value: str) -> None:
        event = self._event
        match name:
            case "Query_time":
                event.time_s = _read_float(value)
            case "Rows_sent":
                event.rows_sent = _read_int(value)
            case "Rows_examined":
                event.rows_examined = _read_int(value)
            case "Rows_affected":
                event.rows_affected = _read_int(value)
            case "Thread_id" | "Id":
                event.session = value
            case "Schema":
                self._database = "" if value.endswith(":") else value  # `Schema:   QC_hit: No`
            case "Log_slow_rate_type":
                self._facts.samples_sessions = value == "session"
            case "Log_slow_rate_limit":
                self._facts.one_in = max(1, _read_int(value) or 1)
            case _:
                pass

    def _read_text(self, line: str) -> None:
        if self._header or not self._text:
            self._header = False
            if found := _TIMESTAMP.fullmatch(line):
                self._event.at_s = float(found[1])
                return
            if found := _USE.fullmatch(line):
                self._database = found[2]
                return
            if line.startswith(_COMMAND):
                self._read_command(line)
                return
        if self._length < STATEMENT_MOST:
            self._text.append(line)
            self._length += len(line) + 1

    def end_statement(self) -> None:
        """Count the statement that was read."""
        event = self._event
        if self._text and event.time_s is not None:
            event.text, event.database = "\n".join(self._text), self._database
            self._fold.add(event)
        self._event, self._text, self._length = Event(""), [], 0


def read_general_log(lines: Lines) -> LogFacts:
    """Read a general log."""
    facts = LogFacts(GENERAL_LOG, Fold("sql"))
    facts.notes.append("the log has no durations and no rows")
    reader = _GeneralLog(facts)
    for line in lines:
        reader.read(line)
    reader.end_statement()
    return facts


class _GeneralLog:
    """Reads a general log line by line."""

    def __init__(self, facts: LogFacts) -> None:
        self._facts, self._fold = facts, facts.fold
        self._databases: dict[str, str] = {}  # key: session
        self._at_s: float | None = None
        self._event: Event | None = None
        self._text: list[str] = []
        self._length = 0

    def read(self, line: str) -> None:
        found = _GENERAL.match(line)
        if found is not None:
            self.end_statement()
            time, session, command, argument = found.groups()
            if time and time.strip():
                self._at_s = parse_time(time)
            self._read_command(session, command, argument)
        elif banner := _BANNER.match(line):
            self._facts.server = banner[1]
        elif self._event is not None and self._length < STATEMENT_MOST:
            self._text.append(line)
            self._length += len(line) + 1

    def _read_command(self, session: str, command: str, argument: str) -> None:
        match command:
            case "Query" | "Execute":
                database = self._databases.get(session, "")
                self._event = Event("", self._at_s, session, database)
                self._text, self._length = [argument], len(argument)
            case "Connect" if on := _CONNECTED.search(argument):
                self._remember(session, on[1])
            case "Init DB":
                self._remember(session, argument)
            case "Quit":
                self._databases.pop(session, None)
                self._fold.end_session(session)
            case _:
                pass

    def _remember(self, session: str, database: str) -> None:
        if len(self._databases) < SESSIONS_MOST:
            self._databases[session] = database

    def end_statement(self) -> None:
        """Count the statement that was read."""
        if self._event is not None:
            self._event.text = "\n".join(self._text)
            self._fold.add(self._event)
        self._event = None


@lru_cache(maxsize=1)  # many lines have the same second
def parse_time(text: str) -> float | None:
    """Return the seconds since 1970 of a time, in UTC unless it says otherwise; None if it is none.

    The servers write `2026-11-27T10:00:00.123456Z` (MySQL) or `261127 10:00:00` (MariaDB).
    """
    try:
        if found := _MARIADB_TIME.fullmatch(text.strip()):
            year, month, day, hour, minute, second = map(int, found.groups())
            at = datetime(2000 + year, month, day, hour, minute, second, tzinfo=UTC)
        else:
            at = datetime.fromisoformat(text.strip())
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _read_int(value: str) -> int | None:
    return int(value) if value.isdecimal() and len(value) < 19 else None


def _read_float(value: str) -> float | None:
    try:
        read = float(value)
    except ValueError:
        return None
    return read if 0 <= read < 1e9 else None
