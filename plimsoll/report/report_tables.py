"""The tables of a report: steps in the order in which they ran, and the audits of each load."""

from collections.abc import Sequence
from dataclasses import dataclass

from plimsoll import words
from plimsoll.capacity.credits import is_burst
from plimsoll.model.capacity import Capacity, JudgedStep
from plimsoll.model.results import RunResult, StepResult
from plimsoll.model.steps import Purpose, Step
from plimsoll.model.target_figures import TargetFigures
from plimsoll.report import rows

AUDIT_NAMES = {
    "littles_law": "Little's law",
    "clients_ran": "clients ran",
    "enough_operations": "enough operations",
    "clock_skew": "clocks agree",
    "steady_state": "steady state",
    "percentiles": "percentiles in order",
    "server_count": "server counted the same",
    "undisturbed": "this machine undisturbed",
    "nothing_escaped": "nothing past the volume",
}
CLOSING_WORDS: dict[Purpose, str] = {
    "sentinel": "sentinel",
    "twice_clients": "more clients",
    "polling": "polling",
    "soak": "soak",
    "open_loop": "open loop",
    "with_background": "with background",
    "without_background": "without",
    "toggle": "toggle",
}
LOADS_MOST = 100  # up to so many loads, the audits of all are shown
MARKS = {True: "✓", False: "✕", None: words.NOTHING}


@dataclass(frozen=True)
class ReportCell:
    """A text, and what it stands for."""

    text: str
    kind: str = ""  # a CSS class: "over" (a limit), "passed", "failed" ...


@dataclass(frozen=True)
class ReportTable:
    """A table, for a page or a terminal."""

    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()  # a header row above: title and number of columns


def steps_table(result: RunResult) -> ReportTable | None:
    """One row for each step: load, throughput, latency by operation, the target, the judgement."""
    if not result.steps:
        return None
    capacity = result.capacity
    names = rows.operations(capacity) or operations_of(result.steps)
    offered = any(done.plan.rate_ops_per_second is not None for done in result.steps)
    shown = rows.shown_statistics(capacity)
    groups = [
        ("load", 4 if offered else 3),
        ("throughput", 1),
        *((f"{name}, latency", len(shown)) for name in names),
        ("target", 3),
        ("fleet", 2),
        ("", 1),
    ]
    columns = [
        "step",
        *(["offered, ops/s"] if offered else []),
        "clients",
        "connections",
        "ops/s",
        *(words.statistic(statistic) for _ in names for statistic in shown),
        *("IOPS", "queue", "CPU"),
        *("errors", "busy"),
        "judged",
    ]
    return ReportTable(
        groups=tuple(groups),
        columns=tuple(columns),
        rows=tuple(tuple(_step_cells(done, capacity, names, offered)) for done in result.steps),
    )


def operations_of(steps: Sequence[StepResult]) -> list[str]:
    """The operations of any step, in the order of their first."""
    return list(dict.fromkeys(name for done in steps for name in done.operations))


def judged_step(capacity: Capacity | None, index: int) -> JudgedStep | None:
    """The judgement of the load of step `index`; None where there is none."""
    if capacity is None:
        return None
    for judged in capacity.steps:
        if any(step.index == index for step in judged.steps):
            return judged
    return None


def _step_cells(
    done: StepResult, capacity: Capacity | None, names: list[str], offered: bool
) -> list[ReportCell]:
    judged = judged_step(capacity, done.plan.index)
    step = done.step
    cells = [ReportCell(str(done.plan.index))]
    if offered:
        cells.append(ReportCell(words.number(done.plan.rate_ops_per_second)))
    cells += [
        ReportCell(words.number(done.plan.clients)),
        ReportCell(words.number(done.plan.connections)),
        ReportCell(words.rate(step.throughput_ops_per_second), "strong"),
    ]
    for name in names:
        for statistic in rows.shown_statistics(capacity):
            value = step.latency_us.get(name, {}).get(statistic)
            limit = judged.limit_us.get(name) if judged else None
            is_judged = capacity is not None and capacity.statistic == statistic
            over = is_judged and value is not None and limit is not None and value > limit
            cells.append(ReportCell(words.latency(value), "over" if over else ""))
    cells += [ReportCell(figure) for figure in target_cells(done.target)]
    cells += [ReportCell(words.number(step.errors)), ReportCell(words.percent(step.client_busy))]
    outcome = rows.outcome(judged) if judged else unjudged(step) or "not judged"
    text = "burst" if judged and is_burst(judged) else outcome
    return [*cells, ReportCell(text, outcome)]


def unjudged(step: Step) -> str:
    """What a step was that no load's judgement has: void, or a closing step; else empty."""
    if step.void or step.purpose is None:
        return "void" if step.void else ""
    return step.state or CLOSING_WORDS.get(step.purpose, "")


def target_cells(target: TargetFigures | None) -> tuple[str, str, str]:
    """IOPS (reads and writes together), the volume's queue, and the CPU in whole percents."""
    if target is None:
        return (words.NOTHING,) * 3
    known = [iops for iops in (target.read_iops, target.write_iops) if iops is not None]
    cpu = None if target.cpu_percent is None else round(target.cpu_percent) / 100
    return words.rate(sum(known) if known else None), words.rate(target.queue), words.percent(cpu)


def audits_table(capacity: Capacity | None) -> ReportTable | None:
    """One row for each load, one column for each audit.

    Of more than `LOADS_MOST` loads only those that failed an audit are shown: the page stays small,
    and nobody reads so many ticks.
    """
    if capacity is None or not capacity.steps:
        return None
    names = list(dict.fromkeys(audit.name for judged in capacity.steps for audit in judged.audits))
    if not names:
        return None
    table = []
    for judged in _with_audits(capacity):
        results = {audit.name: audit.passed for audit in judged.audits}
        cells = [ReportCell(words.load(judged.load, capacity.axis))]
        for name in names:
            passed = results.get(name)
            kind = "failed" if passed is False else "passed" if passed else ""
            cells.append(ReportCell(MARKS[passed], kind))
        table.append(tuple(cells))
    columns = ("load", *(AUDIT_NAMES.get(name, name) for name in names))
    return ReportTable(columns=columns, rows=tuple(table))


def audit_details(capacity: Capacity | None) -> list[tuple[str, str, str, str]]:
    """Load, audit, mark and figures of each audit; those that could not run are left out."""
    if capacity is None:
        return []
    return [
        (
            words.load(judged.load, capacity.axis),
            AUDIT_NAMES.get(audit.name, audit.name),
            MARKS[audit.passed],
            audit.detail,
        )
        for judged in _with_audits(capacity)
        for audit in judged.audits
        if audit.passed is not None
    ]


def _with_audits(capacity: Capacity) -> tuple[JudgedStep, ...]:
    if len(capacity.steps) <= LOADS_MOST:
        return capacity.steps
    return tuple(s for s in capacity.steps if any(audit.passed is False for audit in s.audits))


def audits_left_out(capacity: Capacity | None) -> int:
    """How many loads the table of audits leaves out; none of them failed an audit."""
    return 0 if capacity is None else len(capacity.steps) - len(_with_audits(capacity))
