"""Whether a server sees a pause where the fleets of a soak follow each other.

    python -m benchmarks.relay [--windows 3] [--window 45]

Runs a soak on the local twin with a real MariaDB, and reads the server's own count of statements
ten times a second, in a session of its own. Printed are, for each change of fleets, the operations
of each second around it, and the longest time between two readings that differ. The machine should
do nothing else.
"""

import argparse
import json
import tempfile
import threading
import time
from pathlib import Path
from typing import get_args

import pymysql

from plimsoll.aws import clients
from plimsoll.aws.run_files import RESULT
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import TargetAddress
from plimsoll.requests.checked_request import check_request

READ_EVERY_S = 0.1
AROUND_S = 4  # seconds printed before and after a change of fleets

Reading = tuple[float, int]  # seconds of the epoch, statements so far


def request(windows: int, window_s: float) -> Request:
    """Ask for a soak of a load of two clients on a volume that is no limit."""
    return Request.model_validate(
        {
            "name": "relay",
            "target": {
                "kind": "rds",
                "engine": "mariadb",
                "engine_version": "11.4",
                "instance_class": "db.m5.large",
                "volume": {"type": "io2", "size_gib": 100, "iops": 50_000},
            },
            "workload": {"name": "ycsb-a", "records": 1000},
            "search": {"strategy": "steps", "clients": [2]},
            "load": {"warmup_s": 1, "duration_s": 5, "timeout_ms": 2_000},
            "limits": {
                "confirmation": None,
                "audits_off": sorted(get_args(AuditName)),
                "client_busy_max": 1.0,
                "soak_s": windows * window_s,
                "soak_window_s": window_s,
            },
            "prepare": {"warm_s": 0, "clients": 1},
        }
    )


def count_statements(
    target: TargetAddress, readings: list[Reading], ended: threading.Event
) -> None:
    """Read the server's count of selected and changed rows' statements until `ended` is set."""
    secret = clients.secretsmanager().get_secret_value(SecretId=target.secret_arn or "")
    login = json.loads(secret["SecretString"])
    session = pymysql.connect(
        host=target.host, port=target.port, user=login["username"], password=login["password"]
    )
    with session, session.cursor() as cursor:
        while not ended.wait(READ_EVERY_S):
            cursor.execute(
                "SHOW GLOBAL STATUS WHERE Variable_name IN"
                " ('Com_select', 'Com_update', 'Com_stmt_execute')"
            )
            readings.append((time.time(), sum(int(count) for _, count in cursor.fetchall())))


def measure(asked: Request) -> tuple[RunResult, list[Reading]]:
    """Run the soak on a new twin, and count what its server does meanwhile."""
    readings: list[Reading] = []
    ended = threading.Event()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as home,
        LocalTwin(Path(home)) as twin,
    ):
        run = LocalRun(twin, check_request(asked))
        while (record := run.look().record).step is None and not record.state.ended:
            time.sleep(READ_EVERY_S)
        assert record.target is not None, record.failure
        arguments = (record.target, readings, ended)
        reader = threading.Thread(target=count_statements, args=arguments, daemon=True)
        reader.start()
        while True:
            record = run.look().record
            if record.phase in {"conclude", "teardown"} or record.state.ended:
                break
            time.sleep(READ_EVERY_S)
        ended.set()
        reader.join()
        run.wait()
        result = run.files.get(RESULT, RunResult)
        assert result.failure is None, result.failure
    return result, readings


def longest_pause_s(readings: list[Reading], start_s: float, end_s: float) -> float:
    """Return the longest time within which the server's count did not change."""
    within = [reading for reading in readings if start_s <= reading[0] <= end_s]
    changed = [within[0][0]]
    longest, count = 0.0, within[0][1]
    for at_s, statements in within[1:]:
        if statements != count:
            longest = max(longest, at_s - changed[-1])
            changed.append(at_s)
            count = statements
    return max(longest, end_s - changed[-1] - READ_EVERY_S)


def count_between(readings: list[Reading], start_s: float, end_s: float) -> int:
    """Return the statements that the server counted within a time."""
    within = [count for at_s, count in readings if start_s <= at_s <= end_s]
    return within[-1] - within[0] if within else 0


def main() -> None:
    """Run it, and print what the server counted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=3)
    parser.add_argument("--window", type=float, default=45.0, help="seconds")
    given = parser.parse_args()
    result, readings = measure(request(given.windows, given.window))
    soaked = [step for step in result.steps if step.plan.purpose == "soak"]
    first, last = soaked[0].plan, soaked[-1].plan
    for step in soaked:
        figures = step.step
        print(
            f"step {step.plan.index}: {figures.throughput_ops_per_second:,.0f} ops/s, load from"
            f" {figures.load_start_epoch_ms} to {figures.load_end_epoch_ms}, called at"
            f" {figures.called_epoch_ms}"
        )
    for before in soaked[:-1]:
        change_s = before.plan.window_end_epoch_ms / 1000
        each = [
            count_between(readings, change_s + second, change_s + second + 1)
            for second in range(-AROUND_S, AROUND_S)
        ]
        print(f"statements a second around the end of step {before.plan.index}: {each}")
    window = first.window_start_epoch_ms / 1000, last.window_end_epoch_ms / 1000
    seconds = range(int(window[0]) + 1, int(window[1]))
    counts = [count_between(readings, second, second + 1) for second in seconds]
    print(f"seconds {len(counts)}, least {min(counts)} statements, without any {counts.count(0)}")
    print(f"longest time without a statement: {longest_pause_s(readings, *window):.2f} s")
    assert result.capacity is not None
    assert result.capacity.closing is not None
    print(result.capacity.closing.soak)


if __name__ == "__main__":
    main()
