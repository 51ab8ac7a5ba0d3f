"""A run's measurements as points: unknown figures are left out, times are the seconds' own."""

from plimsoll.metrics.points import step_points, target_points
from plimsoll.model.results import TargetSample
from plimsoll.model.steps import Step


def test_a_step_gives_its_figures_and_one_point_an_operation() -> None:
    step = Step(
        clients=3,
        connections=24,
        throughput_ops_per_second=5600.5,
        latency_us={"read": {"p50": 400, "p99": 900}, "update": {"mean": 560}},
    )
    whole, read, update = step_points(step, run_id="r", index=2, epoch_ms=5)
    assert whole.tags == {"run": "r", "step": "2"}
    assert whole.fields == {
        "clients": 3,
        "connections": 24,
        "throughput_ops_per_second": 5600.5,
    }
    assert (read.tags["operation"], read.fields) == ("read", {"p50_us": 400, "p99_us": 900})
    assert (update.tags["operation"], update.fields) == ("update", {"mean_us": 560})


def test_what_cloudwatch_did_not_tell_is_no_point() -> None:
    sample = TargetSample(epoch_ms=7, write_iops=990.0, queue=0.0)
    (point,) = target_points([sample], run_id="r")
    assert point.fields == {"write_iops": 990.0, "queue": 0.0}
