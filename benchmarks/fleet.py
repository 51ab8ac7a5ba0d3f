"""What judging a step of thousands of clients takes: memory, processor time, files, payloads.

    python -m benchmarks.fleet [1000 5000 10000]

Synthetic clients of 180 s are written as `load-client` writes them, and judged by what `judge-step`
runs, in a process of its own. S3 is stood in for by a server on loopback with their files on a
disk, so that boto3's part is measured; the record and the database's counters are stood in for in
the process. Signing and HTTP are real, TLS is not there. Each figure is of this machine.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from plimsoll.aws import run_files
from plimsoll.aws.run_files import REQUEST, client_path, files_of, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.databases import mysql
from plimsoll.machine import read_peak_memory_mib
from plimsoll.model.deployment.function_settings import JudgeStepSettings
from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.engine.answered import LatencySummary, LoadReport
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ClientResult, ServerCounters, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord, RunState, TargetAddress
from plimsoll.workflow import judge_step
from plimsoll.workflow.barrier import Next

RUN, BUCKET, STEP = "20260101-000000-abcdef", "results", 1
WARMUP_S, WINDOW_S = 10, 180
OPERATIONS = {"read": 180, "update": 20}  # a second, of each client
CONNECTIONS = 10  # of each client
MODELS = 24  # clients that differ; the others are theirs under another number
START_MS = 1_800_000_000_000
PAYLOAD_MOST = 256 * 1024  # of a state's input and output, and of an event of the bus
PEAK_MOST_MIB = 512
NONE = LatencySummary(mean=None, p50=None, p95=None, p99=None, p999=None, max=None)
REQUESTED = {
    "name": "fleet",
    "target": {"kind": "endpoint", "engine": "mariadb", "host": "db", "database": "d"},
    "workload": {"name": "ycsb-b", "records": 1000},
    "search": {"strategy": "steps", "clients": [1]},
    "load": {"warmup_s": WARMUP_S, "duration_s": WINDOW_S},
}


def planned(clients: int) -> StepPlan:
    """Plan the step."""
    before = ServerCounters(epoch_ms=START_MS - 500, values={"Uptime": 10}, family="mysql")
    return StepPlan(
        index=STEP, purpose="climb", why="", clients=clients, connections=clients * CONNECTIONS,
        rate_ops_per_second=None, warmup_s=WARMUP_S, duration_s=WINDOW_S, timeout_ms=10_000, seed=1,
        start_at_epoch_ms=START_MS, recovered=None, server_before=before,
    )  # fmt: skip


def latencies_us(draw: random.Random, count: int) -> list[int]:
    """Draw latencies as databases have them: around 1 ms, some a hundred times as long."""
    return [round(draw.lognormvariate(6.9, 0.7)) for _ in range(count)]


def seconds_of(draw: random.Random) -> list[dict[str, Any]]:
    """Draw each second of each operation."""
    seconds = []
    for second in range(WARMUP_S + WINDOW_S):
        for operation, rate in OPERATIONS.items():
            drawn = sorted(latencies_us(draw, rate))
            buckets: dict[int, int] = {}
            for us in drawn:
                upper = next(b for b in BOUNDS if b >= us)
                buckets[upper] = buckets.get(upper, 0) + 1
            seconds.append(
                {"second": second, "operation": operation, "succeeded": rate, "errors": 0,
                 "p50_us": drawn[rate // 2], "p99_us": drawn[-1 - rate // 100],
                 "max_us": drawn[-1], "buckets": buckets}
            )  # fmt: skip
    return seconds


BOUNDS = sorted({-int(-(2 ** (k / 8)) // 1) for k in range(8 * 20)})


def report(draw: random.Random) -> LoadReport:
    """Draw what the engine answers to one client."""
    operations = {}
    for operation, rate in OPERATIONS.items():
        histogram = HdrHistogram(1, 300_000_000, 3)
        for us in latencies_us(draw, 2_000):
            histogram.record_value(us, rate * WINDOW_S // 2_000)
        operations[operation] = {
            "succeeded": rate * WINDOW_S, "records": rate * WINDOW_S, "errors": {},
            "latency_us": NONE, "histogram": histogram.encode().decode(),
        }  # fmt: skip
    return LoadReport.model_validate(
        {
            "engine_version": "0.1.0",
            "window_start_epoch_ms": START_MS + 1000 * WARMUP_S,
            "window_end_epoch_ms": START_MS + 1000 * (WARMUP_S + WINDOW_S),
            "window_s": WINDOW_S, "late_start_ms": 0, "connections": CONNECTIONS, "threads": 1,
            "rate_ops_per_second": None, "operations": operations, "seconds": seconds_of(draw),
            "client": {
                "cpu_user_s": draw.random(), "cpu_system_s": draw.random(),
                "cpu_us_per_operation": 12.5, "busy_fraction": draw.random() / 4,
                "processor_wait_s": draw.random() / 10, "send_lateness_us": None,
                "backlog_max": None, "backlog_end": None, "unsent": None, "unanswered": 0,
                "oldest_unanswered_us": None,
            },
            "connection_report": {"opened": CONNECTIONS, "replaced": 0, "failed": {}},
            "error_examples": {}, "statements_sent": 38_000, "transaction_commands_sent": 0,
            "operations_sent": 38_000, "ended": "duration",
        }
    )  # fmt: skip


def write_clients(folder: Path, clients: int) -> dict[str, float]:
    """Write the files of a step's clients where the server finds them; gives their sizes."""
    draw = random.Random(1)  # noqa: S311 - the same clients each time
    models = [report(draw) for _ in range(MODELS)]
    sizes: list[int] = []

    def put(path: str, content: bytes, **_: object) -> None:
        sizes.append(len(content))
        place = folder / BUCKET / "runs" / RUN / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)

    files = run_files.RunFiles(BUCKET, RUN)
    files.put = put  # type: ignore[method-assign, assignment]
    for client in range(clients):
        result = ClientResult(
            run_id=RUN, step=STEP, client=client, invoked_epoch_ms=START_MS - 9_000 + client // 10,
            cold_start=True, memory_max_mib=50, report=models[client % MODELS],
        )  # fmt: skip
        files.put_model(client_path(STEP, client), result)
    return {
        "file_kib": round(sum(sizes) / len(sizes) / 1024, 1),
        "unpacked_kib": round(len(result.model_dump_json()) / 1024, 1),
    }


class StandInRecords:
    """The run's record, in this process."""

    def get(self, run_id: str) -> RunRecord:
        """Give it."""
        at = TargetAddress(host="db", port=3306, database="d", identifier=None, protocol="mysql")
        return RunRecord(
            run_id=run_id, name="fleet", team="default", state=RunState.RUNNING,
            request_sha256="", submitted_at=now(), time_limit_s=3600, target=at,
        )  # fmt: skip

    def change(self, run_id: str, **_: object) -> None:
        """Forget what is noted."""


def judge(clients: int) -> dict[str, Any]:
    """Judge the step in this process, which has done nothing else."""
    settings = JudgeStepSettings(
        results_bucket=BUCKET, runs_table="runs", rds_ca_file="", metric_period_seconds=60,
        on_one_machine=False,
    )  # fmt: skip
    after = ServerCounters(epoch_ms=START_MS + 200_000, values={"Uptime": 210}, family="mysql")
    vars(judge_step)["records_of"] = lambda _: StandInRecords()
    vars(mysql)["read_counters"] = lambda _: after
    files = files_of(settings, RUN)
    files.put_model(plan_path(STEP), planned(clients))
    files.put_model(REQUEST, Request.model_validate(REQUESTED))
    before, began, cpu = read_peak_memory_mib(), time.monotonic(), time.process_time()
    judged = judge_step.judge_step(settings, RUN, STEP)
    wall_s, cpu_s = time.monotonic() - began, time.process_time() - cpu
    written = files.find(step_path(STEP)) or b""
    step = StepResult.model_validate_json(written)
    assert (step.fleet.ran, step.fleet.missing) == (clients, ())
    assert step.step.operations == clients * sum(OPERATIONS.values()) * WINDOW_S
    return {
        "clients": clients,
        "cpu_ms_a_client": round(1000 * cpu_s / clients, 2),
        "cpu_s": round(cpu_s, 1),
        "wall_s": round(wall_s, 1),
        "allowed_s": FUNCTIONS["judge-step"].timeout_s,
        "peak_mib": round(read_peak_memory_mib()),
        "peak_before_mib": round(before),
        "step_file_mib": round(len(written) / 2**20, 2),
        "event_bytes": len(judged.model_dump_json()),
        "next_step_bytes": len(json.dumps(Next.step(planned(clients)))),
        "map_result_bytes": len(json.dumps([0] * clients)),
        "payload_most_bytes": PAYLOAD_MOST,
    }


def measure(clients: int) -> dict[str, Any]:
    """Write the clients' files, serve them, and have another process judge them."""
    module = [sys.executable, "-m", "benchmarks.fleet"]
    with tempfile.TemporaryDirectory(prefix="plimsoll-fleet-") as base:
        sizes = write_clients(Path(base), clients)
        server = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.fleet_s3", base], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            keys = dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), "benchmark")
            environment = {
                **os.environ, **keys, "AWS_ENDPOINT_URL_S3": url, "AWS_REGION": "eu-central-1",
                "AWS_DEFAULT_REGION": "eu-central-1",
            }  # fmt: skip
            done = subprocess.run(
                [*module, "--judge", str(clients)], env=environment, check=True,
                stdout=subprocess.PIPE, text=True,
            )  # fmt: skip
        finally:
            server.terminate()
            server.wait()
    return {**json.loads(done.stdout), **sizes}


def main() -> None:
    """Measure and print, a line for each number of clients."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clients", type=int, nargs="*", default=[1_000, 5_000, 10_000])
    parser.add_argument("--judge", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.judge:
        print(json.dumps(judge(options.judge)))
        return
    for clients in options.clients:
        figures = measure(clients)
        print(json.dumps(figures), flush=True)
        assert figures["peak_mib"] < PEAK_MOST_MIB, "too much memory"
        assert figures["wall_s"] < figures["allowed_s"], "the function would time out"
        for payload in ("event_bytes", "next_step_bytes", "map_result_bytes"):
            assert figures[payload] < PAYLOAD_MOST, payload


if __name__ == "__main__":
    main()
