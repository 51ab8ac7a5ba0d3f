"""pgbench: its final report, and the progress lines before it.

Format: pgbench 9.6 to 19, `src/bin/pgbench/pgbench.c` (`printResults`, `printProgressReport`). It
prints means, and no percentile.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from plimsoll.capacity.readers.lines import describe_grouped, read_decimal_commas
from plimsoll.capacity.readers.reading import (
    MS,
    Reading,
    convert_latencies_us,
    match_once,
    parse_number,
    refuse_aborted,
)
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Half, Statistic, Step

_LINES: Mapping[str, re.Pattern[str]] = {
    key: re.compile(pattern, re.MULTILINE)
    for key, pattern in {
        "clients": r"^number of clients: (\d+)\b(?![.,]\d)",
        "processed": r"^number of transactions actually processed: (\d+)\b(?![.,]\d)",
        "planned": r"^number of transactions actually processed: \d+/(\d+)",
        "duration_s": r"^duration: (\d+) s",
        "failed": r"^number of failed transactions: (\d+)\b(?![.,]\d)",
        "skipped": r"^number of transactions skipped: (\d+)\b(?![.,]\d)",
        "mean_ms": r"^latency average[ =:]+([\d.]+) ms",
        "tps": r"^tps = ([\d.]+) \((?:without initial|excluding|including reconn)",
        "tps_connecting": r"^tps = ([\d.]+) \(including connections establishing\)",
        "lag_ms": r"^rate limit schedule lag: avg ([\d.]+)",
    }.items()
}
FIRST = re.compile(r"pgbench \(\D*\d")
BEGIN = re.compile(r"pgbench \(\D*\d|starting vacuum|progress: |transaction type: ")
END = re.compile(r"tps = ")
MARKS = ("query mode: ", "number of clients: ", "number of transactions actually", "tps = ")
# A client whose statement fails ends, and pgbench goes on with fewer. The lines are on stderr, so
# a log may have put another prefix before them.
_ABORTED = re.compile(
    r"^.*(?:\b[Cc]lient \d+ .{0,200}?aborted|Run was aborted|pgbench: ?(?:error|fatal): ).*$"
    r"|^(?:connection to |could not connect).*$",
    re.MULTILINE,
)
# Least share of its planned time that a whole run took; until it has connected, it does not count
_WHOLE = 0.8
_SCRIPT = re.compile(r"^SQL script \d+: (.+)$", re.MULTILINE)
_SCRIPT_COUNT = re.compile(r"^[ \t]*- (\d+) transactions \(", re.MULTILINE)
_SCRIPT_MEAN = re.compile(r"^[ \t]*- latency average[ =:]+([\d.]+) ms", re.MULTILINE)
_PROGRESS = re.compile(r"^progress: ([\d.]+) s, ([\d.]+) tps", re.MULTILINE)


def is_pgbench(text: str) -> bool:
    """Return whether the text holds pgbench's report."""
    return "number of transactions actually processed:" in text and "query mode:" in text


def read_pgbench(text: str, name: str) -> Reading:
    """Read the report: one operation for each script, or `transaction`.

    The latencies of `-r` are those of statements, not transactions, and are left out. With `-R`,
    latencies count from the due time of a transaction; transactions that `-L` skipped are errors.

    Raises:
        UsageError: The report is cut off.
    """
    refuse_aborted(_ABORTED, text, name)
    text = read_decimal_commas(text)
    found = {key: match_once(pattern, text, name) for key, pattern in _LINES.items()}
    values = {k: None if v is None else parse_number(v, f"{name}: {k}") for k, v in found.items()}
    tps = values["tps"] or values["tps_connecting"]
    if values["processed"] == 0:
        raise UsageError(f"{name}: no transaction succeeded: 0 were processed")
    if not tps or not values["processed"] or values["clients"] is None:
        raise UsageError(
            f"{name}: no 'tps =' or 'number of clients:': cut off, or nothing ran"
            f"{describe_grouped(text)}"
        )
    scripts = dict(_read_scripts(text, name))
    total = sum(count for count, _ in scripts.values())
    if scripts and total < values["processed"]:
        raise UsageError(
            f"{name}: the report is cut off: its scripts have {total} transactions, and"
            f" {values['processed']:.0f} were processed"
        )
    failed = (values["failed"] or 0) + (values["skipped"] or 0)
    known = values["failed"] is not None or values["skipped"] is not None
    if values["planned"] and values["processed"] + failed < values["planned"]:
        raise UsageError(
            f"{name}: not a whole run: {values['processed']:.0f} of {values['planned']:.0f}"
            " transactions were made, as clients were aborted"
        )
    if values["duration_s"] and values["processed"] / tps < _WHOLE * values["duration_s"]:
        raise UsageError(
            f"{name}: not a whole run: it ended after {values['processed'] / tps:.0f} of"
            f" {values['duration_s']:.0f} s, as clients were aborted"
        )
    mean = convert_latencies_us([("mean", values["mean_ms"])], MS)
    step = Step(
        source=name,
        connections=round(values["clients"]) or None,
        throughput_ops_per_second=tps,
        operations=round(values["processed"]),
        errors=round(failed) if known else None,
        window_s=values["processed"] / tps,
        latency_us={script: latency for script, (_, latency) in scripts.items() if latency}
        or ({"transaction": mean} if mean else {}),
        shares={script: count / total for script, (count, _) in scripts.items() if total},
        halves=_read_halves(text, name),
    )
    throttled = values["lag_ms"] is not None
    return Reading(step, rate_unknown="pgbench does not print its --rate" if throttled else None)


def _read_scripts(text: str, name: str) -> Iterator[tuple[str, tuple[int, dict[Statistic, float]]]]:
    """Yield name, transactions and mean latency of each script, if there are several.

    Raises:
        UsageError: A script's figures are missing.
    """
    parts = _SCRIPT.split(text)[1:]
    operations = _name_operations(parts[::2])
    for operation, body in zip(operations, parts[1::2], strict=True):
        count, mean = match_once(_SCRIPT_COUNT, body, name), match_once(_SCRIPT_MEAN, body, name)
        if count is None or (mean is None and int(count)):
            raise UsageError(f"{name}: the figures of script {operation} are cut off")
        ms = None if mean is None else parse_number(mean, f"{name}: {operation}")
        yield operation, (int(count), convert_latencies_us([("mean", ms)], MS))


def _name_operations(titles: Sequence[str]) -> list[str]:
    """Return an operation's name for each script, all different.

    `<builtin: select only>` is `select_only`, and `/tmp/buy.sql` is `buy`; scripts of the same name
    have their paths (`read/step`, `write/step`), and the same script twice has its number.
    """
    paths = [
        title.removeprefix("<builtin: ").removesuffix(">").replace(" ", "_")
        if title.startswith("<builtin: ")
        else title.removesuffix(".sql")
        for title in titles
    ]
    short = [path.rpartition("/")[2] for path in paths]
    names = [one if short.count(one) == 1 else path for one, path in zip(short, paths, strict=True)]
    return [
        one if names.count(one) == 1 else f"{one}#{number}" for number, one in enumerate(names, 1)
    ]


def _read_halves(text: str, name: str) -> tuple[Half, Half] | None:
    """Return the throughput of the two halves of the run, from equally many progress lines.

    Raises:
        UsageError: The progress lines begin again.
    """
    lines = [
        (parse_number(second, f"{name}: progress"), parse_number(tps, f"{name}: progress"))
        for second, tps in _PROGRESS.findall(text)
    ]
    for (before, _), (after, _) in pairwise(lines):
        if after < before:
            raise UsageError(
                f"{name}: a run without a report before another: its progress lines end at"
                f" {before:g} s and begin again: remove them"
            )
    rates = [tps for _, tps in lines]
    middle = len(rates) // 2
    if not middle:
        return None
    first, second = rates[:middle], rates[len(rates) - middle :]
    return (
        Half(throughput_ops_per_second=sum(first) / middle),
        Half(throughput_ops_per_second=sum(second) / middle),
    )
