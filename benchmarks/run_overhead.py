"""What a run costs beside its steps' own time, and how a hundred clients start.

    python -m benchmarks.run_overhead [--clients 100]

To reach, on two cores: under 15 s plus 2 s per step, from the start of the twin until all is gone.
Every figure is of this machine, while it does nothing else.
"""

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from plimsoll.aws.run_files import RESULT
from plimsoll.local.runner import LocalRun
from plimsoll.local.twin import LocalTwin
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult

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


def measure(asked: Request) -> tuple[RunResult, float]:
    """Run on a new twin; gives the result, and the seconds until nothing was left."""
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="plimsoll-benchmark-") as home,
        LocalTwin(Path(home)) as twin,
    ):
        run = LocalRun(twin, asked)
        run.wait()
        result = run.files.get(RESULT, RunResult)
    assert result.failure is None, result.failure
    return result, time.monotonic() - began


def overhead(steps: int) -> dict[str, Any]:
    """Time a run of short steps, less the time in which they load."""
    asked = request("overhead", [1] if steps == 1 else list(range(1, steps + 1)),
                    warmup_s=0.5, duration_s=1.5)  # fmt: skip
    result, wall_s = measure(asked)
    done = len(result.steps)
    own_s = done * (asked.load.warmup_s + asked.load.duration_s)
    return {
        "steps": done,
        "wall_s": round(wall_s, 2),
        "steps_own_s": own_s,
        "overhead_s": round(wall_s - own_s, 2),
        "allowed_s": FIXED_S + PER_STEP_S * done,
    }


def crowd(clients: int) -> dict[str, Any]:
    """Start many clients at once, and see how they came."""
    asked = request("crowd", [clients], warmup_s=2, duration_s=10)
    result, wall_s = measure(asked)
    step = result.steps[0]
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
        "wall_s": round(wall_s, 2),
    }


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    short, longer = overhead(1), overhead(6)
    show("one_step", short)
    show("six_steps", longer)
    per_step = (longer["overhead_s"] - short["overhead_s"]) / (longer["steps"] - short["steps"])
    show("per_step_s", round(per_step, 2))
    show("fixed_s", round(short["overhead_s"] - per_step, 2))
    show("crowd", crowd(options.clients))


def show(name: str, figure: object) -> None:
    """Print a figure when it is known: what comes after it may fail."""
    print(json.dumps({name: figure}), flush=True)


if __name__ == "__main__":
    main()
