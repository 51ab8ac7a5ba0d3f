"""Counts that others have made: dumps of statement statistics as CSV, and pt-query-digest's JSON.

A dump is `pg_stat_statements` or `performance_schema.events_statements_summary_by_digest` with its
columns' names in the first line, separated by commas or tabs. `pt-query-digest --output json` has
an example of each statement (docs.percona.com/percona-toolkit/pt-query-digest.html): its text is
read, and its values are dropped as those of a log are.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plimsoll.errors import UsageError
from plimsoll.model.engine.asked import Protocol
from plimsoll.model.run.statements_seen import Digest
from plimsoll.workload.logs.lines import Lines, allow_long_fields
from plimsoll.workload.logs.mysql import parse_time
from plimsoll.workload.logs.texts import Stripper

PG_DUMP = "dump of pg_stat_statements"
MYSQL_DUMP = "dump of performance_schema's digests"
PT_QUERY_DIGEST = "pt-query-digest's JSON"
JSON_MOST = 256 << 20  # characters
ROWS_MOST = 1_000_000
_FIELD_MOST = 1 << 20
_FOLDED_LIST = re.compile(r"\((?:\?\+)\)")  # a fingerprint has in(?+)


@dataclass(frozen=True)
class Counts:
    """Counts of statements, as a file has them.

    Attributes:
        kind: What the file is, for people.
        protocol: The protocol of the server.
        digests: The counts of each statement, with its database; empty if the file does not say.
        interval_s: The time that was counted; None if the file does not say.
        unknown: Calls of further statements.
        notes: Remarks for the reader.
    """

    kind: str
    protocol: Protocol
    digests: tuple[tuple[str, Digest], ...]
    interval_s: float | None = None
    unknown: int = 0
    notes: tuple[str, ...] = ()


def find_columns(head: str) -> tuple[str, dict[str, int]]:
    """Return the separator and the columns of a table's first line, in lower case."""
    first = head.lstrip("\ufeff").partition("\n")[0].rstrip("\r")
    separator = "\t" if "\t" in first else ","
    try:
        (names,) = csv.reader([first], delimiter=separator)
    except (csv.Error, ValueError):
        names = []
    return separator, {name.strip().lower(): place for place, name in enumerate(names)}


def is_pg_dump(head: str) -> bool:
    """Whether a text begins a dump of pg_stat_statements."""
    _, columns = find_columns(head)
    return {"query", "calls"} <= set(columns) and bool(
        {"total_exec_time", "total_time"} & set(columns)
    )


def is_mysql_dump(head: str) -> bool:
    """Whether a text begins a dump of performance_schema's digests."""
    return {"digest_text", "count_star"} <= set(find_columns(head)[1])


def is_pt_query_digest(head: str) -> bool:
    """Whether a text begins pt-query-digest's JSON."""
    return head.lstrip().startswith("{") and '"classes"' in head


def read_pg_dump(lines: Lines) -> Counts:
    """Read a dump of pg_stat_statements."""

    def read(row: "_Row") -> tuple[str, Digest]:
        time_ms = row.number("total_exec_time", "total_time")
        rows = round(row.number("rows")) if row.has("rows") else None
        digest = Digest(
            text=row.text("query"),
            calls=round(row.number("calls")),
            time_s=time_ms / 1000,
            rows_sent=rows,
            rows_affected=rows,
        )
        return row.text("datname", "database"), digest

    return Counts(PG_DUMP, "postgres", tuple(_read_rows(lines, read)), notes=(_NO_INTERVAL,))


def read_mysql_dump(lines: Lines) -> Counts:
    """Read a dump of performance_schema's digests."""

    def read(row: "_Row") -> tuple[str, Digest]:
        def count(name: str) -> int | None:
            return round(row.number(name)) if row.has(name) else None

        digest = Digest(
            text=row.text("digest_text"),
            calls=round(row.number("count_star")),
            time_s=row.number("sum_timer_wait") / 1e12,
            rows_sent=count("sum_rows_sent"),
            rows_examined=count("sum_rows_examined"),
            rows_affected=count("sum_rows_affected"),
        )
        return row.text("schema_name"), digest

    return Counts(MYSQL_DUMP, "mysql", tuple(_read_rows(lines, read)), notes=(_NO_INTERVAL,))


_NO_INTERVAL = "the dump does not say how long was counted, so there are shares and no rates"


@dataclass(frozen=True)
class _Row:
    columns: Mapping[str, int]
    fields: Sequence[str]

    def has(self, name: str) -> bool:
        return bool(self.text(name))

    def text(self, *names: str) -> str:
        """Return the first of some fields that the row has; empty if it has none."""
        for name in names:
            place = self.columns.get(name, len(self.fields))
            if place < len(self.fields):
                return self.fields[place] if self.fields[place] != "NULL" else ""
        return ""

    def number(self, *names: str) -> float:
        text = self.text(*names)
        try:
            value = float(text or 0)
        except ValueError:
            return 0.0
        return value if 0 <= value < 1e18 else 0.0


def _read_rows(
    lines: Lines, read: Callable[[_Row], tuple[str, Digest]]
) -> Iterator[tuple[str, Digest]]:
    separator, columns = find_columns(lines.head)
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=separator)
    try:
        with allow_long_fields(_FIELD_MOST):
            next(rows, None)
            for number, fields in enumerate(rows):
                if number == ROWS_MOST:
                    return
                one = read(_Row(columns, fields))
                if one[1].text and one[1].calls:
                    yield one
    except csv.Error as error:
        raise UsageError(f"the table cannot be read: {error}") from None


def read_pt_query_digest(lines: Lines) -> Counts:
    """Read pt-query-digest's JSON."""
    text, length = [], 0
    for line in lines:
        length += len(line)
        if length > JSON_MOST:
            raise UsageError(f"{PT_QUERY_DIGEST}: is longer than {JSON_MOST >> 20} MiB")
        text.append(line)
    try:
        whole = json.loads("\n".join(text))
    except (ValueError, RecursionError):
        raise UsageError(f"{PT_QUERY_DIGEST}: is no JSON") from None
    stripper = Stripper("sql")
    digests, first, last = [], None, None
    classes = whole.get("classes")
    for one in classes if isinstance(classes, list) else []:
        if not isinstance(one, dict):
            continue
        digest = _read_class(one, stripper)
        if digest is not None:
            digests.append((_find(one, "metrics", "db", "value"), digest))
        begins, ends = (
            parse_time(str(one.get("ts_min", ""))),
            parse_time(str(one.get("ts_max", ""))),
        )
        first = min(filter(None, (first, begins)), default=None)
        last = max(filter(None, (last, ends)), default=None)
    calls = round(_read_number(_find(whole, "global", "query_count")))
    unknown = max(0, calls - sum(digest.calls for _, digest in digests))
    return Counts(
        PT_QUERY_DIGEST,
        "mysql",
        tuple(digests),
        interval_s=last - first if first and last and last > first else None,
        unknown=unknown,
        notes=(
            "lengths of lists are those of the examples",
            *(("pt-query-digest --limit 100% tells all statements apart",) if unknown else ()),
        ),
    )


def _read_class(one: Mapping[str, Any], stripper: Stripper) -> Digest | None:
    """Return the counts of a statement; None if its text or its calls lack."""
    example = _find(one, "example", "query")
    calls = round(_read_number(one.get("query_count")))
    if example:
        stripped = stripper.strip(example)
        form, limit, span = stripped.form, stripped.limit, stripped.span
        text, listed = form.text, form.listed
    else:
        fingerprint = str(one.get("fingerprint", ""))
        text = _FOLDED_LIST.sub("(...)", fingerprint)
        listed, limit, span = (), None, None
    if not text or not calls:
        return None

    def total(name: str) -> int | None:
        value = _find(one, "metrics", name, "sum")
        return None if value == "" else round(_read_number(value))

    return Digest(
        text=text,
        calls=calls,
        time_s=_read_number(_find(one, "metrics", "Query_time", "sum")),
        rows_sent=total("Rows_sent"),
        rows_examined=total("Rows_examined"),
        rows_affected=total("Rows_affected"),
        listed=listed,
        limit=limit,
        span=span,
    )


def _find(value: Any, *path: str) -> str:
    """Return a value within objects as text; empty if it is not there."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return "" if value is None or isinstance(value, (dict, list)) else str(value)


def _read_number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        return 0.0
    return number if 0 <= number < 1e18 else 0.0
