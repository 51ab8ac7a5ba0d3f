"""The made-up run with everything that a store of metrics can be told."""

from collections.abc import Iterator

from hdrh.histogram import HdrHistogram

from plimsoll.metrics import Point
from plimsoll.metrics.points import (
    make_answer_points,
    make_second_points,
    make_step_points,
    make_target_points,
)
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.run.results import RunResult, Seconds, StepResult
from tests.support.synthetic_run import synthetic_run

RUN = "shown"
P99_US = 2_000  # of the second client in every second; the first one's is half of it
HELD = {"burst_balance_percent": 87.5, "ebs_io_balance_percent": 99.0}


def _histogram(p99_us: float) -> str:
    """98 latencies of half a p99, and two of it, which are the percentile."""
    histogram = HdrHistogram(1, 300_000_000, 3)
    histogram.record_value(round(p99_us / 2), 98)
    histogram.record_value(round(p99_us), 2)
    return str(histogram.encode().decode())


def _told(step: StepResult) -> StepResult:
    assert step.target is not None
    operations = {
        name: totals.model_copy(
            update={"errors": {"1205": 3}, "histogram": _histogram(totals.latency_us.p99 or 0)}
        )
        for name, totals in step.operations.items()
    }
    moved = {"read_mib_s": 4.0, "write_mib_s": 9.0}
    target = step.target.model_copy(update={**moved, **HELD})
    judged = step.step.model_copy(update={"errors": 6})
    return step.model_copy(update={"operations": operations, "target": target, "step": judged})


def told_run() -> tuple[RunResult, Seconds]:
    """A run with histograms, failures and balances."""
    run, seconds = synthetic_run(run_id=RUN)
    samples = tuple(sample.model_copy(update=HELD) for sample in seconds.target)
    run = run.model_copy(update={"steps": tuple(map(_told, run.steps))})
    return run, seconds.model_copy(update={"target": samples})


def told_points(run: RunResult, series: Seconds) -> Iterator[Point]:
    """What a run's functions send to a store; its two clients did half of each second each."""
    for client in range(2):
        for second in series.operations:
            seen = SecondReport(
                second=0,
                operation=second.operation,
                succeeded=second.succeeded // 2 + client * (second.succeeded % 2),
                errors=client,
                p50_us=100,
                p99_us=P99_US // 2 * (client + 1),
                max_us=5000,
                buckets={},
            )
            yield from make_second_points(
                [seen],
                run_id=RUN,
                step=second.step,
                client=client,
                load_start_epoch_ms=second.epoch_s * 1000,
            )
    for done in run.steps:
        assert done.window_end_epoch_ms is not None
        end = done.window_end_epoch_ms
        yield from make_step_points(done.step, run_id=RUN, index=done.plan.index, epoch_ms=end)
    yield from make_target_points(series.target, run_id=RUN)
    assert run.capacity is not None
    yield from make_answer_points(run.capacity, series)
