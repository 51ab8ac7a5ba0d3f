"""Made-up runs of an experiment's cells, each with a line that its IOPS set."""

from typing import Any

from plimsoll.capacity.credits import judge_sustained
from plimsoll.model.request.experiment import Cell
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.results import RunResult
from tests.support.synthetic_run import request, synthetic_run

IOS_EACH = 0.12  # so that a line of 25,000 ops/s takes 3,000 IOPS
CLASS = "db.m6i.2xlarge"  # whose own limits are far above these volumes'
LIMITS_US = {"read": 5000, "update": 5000}


def boundary_experiment(*iops: int, want: float, **changes: Any) -> dict[str, Any]:
    """Write a search for the boundary along the IOPS of a volume of io1; no headroom."""
    shared = request().model_dump(mode="json", exclude={"name", "team", "tags"})
    shared["target"] |= {"instance_class": CLASS, "engine_version": "11.4"}
    del shared["target"]["volume"]["iops"]
    shared["limits"]["limits_us"] = LIMITS_US
    return {
        "name": "which-volume",
        "search": "boundary",
        "want": {"ops_per_second": want, "headroom": 0},
        "request": shared,
        "axes": {
            "volume": {f"io1-{one}": {"target": {"volume": {"iops": one}}} for one in iops},
        },
        **changes,
    }


def synthetic_cell(cell: Cell, run_id: str) -> RunResult:
    """Make a run of a cell: its latency gives way where its volume's IOPS are used up."""
    target = cell.request.target
    assert isinstance(target, RdsTarget)
    assert target.volume.iops is not None
    iops = target.volume.iops
    result, _ = synthetic_run(knee=1.3 * iops / 1000, iops=iops, run_id=run_id)
    steps = []
    for step in result.steps:
        rate = step.step.throughput_ops_per_second
        assert step.target is not None
        assert rate is not None
        figures = step.target.model_copy(update={"read_iops": 0.0, "write_iops": IOS_EACH * rate})
        steps.append(step.model_copy(update={"target": figures}))
    capacity = judge_sustained([step.step for step in steps], cell.request.limits)
    return result.model_copy(
        update={
            "request": cell.request,
            "steps": tuple(steps),
            "capacity": capacity,
            "processors": 32,
        }
    )
