"""PostgreSQL's log, as CSV (`log_destination = csvlog`) or as text, with auto_explain's plans.

www.postgresql.org/docs/18/runtime-config-logging.html. A statement's line is `duration: 0.042 ms
execute <unnamed>: SELECT ...`, and that of auto_explain `duration: 0.042 ms  plan:` with the text
before its plan. Where the log has both, the statements are counted and not the plans.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator

from plimsoll.workload.logs.fold import SESSIONS_MOST, Event, Fold, LogFacts
from plimsoll.workload.logs.lines import Lines, allow_long_fields
from plimsoll.workload.logs.mysql import parse_time
from plimsoll.workload.logs.texts import STATEMENT_MOST

CSV_LOG = "CSV log of PostgreSQL"
TEXT_LOG = "log of PostgreSQL"
_RECORD_MOST = 4 * STATEMENT_MOST
_MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?"
_RECORD = re.compile(rf"^{_MOMENT} [A-Z0-9+-]{{1,6}},")
_STATEMENT = re.compile(
    r"(?:duration: ([0-9.]{1,20}) ms(?:  (?=\S)|$))?"
    r"(?:(statement|execute [^:]{1,130}|parse [^:]{1,130}|bind [^:]{1,130}|plan): ?\s*)?"
)
_LINE = re.compile(
    rf"^({_MOMENT})(?: ([A-Z]{{1,6}}|[+-][0-9]{{2}}))?(.{{0,400}}?)"
    r"\b(LOG|DETAIL|CONTEXT|STATEMENT|HINT|ERROR|WARNING|NOTICE|INFO|FATAL|PANIC|DEBUG[1-5]?):"
    r"  (.*)$"
)
_PID = re.compile(r"\[([0-9]{1,10})(?:-[0-9]+)?\]")
_USER_AT = re.compile(r"[\w-]{1,63}@([\w-]{1,63})")
_DATABASE_NAMED = re.compile(r"\bdb=([\w-]{1,63})")
_PARAMETERS = re.compile(r"(\$[0-9]{1,5}) = ((?:'(?:[^']|'')*+'|NULL))")
_PLAN_LINE = re.compile(r"\(cost=[0-9.]+ rows=")
_ACTUAL = re.compile(r"\(actual (?:time=[0-9.]+ )?rows=([0-9.]{1,20}) loops=([0-9]{1,10})\)")
_FIELDS_LEAST = 14
# Fields of the CSV log, by their position
_AT, _DATABASE, _SESSION, _SEVERITY, _MESSAGE, _DETAIL = 0, 2, 5, 11, 13, 14


def is_csv_log(head: str) -> bool:
    """Whether a text begins a CSV log."""
    return bool(_RECORD.match(head)) and head.partition("\n")[0].count(",") >= _FIELDS_LEAST - 1


def is_text_log(head: str) -> bool:
    """Whether a text begins a log with times."""
    lines = [line for line in head.splitlines()[:200] if not line.startswith("\t")]
    return sum(bool(_LINE.match(line)) for line in lines) > len(lines) // 4


class _Statements:
    """Counts the statements of messages, and those of plans apart."""

    def __init__(self) -> None:
        self.statements, self.plans = Fold("postgres"), Fold("postgres")
        self._alone: dict[str, Event] = {}  # key: session; logged before the duration

    def add(self, message: str, detail: str, at_s: float | None, session: str, on: str) -> None:
        """Count a message if it is that of a statement."""
        found = _STATEMENT.match(message)
        if found is None or (found[1] is None and found[2] is None):
            return
        time_s = float(found[1]) / 1000 if found[1] and found[1].count(".") < 2 else None
        text = message[found.end() :]
        match (found[2] or "").partition(" ")[0]:
            case "plan":
                text, rows = _read_plan(text)
                if text:
                    self.plans.add(Event(text, at_s, session, on, time_s, rows_sent=rows))
            case "statement" | "execute":
                parameters = dict(_PARAMETERS.findall(detail)) if detail else None
                event = Event(text, at_s, session, on, time_s, parameters=parameters)
                self._take_alone(session)
                if time_s is None and len(self._alone) < SESSIONS_MOST:
                    self._alone[session] = event
                else:
                    self.statements.add(event)
            case "" if session in self._alone:
                self._alone[session].time_s = time_s
                self._take_alone(session)
            case _:
                pass

    def _take_alone(self, session: str) -> None:
        """Count a session's last statement that was logged without its duration."""
        if (event := self._alone.pop(session, None)) is not None:
            self.statements.add(event)

    def end(self, kind: str) -> LogFacts:
        for session in list(self._alone):
            self._take_alone(session)
        plans = self.plans.events > self.statements.events
        fold = self.plans if plans else self.statements
        if plans:
            fold.has_sessions = False  # BEGIN and COMMIT have no plan
        facts = LogFacts(kind, fold, durations=fold.timed > 0)
        facts.notes.append(
            "statements are those of auto_explain's plans"
            if plans
            else "PostgreSQL's log has no numbers of rows"
        )
        return facts


def _read_plan(text: str) -> tuple[str, int | None]:
    """Return the statement of a plan, and the rows that it gave if the plan was analyzed."""
    if text.lstrip().startswith("{"):
        try:
            plan = json.loads(text)
            rows = plan["Plan"].get("Actual Rows")
            return str(plan["Query Text"]), None if rows is None else round(float(rows))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return "", None
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if _PLAN_LINE.search(line):
            actual = _ACTUAL.search(line)
            rows = round(float(actual[1]) * int(actual[2])) if actual else None
            statement = "\n".join(part.lstrip("\t") for part in lines[:number])
            return statement.partition("Query Text: ")[2], rows
    return "", None


@allow_long_fields(_RECORD_MOST)
def read_csv_log(lines: Lines) -> LogFacts:
    """Read a CSV log."""
    found = _Statements()
    dropped = 0
    for record in _split_records(lines):
        try:
            (fields,) = csv.reader([record], strict=True)
        except (csv.Error, ValueError):
            dropped += 1
            continue
        if len(fields) < _FIELDS_LEAST:
            dropped += 1
            continue
        if fields[_SEVERITY] != "LOG":
            continue
        message, detail = fields[_MESSAGE], fields[_DETAIL] if len(fields) > _DETAIL else ""
        at_s = parse_time(_strip_zone(fields[_AT]))
        found.add(message, detail, at_s, fields[_SESSION], fields[_DATABASE])
    facts = found.end(CSV_LOG)
    if dropped:
        facts.notes.append(f"{dropped:,} records of the log cannot be read")
    return facts


def _split_records(lines: Iterable[str]) -> Iterator[str]:
    """Yield each record, which may have several lines; one too long is left out."""
    parts: list[str] = []
    length = quotes = 0
    for line in lines:
        if quotes % 2 and length > _RECORD_MOST and _RECORD.match(line):
            parts, length, quotes = [], 0, 0
        quotes += line.count('"')
        length += len(line) + 1
        if length <= _RECORD_MOST:
            parts.append(line)
        if quotes % 2 == 0:
            if length <= _RECORD_MOST:
                yield "\n".join(parts)
            parts, length, quotes = [], 0, 0


def _strip_zone(text: str) -> str:
    """Return a time without the name of its zone, which differs by nothing within one log."""
    return text.rpartition(" ")[0] if text.count(" ") > 1 else text


def read_text_log(lines: Lines) -> LogFacts:
    """Read a log whose lines begin with their time (`log_line_prefix = '%m [%p] '`, or RDS's)."""
    found = _Statements()
    last: list[str] = []
    at_s: float | None = None
    session = on = detail = ""
    length, within_detail = 0, False

    def end() -> None:
        if last:
            found.add("\n".join(last), detail, at_s, session, on)

    for line in lines:
        match = _LINE.match(line)
        if match is None:
            if last and not within_detail and length < STATEMENT_MOST:
                last.append(line.removeprefix("\t"))
                length += len(line)
            continue
        time, _, prefix, level, message = match.groups()
        if level == "DETAIL" and last:
            detail, within_detail = message, True
            continue
        if level in {"CONTEXT", "STATEMENT", "HINT"}:
            continue
        end()
        last, detail, within_detail = [message] if level == "LOG" else [], "", False
        length, at_s = len(message), parse_time(time)
        pid = _PID.search(prefix)
        session = pid[1] if pid else ""
        named = _DATABASE_NAMED.search(prefix) or _USER_AT.search(prefix)
        on = named[1] if named else ""
    end()
    facts = found.end(TEXT_LOG)
    if not facts.fold.has_sessions and facts.fold.events:
        facts.notes.append(
            "the log does not say which session sent a statement: log_line_prefix with [%p] does"
        )
    return facts
