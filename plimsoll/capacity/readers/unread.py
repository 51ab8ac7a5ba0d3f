"""Recognizes outputs that Plimsoll does not read, and says what to give in their place."""

import re

from plimsoll.capacity.readers.lines import strip_prefixes
from plimsoll.errors import UsageError

_TABLE = (
    "Plimsoll does not read it; a table with these columns does:"
    " clients,throughput_ops_per_second,latency_us.<operation>.p99, one row a step"
)

# Name of the program, a pattern that its output contains, and what to do. The first match counts:
# a program whose output resembles another's stands before it.
_UNREAD: tuple[tuple[str, str, str], ...] = (
    (
        "k6's text",
        (
            r"^[ \t]*(?:✓|✗|█)?[ \t]*(?:http_req(?:s|_duration)|iteration(?:s|_duration))\.*: "
            r"|^[ \t]*execution: (?:local|cloud)\b|^running \([\dhms.]+\), \d+/\d+ VUs"
        ),
        "it rounds its figures: run k6 with --summary-export=FILE and give that file",
    ),
    (
        "k6's stream of points",
        r'^\{"type":"(?:Metric|Point)"|^metric_name,timestamp,metric_value',
        "run k6 with --summary-export=FILE and give that file",
    ),
    (
        "sysbench 0.5's output",
        (
            r"^sysbench 0\.[45]|^[ \t]*approx\.[ \t]+\d+ percentile:"
            r"|^\[ *\d+s\] threads: \d+, tps: "
        ),
        "run it with sysbench 1.0 or 1.1 and give that report",
    ),
    (
        "sysbench's report_json",
        r'^[ \t]*"reconnects": ',
        (
            "it does not say which percentile its latency is, and has no mean: give the report that"
            " sysbench prints by default (--histogram: all percentiles)"
        ),
    ),
    (
        "HammerDB's output",
        (
            r"^HammerDB|^hammerdb>|TEST RESULT : System achieved |^Vuser \d+:|^>{5} PROC: "
            r'|^[ \t]*\{?[ \t]*"(?:MySQL|MariaDB|PostgreSQL|Oracle|MSSQLServer|Db2) tpm"'
            r"|^\d+ (?:MySQL|MariaDB|PostgreSQL|Oracle|MSSQLServer|Db2) tpm$"
            r'|"nopm" ?: ?"?\d|"ratio_pct" ?:'
        ),
        _TABLE,
    ),
    (
        "benchbase's output",
        (
            r"com\.oltpbenchmark|^Transaction Type Index,"
            r"|^Time \(seconds\),\s*(?:Throughput|Requests)"
            r'|"(?:Goodput|Throughput) \(requests/second\)"|Rate limited reqs/s:'
            r"|Results\(nanoSeconds="
        ),
        _TABLE,
    ),
    (
        "cassandra-stress's output",
        (
            r"^[ \t]*Op rate[ \t]+:|^[ \t]*(?:Latency|latency) (?:mean|99th percentile)[ \t]+:"
            r"|^(?:id, )?type,?[ \t]+total ops,|org\.apache\.cassandra\.stress\."
            r"|^\*+ Stress Settings \*+$"
        ),
        _TABLE,
    ),
    (
        "fio's output",
        (
            r'"fio version"|^(?:\d;)?fio-\d|^[ \t]*(?:read|write)[ \t]*: (?:IOPS=|io=)'
            r"|\A(?:\d+, ){3}\d+(?:, \d+)*$"  # write_lat_log=
            r"|^[ \t]*clat percentiles|^Run status group \d+"
        ),
        _TABLE,
    ),
    (
        "NoSQLBench's output",
        (
            r"[Nn]o[Ss][Qq][Ll][Bb]ench|\bcycles[._]servicetime\b"
            r"|^t,count,max,mean,min,stddev,p50|/Running \(details: min=\d+ cycle="
        ),
        _TABLE,
    ),
    (
        "mysqlslap's output",
        (
            r"Average number of seconds to run all queries:|^(?:mysqlslap|mariadb-slap): "
            r"|^[ \t]*Number of clients running queries:"
            r"|\A\w*,(?:mixed|read|write|update|key),\d+\.\d+,\d+\.\d+,\d+\.\d+,\d+,\d+$"
        ),
        _TABLE,
    ),
    (
        "JMeter's output",
        (
            r"^timeStamp[,;\t]elapsed[,;\t]|^(?:summary|Generate Summary Results) [+=] "
            r"|<testResults\b|^Label[,;\t]# Samples[,;\t]|^Sample #,Start Time,|o\.a\.j\."
            r'|"meanResTime"|\A\d{13},\d+,[^,\n]*,\d*,'
        ),
        _TABLE,
    ),
    ("ab's output", r"^This is ApacheBench|^Requests per second:[ \t]+[\d.]+ \[#/sec\]", _TABLE),
    ("oha's output", r'^[ \t]*Success rate:[ \t]|"successRate"|^request-start,DNS,', _TABLE),
    ("hey's output", r"^[ \t]*Response time histogram:|^response-time,DNS\+dialup,", _TABLE),
    (
        "vegeta's output",
        (
            r'^Latencies[ \t]+\[min,|^Bucket[ \t]+#[ \t]+%|"latencies": ?\{"total":'
            r'|^\{"attack":|^Value\(ms\)[ \t]+Percentile'
        ),
        _TABLE,
    ),
    (
        "Locust's output",
        (
            r'^"?Type"?,"?Name"?,"?(?:Request Count|# requests)|^"?Timestamp"?,"?User Count'
            r'|^"?Method"?,"?Name"?,"?Error|^Type[ \t]+Name[ \t]+# reqs|"last_request_timestamp"'
        ),
        _TABLE,
    ),
    ("siege's output", r"^Transactions:[ \t]+\d+ hits", _TABLE),
    ("autocannon's output", r"^Running \S+ test @ \S+\n\d+ connections", _TABLE),
    ("bombardier's output", r"^Bombarding ", _TABLE),
    ("Artillery's output", r'"http\.(?:requests|response_time)"|^Summary report @ ', _TABLE),
    ("Gatling's output", r"^(?:---- Global Information -|={8,}\n---- )|^RUN\t", _TABLE),
    (
        "tpcc-mysql's output",
        r"<TpmC>|^\*\*\* ###easy### TPC-C|^[ \t]*\d+, trx: \d+, 95%: ",
        _TABLE,
    ),
    (
        "go-tpc's output",
        r"^(?:tpmC: |\[(?:Summary|Current)\] [A-Z_]+ - )|^\|[ \t]*PREFIX[ \t]*\|[ \t]*OPERATION",
        _TABLE,
    ),
    ("BenchmarkSQL's output", r"\bjTPCC : Term-", _TABLE),
    ("Swingbench's output", r"dominicgiles\.com/swingbench", _TABLE),
    ("CockroachDB's workload output", r"^_elapsed___errors_", _TABLE),
    (
        "memtier_benchmark's output",
        r"^ALL STATS|^Type[ \t]+Ops/sec[ \t]+Hits/sec",
        _TABLE,
    ),
    ("redis-benchmark's output", r"^====== [A-Z]+.* ======$", _TABLE),
    (
        "scylla-bench's output",
        r"^Time \(avg\):|^Clustering row count:|^[ \t]*raw latency *:",
        _TABLE,
    ),
    (
        "latte's text",
        (
            r"^(?:SUMMARY STATS|CYCLE LATENCY|CONFIG|LOG) ?[═=]|^[ \t]*Run:? .*latte"
            r"|^info: (?:Connect(?:ing|ed) to |Running benchmark)"
        ),
        "give the JSON report that latte run saves",
    ),
    (
        "go-ycsb's table",
        r"^Run finished, takes .*\n\+-",
        "run it with -p outputstyle=plain or json",
    ),
    (
        "YCSB's JSON",
        r'"metric" ?: ?"OVERALL"',
        "give the text that YCSB prints without -p exporter=",
    ),
    (
        "YCSB's latencies of single operations",
        (
            r"\A(?:READ|UPDATE|INSERT|SCAN|DELETE|READ-MODIFY-WRITE),\d+,\d+$|^#\[StartTime: "
            r'|^"StartTimestamp","Interval_Length"'
        ),
        "give the report that YCSB prints at its end",
    ),
    (
        "pgbench's report in another language",
        r"^tps = [\d.,]+ \((?!without|including|excluding)",
        "run it with LC_MESSAGES=C",
    ),
    (
        "a file of pgbench -l",
        (
            r"\A\d+ \d+ (?:\d+|failed|skipped|serialization|deadlock) \d+ \d{10} \d{1,6}(?: \d+)*$"
            r"|\A\d{10} \d+ \d+ \d+ \d+ \d+(?: \d+)*$"  # with --aggregate-interval
        ),
        "give the report that pgbench prints at its end",
    ),
)
# Forms in which a table may be and is not read
_FORMS: tuple[tuple[str, str, str], ...] = (
    (
        "a query's result of one line for each cell",
        r"^-\[ RECORD \d+ \]|^\*{10,} \d+\. row \*{10,}$",
        r"run it without \x (psql) or \G (mysql)",
    ),
    (
        "a page of HTML",
        r"\A\s*<(?:!doctype html|!DOCTYPE html|html|table)\b",
        "copy its text, or its table as CSV",
    ),
    (
        "a table in YAML",
        r"^- (?:clients|connections|rate_ops_per_second|throughput_ops_per_second): ",
        "give it as JSON or CSV",
    ),
)


def _compile(
    known: tuple[tuple[str, str, str], ...],
) -> tuple[tuple[str, re.Pattern[str], str], ...]:
    return tuple((name, re.compile(mark, re.MULTILINE), cure) for name, mark, cure in known)


_MARKS, _MARKS_OF_FORMS = _compile(_UNREAD), _compile(_FORMS)

# What programs print before their report. No reader took the text, so the report is missing.
_NO_REPORT: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("sysbench", re.compile(r"^sysbench 1\.\d", re.MULTILINE)),
    ("sysbench", re.compile(r"^[ \t]*transactions:[ \t]+\d+ +\([\d.]+ per sec", re.MULTILINE)),
    ("sysbench", re.compile(r"^[ \t]*\d+th percentile:[ \t]+[\d.]+$", re.MULTILINE)),
    ("pgbench", re.compile(r"^tps = [\d.]+ \(", re.MULTILINE)),
    ("sysbench", re.compile(r"^\[ \d+s ?\] thds: \d", re.MULTILINE)),
    ("pgbench", re.compile(r"^(?:pgbench: (?:error|fatal)|pgbench \(|progress: )", re.MULTILINE)),
    ("pgbench", re.compile(r"^transaction type: |^starting vacuum\.\.\.", re.MULTILINE)),
    ("pgbench", re.compile(r"^\d+ of \d+ tuples \(\d+%\)", re.MULTILINE)),
    ("YCSB", re.compile(r"^YCSB Client|^\[(?:READ|UPDATE|INSERT|SCAN)\], ?", re.MULTILINE)),
    ("YCSB", re.compile(r"\b\d+ sec: \d+ operations; ", re.MULTILINE)),
    ("go-ycsb", re.compile(r"^[A-Z_]+ *- Takes\(s\): ", re.MULTILINE)),
    ("k6", re.compile(r"^(?:INFO|WARN|ERRO)\[\d{4}\] ", re.MULTILINE)),
    ("wrk2", re.compile(r"^unable to connect to \S+:\d+", re.MULTILINE)),
    ("wrk2", re.compile(r"^Running \S+ test @ |^[ \t]*Thread calibration:", re.MULTILINE)),
)
_ENDS = re.compile(
    r"^.*(?:FATAL|panic:|\b[Ee]rror\b|ERROR:|Exception\b|aborted|[Ii]nterrupt|unable to).*$",
    re.MULTILINE,
)
_SHOWN = 160  # characters of a program's own line that an error shows


def refuse_unread(text: str, name: str) -> None:
    """Refuse an output that is recognized and not read.

    Raises:
        UsageError: The text is one; the message names the program and says what to give instead.
    """
    text = strip_prefixes(text)
    for program, mark, cure in (*_MARKS, *_MARKS_OF_FORMS):
        if mark.search(text):
            raise UsageError(f"{name}: that is {program}: {cure}")
    for program, mark in _NO_REPORT:
        if mark.search(text):
            last = _ENDS.search(text)
            why = (
                f": {last[0].strip()[:_SHOWN]}"
                if last
                else ": the output is cut off: give the whole of it"
            )
            raise UsageError(f"{name}: {program} printed no report{why}")


def list_unread(text: str, read: str) -> list[str]:
    """Return each other program's output in a text of which one program's was read.

    Args:
        text: the text.
        read: the program whose outputs were read, or `a table of steps`.
    """
    text = strip_prefixes(text)
    whole = [f"{program}" for program, mark, _ in _MARKS if mark.search(text)]
    cut = {f"{one}'s output" for one, mark in _NO_REPORT if one != read and mark.search(text)}
    return [*whole, *sorted(cut)]
