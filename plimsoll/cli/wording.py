"""Figures as people read them: 1,234 ops/s, 2.10 ms, 1:05 min."""

from plimsoll.figures import plural
from plimsoll.model.request import EndpointTarget, Request
from plimsoll.model.results import StepResult
from plimsoll.model.steps import Statistic


def three_figures(us: float | None) -> str:
    """Write a latency given in microseconds in milliseconds, without the unit; a dash for none."""
    return milliseconds(us).removesuffix(" ms")


def milliseconds(us: float | None) -> str:
    """Write a latency in milliseconds, three figures; a missing one as a dash."""
    if us is None:
        return "-"
    ms = us / 1000
    return f"{ms:.2f} ms" if ms < 10 else f"{ms:.1f} ms" if ms < 100 else f"{ms:,.0f} ms"


def minutes(seconds: float) -> str:
    """Write a time as minutes and seconds."""
    whole = max(0, round(seconds))
    return f"{whole // 60}:{whole % 60:02d}"


def target_line(request: Request) -> str:
    """Describe a target in one line."""
    target = request.target
    if isinstance(target, EndpointTarget):
        return f"{target.engine} at {target.host}:{target.port}"
    volume = target.volume
    iops = f", {volume.iops:,} IOPS" if volume.iops else ""
    throughput = f", {volume.throughput_mib_s} MiB/s" if volume.throughput_mib_s else ""
    return (
        f"{target.engine} {target.engine_version} on {target.instance_class},"
        f" {volume.type} {volume.size_gib:,} GiB{iops}{throughput}"
    )


def step_line(step: StepResult, statistic: Statistic) -> str:
    """Describe a finished step in one line."""
    figure = step.step.throughput_ops_per_second
    parts = ["nothing succeeded" if figure is None else f"{figure:,.0f} ops/s"]
    parts += [
        f"{name} {statistic} {milliseconds(latencies.get(statistic))}"
        for name, latencies in sorted(step.step.latency_us.items())
    ]
    if step.step.errors:
        parts.append(plural(step.step.errors, "error"))
    return "; ".join(parts)
