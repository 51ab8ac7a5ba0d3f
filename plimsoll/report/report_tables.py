"""The tables of a report: steps in the order in which they ran, and the audits of each load."""

from dataclasses import dataclass

from plimsoll.model.capacity import Capacity, JudgedStep
from plimsoll.model.results import RunResult, StepResult
from plimsoll.report import rows, text

AUDIT_NAMES = {
    "littles_law": "Little's law",
    "clients_ran": "clients ran",
    "enough_operations": "enough operations",
    "clock_skew": "clocks agree",
    "steady_state": "steady state",
    "percentiles": "percentiles in order",
    "server_count": "server counted the same",
    "undisturbed": "this machine undisturbed",
}
LOADS_MOST = 100  # whose audits are all shown
MARKS = {True: "✓", False: "✕", None: text.NOTHING}


@dataclass(frozen=True)
class Cell:
    """Text, and what it means beyond it."""

    text: str
    kind: str = ""  # a CSS class: "over" a limit, "passed", "failed" ...


@dataclass(frozen=True)
class Table:
    """Two header rows, groups over columns, and cells."""

    groups: tuple[tuple[str, int], ...]  # title and number of columns
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def steps_table(result: RunResult) -> Table | None:
    """One row for each step: load, throughput, latency by operation, the target, the judgement."""
    if not result.steps:
        return None
    capacity = result.capacity
    names = rows.operations(capacity) if capacity else _operations(result)
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
        *(text.STATISTIC_NAMES[statistic] for _ in names for statistic in shown),
        *("IOPS", "queue", "CPU"),
        *("errors", "busy"),
        "judged",
    ]
    return Table(
        groups=tuple(groups),
        columns=tuple(columns),
        rows=tuple(tuple(_step_cells(done, capacity, names, offered)) for done in result.steps),
    )


def _operations(result: RunResult) -> list[str]:
    return list(dict.fromkeys(name for done in result.steps for name in done.operations))


def judged_step(capacity: Capacity | None, index: int) -> JudgedStep | None:
    """The judgement of the load that a step belongs to; None where there is none."""
    if capacity is None:
        return None
    for judged in capacity.steps:
        if any(step.index == index for step in judged.steps):
            return judged
    return None


def _step_cells(
    done: StepResult, capacity: Capacity | None, names: list[str], offered: bool
) -> list[Cell]:
    judged = judged_step(capacity, done.plan.index)
    step = done.step
    cells = [Cell(str(done.plan.index))]
    if offered:
        cells.append(Cell(text.throughput(done.plan.rate_ops_per_second)))
    cells += [
        Cell(text.number(done.plan.clients)),
        Cell(text.number(done.plan.connections)),
        Cell(text.throughput(step.throughput_ops_per_second), "strong"),
    ]
    for name in names:
        for statistic in rows.shown_statistics(capacity):
            value = step.latency_us.get(name, {}).get(statistic)
            limit = judged.limit_us.get(name) if judged else None
            is_judged = capacity is not None and capacity.statistic == statistic
            over = is_judged and value is not None and limit is not None and value > limit
            cells.append(Cell(text.latency(value), "over" if over else ""))
    target = done.target
    known = [v for v in (target.read_iops, target.write_iops) if v is not None] if target else []
    cpu = target.cpu_percent if target else None
    cells += [
        Cell(text.number(sum(known) if known else None)),
        Cell(text.number(target.queue if target else None, 1)),
        Cell(text.percent(cpu / 100 if cpu is not None else None)),
        Cell(text.number(step.errors)),
        Cell(text.percent(step.client_busy)),
    ]
    unjudged = "void" if step.void else "not judged"
    found = rows.outcome(judged) if judged else unjudged
    return [*cells, Cell(found, found)]


def audits_table(capacity: Capacity | None) -> Table | None:
    """One row for each load, one column for each audit; of very many loads, those that failed one.

    A page of a thousand loads would not stay small otherwise, and nobody reads so many ticks.
    """
    if capacity is None or not capacity.steps:
        return None
    names = list(dict.fromkeys(audit.name for judged in capacity.steps for audit in judged.audits))
    if not names:
        return None
    found = []
    for judged in _with_audits(capacity):
        results = {audit.name: audit.passed for audit in judged.audits}
        cells = [Cell(text.load(judged.load, capacity.axis))]
        for name in names:
            passed = results.get(name)
            kind = "failed" if passed is False else "passed" if passed else ""
            cells.append(Cell(MARKS[passed], kind))
        found.append(tuple(cells))
    columns = ("load", *(AUDIT_NAMES.get(name, name) for name in names))
    return Table(groups=(), columns=columns, rows=tuple(found))


def audit_details(capacity: Capacity | None) -> list[tuple[str, str, str, str]]:
    """Load, audit, mark and the figures that it compared; those that could not run are left out."""
    if capacity is None:
        return []
    return [
        (
            text.load(judged.load, capacity.axis),
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
    """How many loads the table of audits leaves out: none of theirs failed."""
    return 0 if capacity is None else len(capacity.steps) - len(_with_audits(capacity))
