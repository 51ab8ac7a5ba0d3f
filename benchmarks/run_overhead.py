"""What a run costs beside its steps' own time, and how a hundred clients start.

    python -m benchmarks.run_overhead [--clients 100] [--repetitions 3]

To reach, on two cores: under 15 s plus 2 s per step, from the start of the twin until all is gone.
Every figure is of this machine, while it does nothing else. `phases` are the seconds of each phase
of the run; a step's overhead is the time from its window's end to the next one's barrier,
and its lead, which is within that, the time that its clients waited there for each other.
"""

import argparse
import itertools
import json
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plimsoll.aws.run_files import RESULT, client_path
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ClientResult
from plimsoll.model.run.results import RunResult
from plimsoll.requests.checked_request import check_request

FIXED_S = 15.0
PER_STEP_S = 2.0


def request(name: str, clients: list[int], *, warmup_s: float, duration_s: float) -> Request:
    """Ask for steps on a volume that is no limit, with a dataset that takes no time."""
    return Request.model_validate(
        {
            "name": name,
            "target": {
                "kind": "rds",
                "engine": "mariadb",
                "engine_version": "11.4",
                "instance_class": "db.m5.large",
                "volume": {"type": "io2", "size_gib": 100, "iops": 50_000},
            },
            "workload": {"name": "ycsb-c", "records": 1000},
            "search": {"strategy": "steps", "clients": clients, "whole_list": True},
            "load": {"warmup_s": warmup_s, "duration_s": duration_s},
            "limits": {"confirmation": None, "deterioration": 1000},
            "prepare": {"warm_s": 0, "clients": 1},
        }
    )


@dataclass(frozen=True)
class Measured:
    """A run on a new twin, and how long what surrounds it took, in seconds."""

    result: RunResult
    clients: list[ClientResult]  # the first of each step
    twin_s: float
    wall_s: float
    started_epoch_s: float


def measure(asked: Request) -> Measured:
    """Run on a new twin, until nothing is left."""
    began, started_epoch_s = time.monotonic(), time.time()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as home,
        LocalTwin(Path(home)) as twin,
    ):
        twin_s = time.monotonic() - began
        run = LocalRun(twin, check_request(asked))
        run.wait()
        result = run.files.get(RESULT, RunResult)
        assert result.failure is None, result.failure
        clients = [
            run.files.get(client_path(step.plan.index, 0), ClientResult) for step in result.steps
        ]
    return Measured(result, clients, twin_s, time.monotonic() - began, started_epoch_s)


def overhead(steps: int) -> dict[str, Any]:
    """Time a run of short steps, less the time in which they load."""
    asked = request("overhead", list(range(1, steps + 1)), warmup_s=0.5, duration_s=1.5)
    seen = measure(asked)
    done = len(seen.result.steps)
    own_s = done * (asked.load.warmup_s + asked.load.duration_s)
    return {
        "steps": done,
        "wall_s": round(seen.wall_s, 2),
        "steps_own_s": own_s,
        "overhead_s": round(seen.wall_s - own_s, 2),
        "allowed_s": FIXED_S + PER_STEP_S * done,
        **phases(seen),
    }


def phases(seen: Measured) -> dict[str, Any]:
    """Say what the time beside the load went into, in seconds."""
    plans = [step.plan for step in seen.result.steps]
    pairs = itertools.pairwise(plans)
    between = [b.start_at_epoch_ms - a.window_end_epoch_ms for a, b in pairs]
    waited = [
        plan.start_at_epoch_ms - client.invoked_epoch_ms
        for plan, client in zip(plans, seen.clients, strict=True)
    ]
    moments = seen.result.moments.model_dump(exclude_none=True)
    ordered = sorted((moment.timestamp(), name) for name, moment in moments.items())
    return {
        "twin_s": round(seen.twin_s, 2),
        "before_first_load_s": round(plans[0].start_at_epoch_ms / 1000 - seen.started_epoch_s, 2),
        "between_steps_s": [round(ms / 1000, 2) for ms in between],
        "called_before_barrier_s": [round(ms / 1000, 2) for ms in waited],
        "late": [dict(step.fleet.late) for step in seen.result.steps if step.fleet.late],
        "phases": {
            name: round(until - at, 2) for (at, name), (until, _) in itertools.pairwise(ordered)
        },
    }


def crowd(clients: int) -> dict[str, Any]:
    """Start many clients at once, and see how they came."""
    asked = request("crowd", [clients], warmup_s=2, duration_s=10)
    seen = measure(asked)
    step = seen.result.steps[0]
    fleet = step.fleet
    return {
        "clients": fleet.planned,
        "ran": fleet.ran,
        "cold_starts": fleet.cold_starts,
        "start_spread_ms": fleet.start_spread_ms,
        "late": len(fleet.late),
        "latest_ms": max(fleet.late.values(), default=0),
        "memory_max_mib": fleet.memory_max_mib,
        "ops_per_second": step.step.throughput_ops_per_second,
        "wall_s": round(seen.wall_s, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100, help="0: no crowd")
    parser.add_argument("--repetitions", type=int, default=1)
    options = parser.parse_args()
    for _ in range(options.repetitions):
        seen = overhead(6)
        show("six_steps", seen)
        between_s = seen["between_steps_s"]
        show("per_step_s", round(statistics.median(between_s), 2))
        show("fixed_s", round(seen["overhead_s"] - sum(between_s), 2))
    if options.clients:
        show("crowd", crowd(options.clients))


def show(name: str, figure: object) -> None:
    """Print a figure when it is known: what comes after it may fail."""
    print(json.dumps({name: figure}), flush=True)


if __name__ == "__main__":
    main()
