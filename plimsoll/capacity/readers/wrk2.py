"""wrk2: its report, preferably with `--latency`; the operation is the request.

Format: wrk2 (of 2019, "4.0.0"), `src/wrk.c`, `src/hdr_histogram.c`. wrk itself prints nearly the
same, but its latencies do not count from the due time, and it has no rate.
"""

import re
from collections.abc import Mapping

from plimsoll.capacity.readers.lines import read_decimal_commas
from plimsoll.capacity.readers.reading import MS, PERCENTILES, Reading, S, match_once, parse_number
from plimsoll.errors import UsageError
from plimsoll.model.judging.steps import Statistic, Step

BEGIN = re.compile(r"Running \S+ test @ ")
END = re.compile(r"Requests/sec:")
MARKS = ("Running ", "Requests/sec:", "Transfer/sec:", "#[Mean")
_UNIT_US = {"us": 1.0, "ms": MS, "s": S, "m": 60 * S, "h": 3600 * S}
_TIME = r"([\d.]+)(us|ms|s|m|h)\b"
_CONNECTIONS = re.compile(r"^[ \t]*\d+ threads and (\d+) connections", re.MULTILINE)
_PLANNED = re.compile(r"^Running (\d+[smh]) test @ ", re.MULTILINE)
_WHOLE = 0.8  # least share of its planned time that a whole run took
_REQUESTS = re.compile(r"^[ \t]*(\d+) requests in ", re.MULTILINE)
_RATE = re.compile(r"^Requests/sec:[ \t]+(\d+\.\d\d)\b", re.MULTILINE)
_THREADS = re.compile(rf"^[ \t]*Latency[ \t]+{_TIME}[ \t]+\S+[ \t]+{_TIME}", re.MULTILINE)
_SOCKET = re.compile(
    r"^[ \t]*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", re.MULTILINE
)
_STATUS = re.compile(r"^[ \t]*Non-2xx or 3xx responses: (\d+)", re.MULTILINE)
_PERCENT = re.compile(rf"^[ \t]*([\d.]+)%[ \t]+{_TIME}[ \t]*$", re.MULTILINE)
_SPECTRUM = re.compile(r"^[ \t]*([\d.]+)[ \t]+([01]\.\d+)[ \t]+\d+[ \t]+\S+[ \t]*$", re.MULTILINE)
_MEAN = re.compile(r"^[ \t]*#\[Mean[ \t]+=[ \t]+([\d.]+)", re.MULTILINE)
_RECORDED = "Latency Distribution (HdrHistogram - Recorded Latency)"
_UNCORRECTED = "Latency Distribution (HdrHistogram - Uncorrected Latency"


def is_wrk2(text: str) -> bool:
    """Return whether the text holds a report of wrk2 or of wrk."""
    return "Thread Stats" in text and "Requests/sec:" in text


def read_wrk2(text: str, name: str) -> Reading:
    """Read the report. Latencies count from the due time and leave out the first 10 s.

    Raises:
        UsageError: The report is cut off, or it is wrk's.
    """
    if _RECORDED not in text and "Thread calibration:" not in text:
        raise UsageError(
            f"{name}: wrk's report, which has no rate, or wrk2's without --latency: give that of"
            " wrk2 --latency"
        )
    text = read_decimal_commas(text)
    requests, rate = match_once(_REQUESTS, text, name), match_once(_RATE, text, name)
    connections = match_once(_CONNECTIONS, text, name)
    if requests is None or rate is None or connections is None:
        raise UsageError(
            f"{name}: no 'requests in', 'Requests/sec:' or 'connections' line: cut off"
        )
    per_second, answered = parse_number(rate, f"{name}: Requests/sec"), int(requests)
    if not per_second:
        raise UsageError(f"{name}: Requests/sec is 0")
    planned, ran_s = match_once(_PLANNED, text, name), answered / per_second
    if planned and ran_s < _WHOLE * (planned_s := int(planned[:-1]) * _UNIT_US[planned[-1]] / S):
        raise UsageError(
            f"{name}: not a whole run: it ended after {ran_s:.0f} of {planned_s:.0f} s"
        )
    status = int(match_once(_STATUS, text, name) or 0)
    sockets = _SOCKET.search(text)
    if sockets and int(sockets[1]):
        raise UsageError(
            f"{name}: not a whole run: {sockets[1]} of {connections} connections could not be made,"
            " or broke and could not be made again"
        )
    succeeded = answered - status
    latency = _read_latency(text, name)
    return Reading(
        Step(
            source=name,
            connections=int(connections) or None,
            throughput_ops_per_second=per_second * succeeded / answered if answered else 0.0,
            operations=succeeded,
            errors=status + sum(map(int, sockets.groups() if sockets else ())),
            window_s=answered / per_second or None,
            latency_us={"request": latency} if latency else {},
        ),
        rate_unknown="wrk2 does not print its --rate",
    )


def _read_latency(text: str, name: str) -> dict[Statistic, float]:
    """Return mean and maximum from the threads' line, and percentiles from `--latency`."""
    known: dict[Statistic, float] = {}
    if match := _THREADS.search(text):
        known["mean"] = _to_us(match[1], match[2], name)
        known["max"] = _to_us(match[3], match[4], name)
    _, _, detailed = text.partition(_RECORDED)
    detailed, _, _ = detailed.partition(_UNCORRECTED)
    for value, quantile in _SPECTRUM.findall(detailed):
        if "p95" not in known and parse_number(quantile, name) >= 0.95:
            known["p95"] = parse_number(value, f"{name}: spectrum") * MS
    for percent, value, unit in _PERCENT.findall(detailed):
        if (at := parse_number(percent, name)) in PERCENTILES:
            known[PERCENTILES[at]] = _to_us(value, unit, name)
    if mean := match_once(_MEAN, detailed, name):
        known["mean"] = parse_number(mean, f"{name}: Mean") * MS
    return _drop_zeros(known)


def _to_us(value: str, unit: str, name: str) -> float:
    return parse_number(value, f"{name}: latency") * _UNIT_US[unit]


def _drop_zeros(known: Mapping[Statistic, float]) -> dict[Statistic, float]:
    return {statistic: us for statistic, us in known.items() if us > 0}
