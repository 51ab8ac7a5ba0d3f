"""What ran beside the measured workload, step by step, for a page or a terminal."""

from collections.abc import Iterator
from statistics import median

from plimsoll import words
from plimsoll.model.background import Background
from plimsoll.model.results import BackgroundResult, RunResult
from plimsoll.model.steps import Statistic
from plimsoll.report.report_tables import ReportCell, ReportTable


def schedule_words(background: Background) -> str:
    """Say when it runs, on the clock of each step."""
    lasts = words.duration(background.for_s)
    if background.every_s is not None:
        return f"every {words.duration(background.every_s)} of each step for {lasts}"
    if background.at_s is not None:
        return f"once in each step, {words.duration(background.at_s)} after its start, for {lasts}"
    return "all the time"


def background_lines(result: RunResult) -> Iterator[str]:
    """Say of each background what it does and did: medians of the steps in which it ran."""
    statistic = result.request.limits.statistic
    for asked in result.request.background:
        ran = [
            one
            for step in result.steps
            for one in step.background
            if one.name == asked.name and one.throughput_ops_per_second is not None
        ]
        name = asked.workload.name or "a workload of its own"
        yield f"background {asked.name}: {name}, {schedule_words(asked)}{_did(ran, statistic)}"


def _did(ran: list[BackgroundResult], statistic: Statistic) -> str:
    rates = [one.throughput_ops_per_second or 0.0 for one in ran]
    if not rates:
        return "; it ran in no step"
    told = words.statistic(statistic)
    parts = [f"{words.throughput(median(rates))} while it runs"]
    for name in dict.fromkeys(name for one in ran for name in one.operations):
        latencies = [
            us
            for one in ran
            if name in one.operations
            and (us := getattr(one.operations[name].latency_us, statistic)) is not None
        ]
        if latencies:
            parts.append(f"{name} {told} {words.latency(median(latencies))}")
    steps = words.plural(len(ran), "step")
    return f"; {', '.join(parts)} (median of {steps}; no part of the answer)"


def background_table(result: RunResult) -> ReportTable | None:
    """One row for each step and operation of what ran beside it; None where nothing did."""
    rows = [
        (
            ReportCell(str(step.plan.index)),
            ReportCell(one.name),
            ReportCell(name),
            ReportCell(words.duration(one.ran_s)),
            ReportCell(words.rate(totals.succeeded / one.ran_s if one.ran_s else None)),
            ReportCell(words.rate(totals.records / one.ran_s if one.ran_s else None)),
            ReportCell(words.latency(totals.latency_us.mean)),
            ReportCell(words.latency(totals.latency_us.p50)),
            ReportCell(words.latency(totals.latency_us.p99)),
            ReportCell(words.number(sum(totals.errors.values()))),
        )
        for step in result.steps
        for one in step.background
        for name, totals in one.operations.items()
    ]
    columns = ("step", "background", "operation", "ran", "ops/s", "records/s", "mean", "p50", "p99")
    return ReportTable(columns=(*columns, "errors"), rows=tuple(rows)) if rows else None
