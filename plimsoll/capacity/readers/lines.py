"""Program outputs as people have them: log prefixes, and several outputs in one file. No I/O."""

import html
import quopri
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from textwrap import dedent

# What logging and copying put before a line, and spaces that a page or a mail put into it. Each
# stands at a line's start and has to end in the blank, bar or colon that the logger writes.
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
_PREFIX = re.compile(
    rf"(?:[A-Z][a-z]{{2}} )?(?:\[{_TIME}\]|{_TIME})[ \t]?(?::[ \t]|\|[ \t])?"  # a date with a time
    rf"|[^\t\n]*\t[^\t\n]*\t(?={_TIME})"  # gh run view --log: job and step
    r"|\d\d[OE]\+?[ \t]"  # GitLab's number of the stream
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[ \t]"  # a time
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)? "  # syslog, journalctl, ts
    r"|\d{10}\.\d{1,9} |\[ *\d+\.\d{3,6}\] |#\d+ \d+\.\d+ "  # seconds; docker build
    r"|[\w.-]+ [\w./@-]+\[\d+\]: "  # a host, a program and its process
    r"|(?:stdout|stderr) [FP] |\[pod/[^\]\s]+\] "  # Kubernetes
    r"|[A-Za-z][\w.@-]*[ \t]+\|[ \t]"  # docker compose: a container's name and a bar
    r"|\[?(?:INFO|DEBUG|NOTICE)(?: ?\])?:?[ \t]"
    r"|(?:>[ \t])+"  # a quoted mail or chat
)
# The name of a column of a table of steps
_COLUMN = re.compile(
    r"\b(?:clients|connections|operations|errors|window_s|(?:rate|throughput)_ops_per_second"
    r"|(?:latency_us|share)\.\w)"
)
_PREFIXES_MAX = 4  # such as a container's name, a time and a level
_SHARED_LENGTH_MAX = 200  # characters of any other prefix
_SHARED_MAX = 16  # different ones in a text
_TRIED_MAX = 10_000  # different texts before marks that are looked at
_ODD_SPACES = re.compile("[\u00a0\u2007\u202f]")
# What a terminal obeys and nobody sees: ECMA-48's sequences, its strings (a title, Buildkite's
# times), other control characters, and blanks without a width.
_UNSEEN = re.compile(
    r"\x1b[\]_P^X][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]"
    "|[\0-\x08\x0b-\x1f\x7f\u200b-\u200f\u2060\ufeff]"
)
_BREAK = re.compile(r"<br ?/?>\n?", re.IGNORECASE)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp);")
# RFC 2045's quoted-printable: each `=` begins two digits, or ends a line
_QUOTED = re.compile(r"=3D|=20$|=$", re.MULTILINE)
_NOT_QUOTED = re.compile(r"=(?![0-9A-F]{2}|$)", re.MULTILINE)
# A line that marks a block on a page
_FENCE = re.compile(
    r"^(?:```[ \t]*\w*|~~~|\{(?:noformat|code)[^}\n]*\}|</?(?:pre|code)>)$", re.MULTILINE
)
_JSON_BEGIN = re.compile(r'[ \t]*[\[{]+[ \t]*(?:"|$)')
_JSON_END = re.compile(r"[ \t]*(?:[\]}]+$|[\[{].*[\]}]$)")
# A figure of pgbench, sysbench or wrk2 as printed or edited with a decimal comma.
_COMMA_FIGURE = re.compile(
    r"^[ \t]*(?:latency average|tps|avg:|total time:|time elapsed:|Requests/sec:)[ \t=]*\d+,\d",
    re.MULTILINE,
)
_GROUPED = re.compile(r":[ \t]+(\d{1,3}(?:,\d{3})+)\b")
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


def clean_text(text: str) -> str:
    """Return a text without what terminals, mails and pages have put around it.

    `=3D` of a mail becomes `=`, and `&lt;` of a page `<`.
    """
    text = _UNSEEN.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    if _QUOTED.search(text) and not _NOT_QUOTED.search(text):
        text = quopri.decodestring(text.encode()).decode(errors="replace")
    text = _BREAK.sub("\n", text)
    if _ENTITY.search(text):
        text = html.unescape(text)
    lines = _ODD_SPACES.sub(" ", text).split("\n")
    return _FENCE.sub("", "\n".join(line.rstrip() for line in lines)).replace("```", "")


def list_undressed(text: str) -> Iterator[str]:
    """Yield a table or JSON without what may stand before its lines, or around it."""
    yield strip_common_prefix(text)
    yield strip_header_prefix(text)
    # Prefixes of different kinds are not removed from a table, whose rows may be of several sources
    yield _cut_json(text)
    yield _cut_json(strip_common_prefix(strip_prefixes(text)))


def _cut_json(text: str) -> str:
    """Return the lines from the first that begins JSON to the last that ends it."""
    lines = text.split("\n")
    first = next((n for n, line in enumerate(lines) if _JSON_BEGIN.match(line)), 0)
    last = next((n for n in range(len(lines), 0, -1) if _JSON_END.match(lines[n - 1])), 0)
    # After it, nothing may look like the beginning of JSON that was cut off
    return text if any("{" in line for line in lines[last:]) else "\n".join(lines[first:last])


def strip_common_prefix(text: str) -> str:
    """Return a text without what each of its lines begins with, but for its digits.

    Only a prefix with a letter, a digit or a mark of mails and lists is one: `| ` is part of a
    table.
    """
    lines = [line.strip()[:_SHARED_LENGTH_MAX] for line in text.split("\n") if line.strip()]
    alike = [re.sub(r"[ \t]+", " ", re.sub(r"\d+", "0", line)) for line in lines]
    least, most = min(alike, default=""), max(alike, default="")  # between them stand all others
    common = "".join(
        one for one, _ in takewhile(lambda two: two[0] == two[1], zip(least, most, strict=False))
    )
    if not re.search(r"[\w>+*#=-]", common):
        return text
    pattern = (
        "".join({"0": r"\d+", " ": r"[ \t]+"}.get(one, re.escape(one)) for one in common.rstrip())
        + r"(?<!\d(?=\S))"
    )  # digits at its end may be those of a cell
    return re.sub(rf"^[ \t]*{pattern}", "", text, flags=re.MULTILINE)


def strip_header_prefix(text: str) -> str:
    """Return a table without what stands before its line of columns, but for its digits.

    Lines of others, which a log may have around the table, stay.
    """
    header = next((line for line in text.split("\n") if len(_COLUMN.findall(line)) > 1), "")
    found = _COLUMN.search(header)
    before = header[: found.start()] if found else ""
    if header.endswith("|"):  # the bar before the first cell is the table's
        before = before[: before.rfind("|")]
    if not before.strip() or before[-1].isdigit() or len(before) > _SHARED_LENGTH_MAX:
        return text
    return re.sub(f"^{_describe_prefix(before)}", "", text, flags=re.MULTILINE)


def strip_prefixes(text: str) -> str:
    """Return a program's output without what logging, copying and indenting added to its lines.

    `bench-1  | 2026-11-27T10:00:00Z tps = 320.0` becomes `tps = 320.0`.
    """
    return dedent("\n".join(map(_strip_prefix, text.split("\n"))))


def _strip_prefix(line: str) -> str:
    for _ in range(_PREFIXES_MAX):
        found = _PREFIX.match(line)
        if not found:
            break
        line = line[found.end() :]
    return line


def strip_shared_prefixes(text: str, marks: Sequence[str]) -> str:
    """Return a report without any other text that stands before its lines.

    Text counts as a prefix if it stands before two of the marks, but for its digits:
    `bench.log:12:SQL statistics:` and `bench.log:19:Latency (ms):` have the prefix `bench.log:#:`.

    Args:
        text: the report.
        marks: texts with which lines of such a report begin.
    """
    known: dict[str, set[str]] = {}
    for line in text.split("\n"):
        for mark in marks:
            before, found, _ = line.partition(mark)
            if found and 0 < len(before) <= _SHARED_LENGTH_MAX and len(known) < _TRIED_MAX:
                known.setdefault(_describe_prefix(before), set()).add(mark)
    prefixes = [prefix for prefix, found in known.items() if len(found) > 1][:_SHARED_MAX]
    if not prefixes:
        return text
    either = "|".join(sorted(prefixes, key=len, reverse=True))
    text = re.sub(f"^(?:{either})", "", text, flags=re.MULTILINE)
    # Lines of a list in JSON or in Ansible's output
    return re.sub('",?$', "", text, flags=re.MULTILINE) if '"' in either else text


def _describe_prefix(before: str) -> str:
    """Return a regular expression of all texts that differ from this one in their digits alone."""
    return r"[ \t]*" + "".join(
        r"\d+" if part.isdigit() else r"[ \t]+" if part.isspace() and rest else re.escape(part)
        for part, rest in (
            (m[0], before[m.end() :]) for m in re.finditer(r"\d+|[ \t]+|\D", before.lstrip())
        )
    )


def describe_grouped(text: str) -> str:
    """Return what to do about a figure with commas between thousands; empty if there is none."""
    found = _GROUPED.search(text)
    return f" ({found[1]!r}: write numbers without commas between thousands)" if found else ""


def read_decimal_commas(text: str) -> str:
    """Return a report with decimal points if its figures have commas, as pgbench's in some locales.

    `tps = 320,500000` becomes `tps = 320.500000`.
    """
    return _DECIMAL_COMMA.sub(".", text) if _COMMA_FIGURE.search(text) else text


def split_outputs(
    text: str, begin: re.Pattern[str], end: re.Pattern[str], first: re.Pattern[str] | None = None
) -> Iterator[str]:
    """Yield each of the outputs that one text holds one after the other.

    Args:
        text: the text.
        begin: matches the lines with which an output may begin.
        end: matches a line that every complete output has, after all those of `begin`.
        first: matches the first line of every output, also of one without an end; None if the
            program has no such line.
    """
    begun = ended = False
    since = at = 0
    for line in text.splitlines(keepends=True):
        is_first = bool(first and first.match(line))
        if (ended and begin.match(line)) or (begun and is_first):
            yield text[since:at]
            begun, ended, since = False, False, at
        begun = begun or is_first
        ended = ended or bool(end.match(line))
        at += len(line)
    yield text[since:]
