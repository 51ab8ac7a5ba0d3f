"""Recognizes what a file of statements is, reads it, and refuses what is no workload."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.run.statements_seen import Digest, KeysSeen, StatementsSeen, TransactionSeen
from plimsoll.workload.logs import counters, mysql, postgres
from plimsoll.workload.logs.counters import Counts
from plimsoll.workload.logs.fold import LogFacts
from plimsoll.workload.logs.lines import Lines, open_lines

KINDS = (
    "the slow log and the general log of MySQL, MariaDB and Percona Server, pt-query-digest's JSON,"
    " PostgreSQL's log as CSV or text (with auto_explain's plans), and dumps of pg_stat_statements"
    " or performance_schema's digests as CSV; each may be compressed by gzip"
)
# A log of all statements has quick ones, such as BEGIN, COMMIT and reads by a key.
QUICK_S = 0.005
FAR_BELOW = 3  # ratio of the server's mean rate to the log's from which a note warns
DURATIONS_LEAST = 20  # durations by which that is judged

_LOGS: tuple[tuple[Callable[[str], bool], Callable[[Lines], LogFacts], Protocol], ...] = (
    (mysql.is_slow_log, mysql.read_slow_log, "mysql"),
    (postgres.is_csv_log, postgres.read_csv_log, "postgres"),
    (postgres.is_text_log, postgres.read_text_log, "postgres"),
    (mysql.is_general_log, mysql.read_general_log, "mysql"),
)
_COUNTERS: tuple[tuple[Callable[[str], bool], Callable[[Lines], Counts]], ...] = (
    (counters.is_pt_query_digest, counters.read_pt_query_digest),
    (counters.is_pg_dump, counters.read_pg_dump),
    (counters.is_mysql_dump, counters.read_mysql_dump),
)


@dataclass(frozen=True)
class LogSeen:
    """The statements of a file, before their tables are known.

    Attributes:
        kind: What the file is, for people.
        protocol: The protocol of the server.
        server: The product and version of the server; empty if the file does not say.
        database: The database of these statements; empty if the file does not say.
        digests: The statements.
        interval_s: The time that they took; None if the file does not say.
        transactions: The transactions.
        has_sessions: Whether the file tells which session sent a statement.
        keys: How unevenly keys were drawn.
        same_keys: The pairs of statements that compare the same key within a transaction.
        busiest_minute: The calls in the minute with the most; None if not known.
        unknown: Calls of further statements.
        notes: Remarks for the reader.
    """

    kind: str
    protocol: Protocol
    server: str
    database: str
    digests: tuple[Digest, ...]
    interval_s: float | None
    transactions: tuple[TransactionSeen, ...] = ()
    has_sessions: bool = False
    keys: tuple[KeysSeen, ...] = ()
    same_keys: tuple[tuple[int, int], ...] = ()
    busiest_minute: int | None = None
    unknown: int = 0
    notes: tuple[str, ...] = ()

    def combine(self, like: StatementsSeen) -> StatementsSeen:
        """Return the statistics of these statements, on the tables that a server has."""
        return like.model_copy(
            update={
                "server": self.server or like.server,
                "interval_s": self.interval_s,
                "digests": self.digests,
                "counted_by": self.kind,
                "busiest_minute": self.busiest_minute,
                "calls_unknown": self.unknown,
                "transactions": self.transactions,
                "transactions_by": f"the {self.kind}" if self.has_sessions else None,
                "keys": self.keys,
                "same_keys": self.same_keys,
                "notes": self.notes,
            }
        )


def compare_rates(seen: StatementsSeen, of_server: float | None) -> StatementsSeen:
    """Compare a log's rate with the server's own since it started; note a large difference."""
    calls = sum(digest.calls for digest in seen.digests) + seen.calls_unknown
    if not of_server or not seen.interval_s or not calls:
        return seen
    of_log = calls / seen.interval_s
    note = (
        f"the log has {words.format_rate(of_log)} statements/s, and the server was sent"
        f" {words.format_rate(of_server)} on average since it started"
    )
    if of_log < of_server / FAR_BELOW:
        note += ": are all sessions in the log? Those that were open keep their long_query_time"
    return seen.model_copy(update={"notes": (*seen.notes, note)})


def read_log(
    path: Path,
    *,
    database: str | None = None,
    server_settings: Mapping[str, str] | None = None,
    threshold_s: float | None = None,
    one_in: int | None = None,
) -> LogSeen:
    """Read a file of statements once.

    Args:
        path: The file.
        database: The database of interest; None for the one with most statements.
        server_settings: The server's settings of its log, if the server is known.
        threshold_s: The duration from which statements were logged; None to judge by the log.
        one_in: How many statements each logged one stands for; None for what the log or the server
            says.

    Raises:
        UsageError: It is none of `KINDS`, has no statements, or only slow ones.
    """
    with open_lines(path) as lines:
        for knows, read_counts in _COUNTERS:
            if knows(lines.head):
                return _choose_counts(path, read_counts(lines), database)
        chosen = next((one for one in _LOGS if one[0](lines.head)), None)
        if chosen is None:
            raise UsageError(f"{path}: is none of what is read: {KINDS}")
        _, read, protocol = chosen
        facts = read(lines)
        if lines.cut:
            facts.notes.append(f"{words.format_count(lines.cut, 'line')} of the log were cut")
    settings = server_settings or {}
    _require_everything(path, facts, protocol, settings, threshold_s)
    return _choose_log(path, facts, protocol, database, one_in or _find_one_in(facts, settings))


def _find_one_in(facts: LogFacts, settings: Mapping[str, str]) -> int:
    """Return the sampling that the log states, or else the one that the server is set to."""
    told = settings.get("log_slow_rate_limit", "")
    if facts.one_in == 1 and facts.kind == mysql.SLOW_LOG and told.isdecimal():
        return max(1, int(told))
    return facts.one_in


def _require_everything(
    path: Path,
    facts: LogFacts,
    protocol: Protocol,
    settings: Mapping[str, str],
    threshold_s: float | None,
) -> None:
    """Refuse a log of slow statements alone.

    Raises:
        UsageError: It is one, or has no statements.
    """
    fold = facts.fold
    if not fold.events:
        raise UsageError(f"{path}: a {facts.kind} without a statement")
    by_content = fold.timed >= DURATIONS_LEAST and (fold.quickest_s or 0.0) >= QUICK_S
    if not facts.durations or not (threshold_s or (threshold_s is None and by_content)):
        return
    quickest = words.format_latency(1e6 * (fold.quickest_s or 0.0))
    why = (
        "--threshold says that it has the statements from"
        f" {words.format_latency(1e6 * threshold_s)} on"
        if threshold_s
        else f"the quickest of its {fold.timed:,} statements took {quickest}"
    )
    raise UsageError(
        f"{path}: a log of slow statements alone is no workload: {why}."
        f" {_describe_cure(protocol, settings)}"
        + ("" if threshold_s else " If it has all statements, --threshold 0s says so.")
    )


def _describe_cure(protocol: Protocol, settings: Mapping[str, str]) -> str:
    """Return the statements that turn the log of everything on, without a restart, and off."""
    if protocol == "postgres":
        before = settings.get("log_min_duration_statement")
        back = f" (it is {before} now)" if before else ""
        return (
            "Log everything for some minutes, without a restart: ALTER SYSTEM SET"
            " log_min_duration_statement = 0; SELECT pg_reload_conf(). Then set it back: ALTER"
            f" SYSTEM RESET log_min_duration_statement; SELECT pg_reload_conf(){back}. On RDS the"
            " parameter group has it."
        )
    time, on = settings.get("long_query_time", "10"), settings.get("slow_query_log", "OFF")
    limit = settings.get("log_slow_rate_limit")
    rate = ", log_slow_rate_limit = 1" if limit not in {None, "1"} else ""
    rate_back = f", log_slow_rate_limit = {limit}" if rate else ""
    known = "" if settings else " (or what they were)"
    return (
        f"Log everything for some minutes, without a restart: SET GLOBAL long_query_time = 0{rate},"
        f" slow_query_log = ON. Then set it back: SET GLOBAL long_query_time = {time}{rate_back},"
        f" slow_query_log = {on}{known}. Sessions that are open keep their long_query_time: a pool"
        " of connections has to reconnect. On RDS the parameter group has them."
    )


def _choose_log(
    path: Path, facts: LogFacts, protocol: Protocol, database: str | None, one_in: int
) -> LogSeen:
    fold = facts.fold
    chosen, note = _choose_database(path, fold.databases, database)
    digests, places = fold.digests(chosen or None, one_in)
    whole = one_in == 1 or facts.samples_sessions
    first, last = fold.first_s, fold.last_s
    interval_s = last - first if first is not None and last is not None and last > first else None
    notes = [*facts.notes, *note]
    if one_in > 1:
        notes.append(f"each statement stands for {one_in}, by the log's rate limit")
    if fold.unkept:
        notes.append(f"{fold.unkept:,} transactions are of kinds for which there was no room")
    times = one_in if facts.samples_sessions else 1
    return LogSeen(
        kind=facts.kind,
        protocol=protocol,
        server=facts.server,
        database=chosen,
        digests=digests if whole else tuple(_remove_sessions(one) for one in digests),
        interval_s=interval_s,
        transactions=tuple(
            one.model_copy(update={"calls": one.calls * times})
            for one in (fold.transactions(places) if whole else ())
        ),
        has_sessions=fold.has_sessions and whole,
        keys=fold.keys(places),
        same_keys=fold.same_keys(places),
        busiest_minute=max(fold.minutes.values()) * one_in if len(fold.minutes) > 2 else None,
        unknown=fold.lost * one_in,
        notes=tuple(notes),
    )


def _remove_sessions(digest: Digest) -> Digest:
    return digest.model_copy(update={"within": None})


def _choose_counts(path: Path, counts: Counts, database: str | None) -> LogSeen:
    calls: dict[str, int] = {}
    for of, digest in counts.digests:
        calls[of] = calls.get(of, 0) + digest.calls
    if not calls:
        raise UsageError(f"{path}: a {counts.kind} without a statement")
    chosen, note = _choose_database(path, calls, database)
    return LogSeen(
        kind=counts.kind,
        protocol=counts.protocol,
        server="",
        database=chosen,
        digests=tuple(digest for of, digest in counts.digests if of in {chosen, ""}),
        interval_s=counts.interval_s,
        unknown=counts.unknown,
        notes=(*counts.notes, *note),
    )


def _choose_database(
    path: Path, calls: Mapping[str, int], wanted: str | None
) -> tuple[str, list[str]]:
    """Return the database whose statements are taken, and a note if there are others.

    Raises:
        UsageError: There are no statements of the wanted database.
    """
    named = {name: count for name, count in calls.items() if name}
    if wanted and named and wanted not in named and not calls.get(""):
        known = words.join_names(sorted(named)[:20])
        raise UsageError(f"{path}: has no statement of the database {wanted!r}, but of {known}")
    chosen = wanted or (max(named, key=lambda name: named[name]) if named else "")
    others = sum(count for name, count in named.items() if name != chosen)
    note = (
        f"{words.format_count(others, 'statement')} of other databases than {chosen} were left out"
    )
    return chosen, [note] if others else []
