"""A run's measurements as points. Names include units; docs/metrics.md lists them. Pure.

| measurement       | tags                         | fields                                      |
|-------------------|------------------------------|---------------------------------------------|
| `plimsoll_second` | run, step, client, operation | succeeded, errors, p50_us, p99_us, max_us   |
| `plimsoll_step`   | run, step                    | clients, connections, throughput ...        |
| `plimsoll_latency`| run, step, operation         | mean_us, p50_us, p95_us, p99_us, p999_us ...|
| `plimsoll_target` | run                          | read_iops, write_iops, queue ...            |
| `plimsoll_run`    | run, verdict, bound          | capacity, low and high, in ops_per_second   |
"""

from collections.abc import Iterable, Iterator, Mapping

from plimsoll.metrics.sink import FieldValue, Point
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import Step, TargetSample
from plimsoll.model.run.results import Seconds


def _keep_known(fields: Mapping[str, FieldValue | None]) -> dict[str, FieldValue]:
    return {name: value for name, value in fields.items() if value is not None}


def make_second_points(
    seconds: Iterable[SecondReport],
    *,
    run_id: str,
    step: int,
    client: int,
    load_start_epoch_ms: int,
) -> Iterator[Point]:
    """Yield one client's seconds of a step with its warm-up, each stamped with its beginning."""
    for second in seconds:
        yield Point(
            measurement="plimsoll_second",
            epoch_ms=load_start_epoch_ms + second.second * 1000,
            tags={
                "run": run_id,
                "step": str(step),
                "client": str(client),
                "operation": second.operation,
            },
            fields=_keep_known(
                {
                    "succeeded": second.succeeded,
                    "errors": second.errors,
                    "p50_us": second.p50_us,
                    "p99_us": second.p99_us,
                    "max_us": second.max_us,
                }
            ),
        )


def make_step_points(step: Step, *, run_id: str, index: int, epoch_ms: int) -> Iterator[Point]:
    """Yield a finished step over all clients, stamped with the end of its window.

    Percentiles come from the merged histograms.
    """
    tags = {"run": run_id, "step": str(index)}
    yield Point(
        measurement="plimsoll_step",
        epoch_ms=epoch_ms,
        tags=tags,
        fields=_keep_known(
            {
                "clients": step.clients,
                "connections": step.connections,
                "rate_ops_per_second": step.rate_ops_per_second,
                "throughput_ops_per_second": step.throughput_ops_per_second,
                "operations": step.operations,
                "errors": step.errors,
                "client_busy": step.client_busy,
            }
        ),
    )
    for operation, latency_us in step.latency_us.items():
        yield Point(
            measurement="plimsoll_latency",
            epoch_ms=epoch_ms,
            tags={**tags, "operation": operation},
            fields={f"{statistic}_us": value for statistic, value in latency_us.items()},
        )


def make_target_points(samples: Iterable[TargetSample], *, run_id: str) -> Iterator[Point]:
    """Yield the target's own samples: volume, queue, credits, CPU."""
    for sample in samples:
        fields = _keep_known(sample.model_dump(exclude={"epoch_ms"}))
        yield Point("plimsoll_target", sample.epoch_ms, fields, {"run": run_id})


def make_answer_points(capacity: Capacity, seconds: Seconds) -> Iterator[Point]:
    """Yield a run's answer with its 95 % interval, stamped with the end of its last second.

    Nothing if the verdict has no figure, or nothing was measured.
    """
    figure, interval = capacity.max_sustainable_throughput_ops_per_second, capacity.interval
    if figure is None or capacity.bound is None or not seconds.operations:
        return
    fields = {
        "capacity_ops_per_second": figure,
        "low_ops_per_second": interval.low_ops_per_second if interval else None,
        "high_ops_per_second": interval.high_ops_per_second if interval else None,
    }
    tags = {"run": seconds.run_id, "verdict": capacity.verdict, "bound": capacity.bound}
    ended_ms = 1000 * (1 + max(second.epoch_s for second in seconds.operations))
    yield Point("plimsoll_run", ended_ms, _keep_known(fields), tags)
