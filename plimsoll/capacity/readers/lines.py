"""Program outputs as people have them: log prefixes, and several outputs in one file. No I/O."""

import re
from collections.abc import Iterator
from textwrap import dedent

# What logging and copying put before a line, and spaces that a page or a mail put into it. Each
# stands at a line's start and has to end in the blank, bar or colon that the logger writes.
_TIME = r"\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d| UTC)?"
_PREFIX = re.compile(
    rf"(?:\[{_TIME}\]|{_TIME})[ \t]?(?::[ \t]|\|[ \t])?"  # a date with a time
    r"|\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?[ \t]"  # a time
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]+ [\w./-]+(?:\[\d+\])?: "  # syslog, journalctl
    r"|(?:stdout|stderr) [FP] "  # Kubernetes
    r"|[A-Za-z][\w.-]*[ \t]+\|[ \t]"  # docker compose: a container's name and a bar
    r"|\[?(?:INFO|DEBUG|NOTICE)(?: ?\])?:?[ \t]"
    r"|(?:>[ \t])+"  # a quoted mail or chat
)
_PREFIXES_MAX = 4  # such as a container's name, a time and a level
_ODD_SPACES = re.compile("[\u00a0\u2007\u202f]")
# A figure of pgbench, sysbench or wrk2 as printed or edited with a decimal comma.
_COMMA_FIGURE = re.compile(
    r"^[ \t]*(?:latency average|tps|avg:|total time:|time elapsed:|Requests/sec:)[ \t=]*\d+,\d",
    re.MULTILINE,
)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")


def strip_prefixes(text: str) -> str:
    """Return a program's output without what logging, copying and indenting added to its lines.

    `bench-1  | 2026-11-27T10:00:00Z tps = 320.0` becomes `tps = 320.0`.
    """
    return dedent("\n".join(map(_strip_prefix, _ODD_SPACES.sub(" ", text).split("\n"))))


def _strip_prefix(line: str) -> str:
    for _ in range(_PREFIXES_MAX):
        found = _PREFIX.match(line)
        if not found:
            break
        line = line[found.end() :]
    return line


def read_decimal_commas(text: str) -> str:
    """Return a report with decimal points if its figures have commas, as pgbench's in some locales.

    `tps = 320,500000` becomes `tps = 320.500000`.
    """
    return _DECIMAL_COMMA.sub(".", text) if _COMMA_FIGURE.search(text) else text


def split_outputs(text: str, begin: re.Pattern[str], end: re.Pattern[str]) -> Iterator[str]:
    """Yield each of the outputs that one text holds one after the other.

    Args:
        text: the text.
        begin: matches the lines with which an output may begin.
        end: matches a line that every complete output has, after all those of `begin`.
    """
    ended, since, at = False, 0, 0
    for line in text.splitlines(keepends=True):
        if ended and begin.match(line):
            yield text[since:at]
            ended, since = False, at
        ended = ended or bool(end.match(line))
        at += len(line)
    yield text[since:]
