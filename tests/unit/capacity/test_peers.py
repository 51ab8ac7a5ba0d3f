"""The output of YCSB and of sysbench, as they print it, is a step."""

import pytest

from plimsoll.capacity.audits import littles_law
from plimsoll.capacity.peers import from_sysbench, from_ycsb, is_sysbench, is_ycsb
from plimsoll.errors import UsageError

YCSB_0_1_4 = """YCSB Client 0.1
Command line: -db com.yahoo.ycsb.db.JdbcClient -P workloads/workloada -threads 3 -t
[OVERALL], RunTime(ms), 60000.0
[OVERALL], Throughput(ops/sec), 5600.0
[UPDATE], Operations, 168000
[UPDATE], AverageLatency(us), 560.2
[UPDATE], MinLatency(us), 210
[UPDATE], MaxLatency(us), 91233
[UPDATE], 95thPercentileLatency(ms), 1
[UPDATE], 99thPercentileLatency(ms), 3
[UPDATE], Return=0, 168000
[UPDATE], 0, 150000
[UPDATE], 1, 10000
[UPDATE], >1000, 0
[READ], Operations, 168000
[READ], AverageLatency(us), 510.9
[READ], 95thPercentileLatency(ms), 0
[READ], Return=0, 168000
"""

YCSB_0_17 = """Command line: -db site.ycsb.db.JdbcDBClient -P workloads/workloadf -threads 8 -t
[OVERALL], RunTime(ms), 100000
[OVERALL], Throughput(ops/sec), 1000.0
[TOTAL_GC_TIME_%], Time(%), 0.047227695180917274
[READ], Operations, 99900
[READ], AverageLatency(us), 2000.0
[READ], MaxLatency(us), 81233
[READ], 50thPercentileLatency(us), 1800
[READ], 95thPercentileLatency(us), 4000
[READ], 99thPercentileLatency(us), 9000
[READ], Return=OK, 99900
[READ], Return=ERROR, 100
[READ-FAILED], Operations, 100
[READ-FAILED], AverageLatency(us), 1140439.2
[READ-MODIFY-WRITE], Operations, 50000
[READ-MODIFY-WRITE], AverageLatency(us), 6000
[READ-MODIFY-WRITE], 99thPercentileLatency(us), 15000
[UPDATE], Operations, 50000
[UPDATE], AverageLatency(us), 4000
[UPDATE], 99thPercentileLatency(us), 9900
[UPDATE], Return=OK, 50000
[CLEANUP], Operations, 8
[CLEANUP], AverageLatency(us), 300
"""

SYSBENCH_1_0 = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 64

SQL statistics:
    queries performed:
        read:                            2240000
        total:                           2560000
    transactions:                        160000 (1599.20 per sec.)
    queries:                             2560000 (25587.20 per sec.)
    ignored errors:                      16     (0.16 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          100.0000s
    total number of events:              160000

Latency (ms):
         min:                                    8.12
         avg:                                   40.01
         max:                                  301.22
         95th percentile:                       59.99
         sum:                              6401600.12

Threads fairness:
    events (avg/stddev):           2500.0000/12.34
    execution time (avg/stddev):   100.0250/0.01
"""


def test_ycsb_0_1_4() -> None:
    assert is_ycsb(YCSB_0_1_4)
    step = from_ycsb(YCSB_0_1_4, "a3.txt")
    assert (step.connections, step.throughput_ops_per_second, step.window_s) == (3, 5600, 60)
    assert (step.errors, step.operations) == (0, 336_000)
    assert step.latency_us == {
        "update": {"mean": 560.2, "max": 91233, "p95": 1000, "p99": 3000},
        "read": {"mean": 510.9},  # 0 ms is not known
    }
    assert step.shares == {"update": 0.5, "read": 0.5}


def test_current_ycsb_failures_are_no_throughput_and_rmw_is_its_read_and_update() -> None:
    step = from_ycsb(YCSB_0_17, "f8.txt")
    assert (step.errors, step.operations) == (100, 99_900)
    assert step.throughput_ops_per_second == 999
    assert set(step.latency_us) == {"read", "update", "read_modify_write"}
    assert step.latency_us["read"]["p99"] == 9000
    found = littles_law(step, 1.10)
    assert found.passed
    assert "3.99 operations under way, 8 connections" in found.detail


def test_ycsb_with_a_target_is_an_open_loop() -> None:
    text = YCSB_0_17.replace("-threads 8", "-threads 8 -target 1200")
    assert from_ycsb(text, "a").rate_ops_per_second == 1200


def test_intended_latencies_are_taken_where_ycsb_measured_them() -> None:
    text = (
        YCSB_0_17.replace("-threads 8", "-threads 8 -target 1200")
        + "[Intended-READ], Operations, 99900\n[Intended-READ], AverageLatency(us), 7000\n"
        + "[Intended-READ], 99thPercentileLatency(us), 70000\n"
    )
    assert from_ycsb(text, "a").latency_us["read"] == {"mean": 7000, "p99": 70000}


def test_sysbench() -> None:
    assert is_sysbench(SYSBENCH_1_0)
    step = from_sysbench(SYSBENCH_1_0, "64.txt")
    assert (step.connections, step.throughput_ops_per_second, step.errors) == (64, 1600, 16)
    assert step.latency_us == {
        "transaction": {"mean": 40_010, "max": 301_220, "p95": 59_990},
    }
    assert littles_law(step, 1.10).passed


def test_sysbench_with_a_rate_is_an_open_loop() -> None:
    text = SYSBENCH_1_0.replace("threads: 64", "threads: 64\nTarget transaction rate: 1700/sec")
    assert from_sysbench(text, "a").rate_ops_per_second == 1700


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (YCSB_0_1_4.replace("RunTime", "Runs"), "RunTime.* is missing: the summary is cut off"),
        (YCSB_0_1_4.replace("[UPDATE]", "[X]").replace("[READ]", "[Y]"), "no .READ., .UPDATE."),
        (YCSB_0_1_4.replace("5600.0", "many"), "Throughput.ops/sec. is 'many', not a number"),
        (YCSB_0_1_4 + YCSB_0_1_4, "one file is one step"),
    ],
)
def test_a_bad_ycsb_summary(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_ycsb(text, "a.txt")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SYSBENCH_1_0.replace("transactions:", "events:"), "no 'transactions' line"),
        (SYSBENCH_1_0 + SYSBENCH_1_0, "one file is one step"),
    ],
)
def test_a_bad_sysbench_report(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        from_sysbench(text, "a.txt")


@pytest.mark.timeout(60)  # what went over blank lines from each of them would take hours
def test_blank_lines_are_read_once() -> None:
    report = "General statistics:\nLatency (ms):\n" + "\n" * 2**20
    with pytest.raises(UsageError, match="no 'transactions' line"):
        from_sysbench(report, "a.txt")
