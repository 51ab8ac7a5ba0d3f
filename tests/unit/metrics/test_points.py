"""A run's measurements as points: unknown figures are left out, times are the seconds' own."""

from plimsoll.metrics.points import make_answer_points, make_step_points, make_target_points
from plimsoll.model.judging.steps import Step, TargetSample
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run

_, SECONDS = synthetic_run(run_id="r")


def test_a_step_gives_its_figures_and_one_point_an_operation() -> None:
    step = Step(
        clients=3,
        connections=24,
        throughput_ops_per_second=5600.5,
        latency_us={"read": {"p50": 400, "p99": 900}, "update": {"mean": 560}},
    )
    whole, read, update = make_step_points(step, run_id="r", index=2, epoch_ms=5)
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
    (point,) = make_target_points([sample], run_id="r")
    assert point.fields == {"write_iops": 990.0, "queue": 0.0}


def test_an_answer_is_of_the_run_and_stamped_with_its_last_seconds_end() -> None:
    (point,) = make_answer_points(judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000)), SECONDS)
    assert point.measurement == "plimsoll_run"
    assert point.tags == {"run": "r", "verdict": "KNEE", "bound": "="}
    assert point.fields == {"capacity_ops_per_second": 1500}
    assert point.epoch_ms == 1000 * (SECONDS.operations[-1].epoch_s + 1)


def test_a_bound_is_told_as_one() -> None:
    (point,) = make_answer_points(judged((1, 2000, 500), (2, 3000, 500)), SECONDS)
    assert (point.tags["bound"], point.tags["verdict"]) == (">=", "LOWER_BOUND")


def test_without_a_figure_or_without_seconds_there_is_no_answer() -> None:
    capacity = judged((1, 1000, 500), (2, 1500, 500), (4, 1600, 5000))
    nothing = {"max_sustainable_throughput_ops_per_second": None}
    assert not list(make_answer_points(capacity.model_copy(update=nothing), SECONDS))
    silent = SECONDS.model_copy(update={"operations": ()})
    assert not list(make_answer_points(capacity, silent))
