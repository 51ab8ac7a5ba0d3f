"""Peculiar to YCSB and sysbench: failures, read-modify-writes, rates, intended latencies."""

import pytest

from plimsoll.capacity.readers.sysbench import read_sysbench
from plimsoll.capacity.readers.ycsb import is_run, read_ycsb
from plimsoll.capacity.steps.littles_law import audit_littles_law
from plimsoll.errors import UsageError
from tests.unit.capacity.readers.outputs import text_of

YCSB_0_1_4 = text_of("ycsb-0.1.4.txt")
YCSB_0_17 = text_of("ycsb-0.17.txt")
SYSBENCH_1_0 = text_of("sysbench-1.0.txt")


def test_current_ycsb_failures_are_no_throughput_and_rmw_is_its_read_and_update() -> None:
    step = read_ycsb(YCSB_0_17, "f8.txt").step
    assert (step.errors, step.operations) == (100, 99_900)
    assert step.throughput_ops_per_second == 999
    assert set(step.latency_us) == {"read", "update", "read_modify_write"}
    assert step.latency_us["read"]["p99"] == 9000
    found = audit_littles_law(step, 1.10)
    assert found.passed
    assert "3.99 concurrent operations, 8 connections" in found.detail


def test_the_phase_of_a_long_line_is_told_in_one_pass() -> None:
    assert is_run("ycsb.Client " * 100_000)  # time that grows as its square would be hours
    assert not is_run("java site.ycsb.Client -load -threads 8")
    assert not is_run("Command line: -threads 8 -load")


def test_ycsb_with_a_target_is_an_open_loop() -> None:
    text = YCSB_0_17.replace("-threads 8", "-threads 8 -target 1200")
    assert read_ycsb(text, "a").step.rate_ops_per_second == 1200


def test_intended_latencies_are_taken_where_ycsb_measured_them() -> None:
    text = (
        YCSB_0_17.replace("-threads 8", "-threads 8 -target 1200")
        + "[Intended-READ], Operations, 99900\n[Intended-READ], AverageLatency(us), 7000\n"
        + "[Intended-READ], 99thPercentileLatency(us), 70000\n"
    )
    assert read_ycsb(text, "a").step.latency_us["read"] == {"mean": 7000, "p99": 70000}


def test_sysbench_with_a_rate_is_an_open_loop() -> None:
    text = SYSBENCH_1_0.replace("threads: 64", "threads: 64\nTarget transaction rate: 1700/sec")
    assert read_sysbench(text, "a").step.rate_ops_per_second == 1700


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
        read_ycsb(text, "a.txt")


def test_a_target_without_intended_latencies_is_said_to_flatter() -> None:
    text = YCSB_0_17.replace("-threads 8", "-threads 8 -p target=1200")
    reading = read_ycsb(text, "a")
    assert reading.step.rate_ops_per_second == 1200
    assert "measurement.interval=both" in reading.notes[0]
    assert read_ycsb(YCSB_0_17, "a").notes == ()


def test_intended_latencies_alone_have_no_names_of_their_own() -> None:
    setting = "-threads 8 -target 1200 -p measurement.interval=intended"
    reading = read_ycsb(YCSB_0_17.replace("-threads 8", setting), "a")
    assert reading.notes == ()
    assert reading.step.latency_us["read"]["p99"] == 9000


def test_intended_latencies_of_a_target_that_is_not_told() -> None:
    text = YCSB_0_17 + "[Intended-READ], Operations, 99900\n"
    assert read_ycsb(text, "a").rate_unknown == "YCSB's -target is not in it"
