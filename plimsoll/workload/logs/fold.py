"""Counts the statements of a log, by kind and by session, in bounded memory."""

from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations

from plimsoll.model.databases import Language
from plimsoll.model.run.statements_seen import Digest, KeysSeen, TransactionSeen
from plimsoll.workload.logs.popularity import KeySketch
from plimsoll.workload.logs.texts import Stripped, Stripper

OURS = "/* plimsoll */"  # in statements with which Plimsoll looks at PostgreSQL
KINDS_MOST = 20_000  # kinds of statements that are told apart
SKETCHES_MOST = 100  # kinds whose keys are counted: the first that are seen
SESSIONS_MOST = 50_000
FIXED_LEAST = 20  # calls from which a value that never changed counts as fixed
SAME_LEAST = 0.95  # share of the transactions in which two statements compare the same key
PAIRED_MOST = 20  # statements of a transaction whose keys are compared
STATEMENTS_MOST = 1000  # statements kept of a transaction
TRANSACTIONS_MOST = 10_000  # kinds of transactions
MINUTES_MOST = 100_000


@dataclass(slots=True)
class Event:
    """A statement of a log.

    Attributes:
        text: The statement with its values.
        at_s: When it was logged, in seconds since 1970; None if the log does not say.
        session: What tells its session from others; empty if the log does not say.
        database: The database that it was sent to; empty if the log does not say.
        time_s: The duration; None if the log does not say.
        rows_sent: Rows that it returned; None if the log does not say, as below.
        rows_examined: Rows that it read.
        rows_affected: Rows that it changed.
        parameters: The values of `$1` ..., where the log has them apart.
    """

    text: str
    at_s: float | None = None
    session: str = ""
    database: str = ""
    time_s: float | None = None
    rows_sent: int | None = None
    rows_examined: int | None = None
    rows_affected: int | None = None
    parameters: dict[str, str] | None = None


@dataclass(slots=True)
class _Kind:
    """The totals of one kind of statement in one database; rows by the calls that told them."""

    text: str
    order: int
    calls: int = 0
    time_s: float = 0.0
    within: int = 0
    rows: list[int] = field(default_factory=lambda: [0, 0, 0])
    told: list[int] = field(default_factory=lambda: [0, 0, 0])
    listed: list[int] = field(default_factory=list)  # sum of the lengths of each list
    limit: list[int] = field(default_factory=lambda: [0, 0])  # sum and number of values
    span: list[int] = field(default_factory=lambda: [0, 0])
    keys: KeySketch | None = None
    first: tuple[int, ...] = ()  # hashes of the values of the first call
    fixed: list[bool] = field(default_factory=list)  # whether they were the same ever since

    def compare(self, hashes: tuple[int, ...]) -> None:
        """Compare the values of a call with those of the first one, by their hashes."""
        if self.calls == 1:
            self.first, self.fixed = hashes, [True] * len(hashes)
        elif len(hashes) != len(self.first):
            self.fixed = []
        elif any(self.fixed):
            pairs = zip(self.fixed, self.first, hashes, strict=False)
            self.fixed = [fixed and one == other for fixed, one, other in pairs]


@dataclass(slots=True)
class _Session:
    """A session's state.

    Attributes:
        open: Whether it is within a transaction.
        whole: Whether all statements of it are known.
        begins: Whether a statement begins a transaction: autocommit is off.
        kinds: The statements of the transaction so far.
        keys: The hash of the key that each of them compared last.
    """

    open: bool = False
    whole: bool = False
    begins: bool = False
    kinds: dict[int, int] = field(default_factory=dict)
    keys: dict[int, int] = field(default_factory=dict)
    sent: int = 0

    def forget(self) -> None:
        """Forget the statements of the transaction, which has ended."""
        self.kinds, self.keys, self.sent = {}, {}, 0


class Fold:
    """The counts of a log.

    Attributes:
        events: The number of statements.
        quickest_s: The shortest duration; None if there are none.
        first_s: When the first statement was logged.
        last_s: When the last statement was logged.
        databases: The number of statements in each database.
        lost: Calls of statements for which there was no room.
    """

    def __init__(self, language: Language) -> None:
        self.events = self.timed = self.lost = 0
        self.quickest_s: float | None = None
        self.first_s: float | None = None
        self.last_s: float | None = None
        self.databases: Counter[str] = Counter()
        self.minutes: Counter[int] = Counter()
        self.has_sessions = False
        self._stripper = Stripper(language)
        self._kinds: dict[tuple[str, str], int] = {}
        self._totals: list[_Kind] = []
        self._sketches = 0
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._transactions: Counter[tuple[tuple[int, int], ...]] = Counter()
        self.unkept = 0
        # How many transactions had both of two kinds of statements, and in how many of these both
        # compared the same key
        self._pairs: dict[tuple[int, int], list[int]] = {}

    def add(self, event: Event) -> None:
        """Count a statement."""
        if OURS in event.text:
            return
        found = self._stripper.strip(event.text, event.parameters)
        if not found.form.text:
            return
        self.events += 1
        self.databases[event.database] += 1
        self._time(event)
        kind = self._count(event, found)
        if event.session:
            self.has_sessions = True
            self._follow(event.session, found, kind)

    def end_session(self, session: str) -> None:
        """Forget a session that has ended; an open transaction is undone."""
        self._sessions.pop(session, None)

    def _time(self, event: Event) -> None:
        if event.time_s is not None:
            self.timed += 1
            if self.quickest_s is None or event.time_s < self.quickest_s:
                self.quickest_s = event.time_s
        if event.at_s is not None:
            self.first_s = min(event.at_s, event.at_s if self.first_s is None else self.first_s)
            self.last_s = max(event.at_s, event.at_s if self.last_s is None else self.last_s)
            minute = int(event.at_s // 60)
            if minute in self.minutes or len(self.minutes) < MINUTES_MOST:
                self.minutes[minute] += 1

    def _count(self, event: Event, found: Stripped) -> int | None:
        """Add a statement to its kind; returns the kind's index, None if there is no room."""
        key = event.database, found.form.text
        index = self._kinds.get(key)
        if index is None:
            if len(self._totals) == KINDS_MOST:
                self.lost += 1
                return None
            index = self._kinds[key] = len(self._totals)
            self._totals.append(_Kind(found.form.text, index))
        kind = self._totals[index]
        kind.calls += 1
        kind.time_s += event.time_s or 0.0
        rows = event.rows_sent, event.rows_examined, event.rows_affected
        for place, count in enumerate(rows):
            if count is not None:
                kind.rows[place] += count
                kind.told[place] += 1
        if found.form.listed:
            before = kind.listed or [0] * len(found.form.listed)
            kind.listed = [sum(both) for both in zip(before, found.form.listed, strict=True)]
        for total, value in ((kind.limit, found.limit), (kind.span, found.span)):
            if value is not None:
                total[0] += value
                total[1] += 1
        if found.key is not None:
            self._count_key(kind, found.key)
        kind.compare(found.hashes)
        return index

    def _count_key(self, kind: _Kind, key: int) -> None:
        if kind.keys is None:
            if self._sketches == SKETCHES_MOST:
                return
            self._sketches += 1
            kind.keys = KeySketch()
        kind.keys.add(key)

    def _follow(self, name: str, found: Stripped, kind: int | None) -> None:
        """Follow a session from the beginning of a transaction to its end."""
        session = self._sessions.get(name)
        if session is None:
            if len(self._sessions) == SESSIONS_MOST:
                self._sessions.popitem(last=False)
            session = self._sessions[name] = _Session()
        match found.form.control:
            case "":
                if session.open:
                    self._take(session, kind, found.key)
            case "begin":
                self._commit(session)
                session.open = session.whole = True
            case "commit":
                session.begins |= not session.open  # nothing else would need this COMMIT
                self._commit(session)
                session.open = session.whole = session.begins
            case "rollback":
                session.forget()
                session.open = session.whole = session.begins
            case "autocommit off":
                session.begins = session.open = session.whole = True
            case "autocommit on":
                self._commit(session)
                session.begins = session.open = False

    def _take(self, session: _Session, kind: int | None, key: int | None) -> None:
        """Count a statement as one of a session's transaction."""
        session.sent += 1
        if kind is None or session.sent > STATEMENTS_MOST:
            session.whole = False
            return
        self._totals[kind].within += 1
        session.kinds[kind] = session.kinds.get(kind, 0) + 1
        if key is not None and len(session.keys) < PAIRED_MOST:
            session.keys[kind] = key

    def _commit(self, session: _Session) -> None:
        """Count the transaction that ends, if all of it was seen."""
        if session.open and session.whole and session.kinds:
            key = tuple(session.kinds.items())
            if key in self._transactions or len(self._transactions) < TRANSACTIONS_MOST:
                self._transactions[key] += 1
            else:
                self.unkept += 1
            for (one, asked), (other, its) in combinations(session.keys.items(), 2):
                if (one, other) in self._pairs or len(self._pairs) < TRANSACTIONS_MOST:
                    pair = self._pairs.setdefault((one, other), [0, 0])
                    pair[0] += 1
                    pair[1] += asked == its
        session.forget()

    def digests(
        self, database: str | None, times: int = 1
    ) -> tuple[tuple[Digest, ...], dict[int, int]]:
        """Return the kinds of statements of a database, and their indexes by those of this fold.

        Args:
            database: The database; None for all. Statements whose database is not known are in it.
            times: How many statements each one stands for.
        """
        chosen: dict[int, int] = {}
        digests: list[Digest] = []
        for (of, _), index in self._kinds.items():
            if database is None or of in {database, ""}:
                chosen[index] = len(digests)
                digests.append(self._digest(self._totals[index], times))
        return tuple(digests), chosen

    def _digest(self, kind: _Kind, times: int) -> Digest:
        def rows(place: int) -> int | None:
            told = kind.told[place]
            return round(kind.rows[place] * times * kind.calls / told) if told else None

        return Digest(
            text=kind.text,
            calls=kind.calls * times,
            time_s=kind.time_s * times,
            rows_sent=rows(0),
            rows_examined=rows(1),
            rows_affected=rows(2),
            order=float(kind.order),
            within=kind.within * times if self.has_sessions else None,
            listed=tuple(total / kind.calls for total in kind.listed),
            limit=kind.limit[0] / kind.limit[1] if kind.limit[1] else None,
            span=kind.span[0] / kind.span[1] if kind.span[1] else None,
            fixed=tuple(kind.fixed) if kind.calls >= FIXED_LEAST else (),
        )

    def transactions(self, chosen: Mapping[int, int]) -> tuple[TransactionSeen, ...]:
        """Return the transactions, with the indexes that `digests` returned."""
        found = []
        for key, calls in self._transactions.items():
            statements = tuple((chosen[kind], times) for kind, times in key if kind in chosen)
            if statements:
                found.append(TransactionSeen(calls=calls, statements=statements))
        return tuple(found)

    def same_keys(self, chosen: Mapping[int, int]) -> tuple[tuple[int, int], ...]:
        """Return the pairs of statements that compare the same key within a transaction."""
        return tuple(
            (chosen[one], chosen[other])
            for (one, other), (both, same) in self._pairs.items()
            if one in chosen and other in chosen
            if both >= FIXED_LEAST and same >= SAME_LEAST * both
        )

    def keys(self, chosen: Mapping[int, int]) -> tuple[KeysSeen, ...]:
        """Return how unevenly the keys of each statement were drawn."""
        return tuple(
            KeysSeen(
                digest=chosen[index],
                calls=kind.keys.calls,
                distinct=kind.keys.distinct,
                same=kind.keys.same,
            )
            for index, kind in enumerate(self._totals)
            if kind.keys is not None and index in chosen
        )


@dataclass
class LogFacts:
    """A log as it was read.

    Attributes:
        kind: What it is, for people: "slow log of MySQL or MariaDB".
        fold: The counts of its statements.
        server: The product and version of the server; empty if the log does not say.
        one_in: How many statements, or sessions, each logged one stands for.
        samples_sessions: Whether whole sessions were sampled, rather than statements.
        durations: Whether it is a log of statements with their durations, which may have a
            threshold.
        notes: Remarks for the reader.
    """

    kind: str
    fold: Fold
    server: str = ""
    one_in: int = 1
    samples_sessions: bool = False
    durations: bool = False
    notes: list[str] = field(default_factory=list)
