"""The tables of a report: steps in the order in which they ran, audits, CSV, background loads."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from plimsoll import words
from plimsoll.capacity.credits import is_burst
from plimsoll.model.judging.capacity import Capacity, JudgedStep
from plimsoll.model.judging.steps import STATISTICS, Purpose, Statistic, Step, TargetFigures
from plimsoll.model.request.background import Background
from plimsoll.model.run.results import BackgroundResult, RunResult, StepResult
from plimsoll.report.charts import rows

AUDIT_NAMES = {
    "littles_law": "Little's law",
    "clients_ran": "clients ran",
    "enough_operations": "enough operations",
    "clock_skew": "clocks agree",
    "steady_state": "steady state",
    "percentiles": "percentiles in order",
    "server_count": "server counted the same",
    "rows_met": "rows were there",
    "writes_kept": "writes were committed",
    "undisturbed": "this machine undisturbed",
    "nothing_escaped": "no I/O bypassed the volume",
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
# figures begin with a digit, behind the sign of a bound, a prediction, a change or a currency
_FIGURE = re.compile(rf"$|{words.NOTHING}$|[~<>≤≥+$\u2212-]*\s?\d(?!\d{{3}}-\d\d)")
LOADS_MOST = 100  # with more loads, only failed audits are shown
MARKS = {True: "✓", False: "✕", None: words.NOTHING}


@dataclass(frozen=True)
class ReportCell:
    """A text, and its meaning for the style."""

    text: str
    kind: str = ""  # a CSS class: "over" (above a limit), "passed", "failed" ...


@dataclass(frozen=True)
class ReportTable:
    """A table for a page or a terminal."""

    columns: tuple[str, ...]
    rows: tuple[tuple[ReportCell, ...], ...]
    groups: tuple[tuple[str, int], ...] = ()  # a header row above: title and number of columns

    @property
    def in_words(self) -> tuple[bool, ...]:
        """Whether each column holds words, which are read from the left, and not only figures."""
        places = range(len(self.columns))
        return tuple(not all(_FIGURE.match(row[at].text) for row in self.rows) for at in places)


def make_steps_table(result: RunResult) -> ReportTable | None:
    """Build the table of steps: load, throughput, latency by operation, target, judgement."""
    if not result.steps:
        return None
    capacity = result.capacity
    names = rows.list_operations(capacity) or list_step_operations(result.steps)
    offered = any(done.plan.rate_ops_per_second is not None for done in result.steps)
    shown = rows.list_shown_statistics(capacity)
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
        *(words.name_statistic(statistic) for _ in names for statistic in shown),
        *("IOPS", "queue", "CPU"),
        *("errors", "busy"),
        "judged",
    ]
    return ReportTable(
        groups=tuple(groups),
        columns=tuple(columns),
        rows=tuple(tuple(_list_cells(done, capacity, names, offered)) for done in result.steps),
    )


def list_step_operations(steps: Sequence[StepResult]) -> list[str]:
    """List the operations of all steps, in the order of their first appearance."""
    return list(dict.fromkeys(name for done in steps for name in done.operations))


def find_judgement(capacity: Capacity | None, index: int) -> JudgedStep | None:
    """Return the judgement of the load of step `index`; None if it was not judged."""
    if capacity is None:
        return None
    for judged in capacity.steps:
        if any(step.index == index for step in judged.steps):
            return judged
    return None


def _list_cells(
    done: StepResult, capacity: Capacity | None, names: list[str], offered: bool
) -> list[ReportCell]:
    judged = find_judgement(capacity, done.plan.index)
    step = done.step
    cells = [ReportCell(str(done.plan.index))]
    if offered:
        cells.append(ReportCell(words.format_number(done.plan.rate_ops_per_second)))
    cells += [
        ReportCell(words.format_number(done.plan.clients)),
        ReportCell(words.format_number(done.plan.connections)),
        ReportCell(words.format_rate(step.throughput_ops_per_second), "strong"),
    ]
    for name in names:
        for statistic in rows.list_shown_statistics(capacity):
            value = step.latency_us.get(name, {}).get(statistic)
            limit = judged.limit_us.get(name) if judged else None
            is_judged = capacity is not None and capacity.statistic == statistic
            over = is_judged and value is not None and limit is not None and value > limit
            cells.append(ReportCell(words.format_latency(value), "over" if over else ""))
    cells += [ReportCell(figure) for figure in list_target_cells(done.target)]
    cells += [
        ReportCell(words.format_number(step.errors)),
        ReportCell(words.format_percent(step.client_busy)),
    ]
    if judged is None:
        outcome = describe_unjudged(step) or "not judged"
        return [*cells, ReportCell(outcome, outcome)]
    return [*cells, ReportCell(describe_judgement(judged), judged.outcome)]


def describe_judgement(judged: JudgedStep) -> str:
    """Say what became of a step's load: of several repetitions that differ, how many passed.

    The repetitions of a load are judged together, so the load of a step that exceeds a limit may
    pass.
    """
    if is_burst(judged):
        return "burst"
    if (
        judged.outcome in {"passed", "failed"}
        and 0 < judged.repetitions_passed < judged.repetitions
    ):
        return f"{judged.repetitions_passed} of {judged.repetitions} passed"
    return judged.outcome


def describe_unjudged(step: Step) -> str:
    """Say what an unjudged step was, void or a closing step; empty if it was judged."""
    if step.void or step.purpose is None:
        return "void" if step.void else ""
    return step.state or CLOSING_WORDS.get(step.purpose, "")


def list_target_cells(target: TargetFigures | None) -> tuple[str, str, str]:
    """Format IOPS (reads and writes together), the volume's queue, and CPU in whole percents."""
    if target is None:
        return (words.NOTHING,) * 3
    known = [iops for iops in (target.read_iops, target.write_iops) if iops is not None]
    cpu = None if target.cpu_percent is None else round(target.cpu_percent) / 100
    return (
        words.format_rate(sum(known) if known else None),
        words.format_rate(target.queue),
        words.format_percent(cpu),
    )


def make_audits_table(capacity: Capacity | None) -> ReportTable | None:
    """Build a table of audits, one row for each load and one column for each audit.

    With more than `LOADS_MOST` loads, only those that failed an audit are shown: the page stays
    small, and nobody reads so many ticks.
    """
    if capacity is None or not capacity.steps:
        return None
    names = list(dict.fromkeys(audit.name for judged in capacity.steps for audit in judged.audits))
    if not names:
        return None
    table = []
    for judged in _select_audited_loads(capacity):
        results = {audit.name: audit.passed for audit in judged.audits}
        cells = [ReportCell(words.format_load(judged.load, capacity.axis))]
        for name in names:
            passed = results.get(name)
            kind = "failed" if passed is False else "passed" if passed else ""
            cells.append(ReportCell(MARKS[passed], kind))
        table.append(tuple(cells))
    columns = ("load", *(AUDIT_NAMES.get(name, name) for name in names))
    return ReportTable(columns=columns, rows=tuple(table))


def list_audit_details(capacity: Capacity | None) -> list[tuple[str, str, str, str]]:
    """List load, audit, mark and figures of each audit, without those that could not run."""
    if capacity is None:
        return []
    return [
        (
            words.format_load(judged.load, capacity.axis),
            AUDIT_NAMES.get(audit.name, audit.name),
            MARKS[audit.passed],
            audit.detail,
        )
        for judged in _select_audited_loads(capacity)
        for audit in judged.audits
        if audit.passed is not None
    ]


def _select_audited_loads(capacity: Capacity) -> tuple[JudgedStep, ...]:
    if len(capacity.steps) <= LOADS_MOST:
        return capacity.steps
    return tuple(s for s in capacity.steps if any(audit.passed is False for audit in s.audits))


def count_left_out(capacity: Capacity | None) -> int:
    """Count the loads that the table of audits leaves out; none of them failed an audit."""
    return 0 if capacity is None else len(capacity.steps) - len(_select_audited_loads(capacity))


# CSV of steps: one row for each, units in the column names, empty if not known.


Value = str | int | float | None

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # OWASP, "CSV Injection"
_TARGET = (
    "read_iops",
    "write_iops",
    "read_mib_s",
    "write_mib_s",
    "queue",
    "cpu_percent",
    "burst_balance_percent",
)


def write_steps_csv(result: RunResult) -> str:
    """Write every step with every statistic, for spreadsheets; `plimsoll capacity DIR` reads it."""
    table = list_step_rows(result)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_escape_formula, table[0] if table else ["step"]))
    writer.writerows(map(_escape_formula, row.values()) for row in table)
    return out.getvalue()


def list_step_rows(result: RunResult) -> list[dict[str, Value]]:
    """Return a row for each step, all with the same columns; None if a value is not known."""
    operations = list_step_operations(result.steps)
    return [_make_row(result, done, operations) for done in result.steps]


def _escape_formula(value: Value) -> Value:
    """Mark text as text: spreadsheets read some first characters as the start of a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _make_row(result: RunResult, done: StepResult, operations: list[str]) -> dict[str, Value]:
    step, judged = done.step, find_judgement(result.capacity, done.plan.index)
    row: dict[str, Value] = {
        "step": done.plan.index,
        "clients": step.clients,
        "connections": step.connections,
        "rate_ops_per_second": step.rate_ops_per_second,
        "throughput_ops_per_second": step.throughput_ops_per_second,
        "operations": step.operations,
        "errors": step.errors,
        "window_s": step.window_s,
        "client_busy": step.client_busy,
    }
    for name in operations:
        for statistic in STATISTICS:
            row[f"{name}_{statistic}_us"] = step.latency_us.get(name, {}).get(statistic)
        row[f"{name}_operations"] = step.operation_counts.get(name)
    for field in _TARGET:
        row[field] = getattr(done.target, field) if done.target else None
    row["judged"] = judged.outcome if judged else None
    row["why"] = "; ".join(judged.explanations) if judged else None
    return row


# Background loads, which ran beside the measured workload, step by step.


def describe_schedule(background: Background) -> str:
    """Describe when a background load runs, in the time of each step."""
    lasts = words.format_duration(background.for_s)
    if background.every_s is not None:
        return f"every {words.format_duration(background.every_s)} of each step for {lasts}"
    if background.at_s is not None:
        return (
            f"once in each step, {words.format_duration(background.at_s)} after its start, for"
            f" {lasts}"
        )
    return "all the time"


def describe_backgrounds(result: RunResult) -> Iterator[str]:
    """Describe what each background load does and did: medians over the steps in which it ran."""
    statistic = result.request.limits.statistic
    for asked in result.request.background:
        ran = [
            one
            for step in result.steps
            for one in step.background
            if one.name == asked.name and one.throughput_ops_per_second is not None
        ]
        name = asked.workload.name or "its own workload"
        yield (
            f"background {asked.name}: {name},"
            f" {describe_schedule(asked)}{_describe_results(ran, statistic)}"
        )


def _describe_results(ran: list[BackgroundResult], statistic: Statistic) -> str:
    rates = [one.throughput_ops_per_second or 0.0 for one in ran]
    if not rates:
        return "; it ran in no step"
    told = words.name_statistic(statistic)
    parts = [f"{words.format_throughput(median(rates))} while it runs"]
    for name in dict.fromkeys(name for one in ran for name in one.operations):
        latencies = [
            us
            for one in ran
            if name in one.operations
            and (us := getattr(one.operations[name].latency_us, statistic)) is not None
        ]
        if latencies:
            parts.append(f"{name} {told} {words.format_latency(median(latencies))}")
    steps = words.format_count(len(ran), "step")
    return f"; {', '.join(parts)} (median of {steps}; no part of the answer)"


def make_background_table(result: RunResult) -> ReportTable | None:
    """Build a table of background loads by step and operation; None if there were none."""
    rows = [
        (
            ReportCell(str(step.plan.index)),
            ReportCell(one.name),
            ReportCell(name),
            ReportCell(words.format_duration(one.ran_s)),
            ReportCell(words.format_rate(totals.succeeded / one.ran_s if one.ran_s else None)),
            ReportCell(words.format_rate(totals.records / one.ran_s if one.ran_s else None)),
            ReportCell(words.format_latency(totals.latency_us.mean)),
            ReportCell(words.format_latency(totals.latency_us.p50)),
            ReportCell(words.format_latency(totals.latency_us.p99)),
            ReportCell(words.format_number(sum(totals.errors.values()))),
        )
        for step in result.steps
        for one in step.background
        for name, totals in one.operations.items()
    ]
    columns = ("step", "background", "operation", "ran", "ops/s", "records/s", "mean", "p50", "p99")
    return ReportTable(columns=(*columns, "errors"), rows=tuple(rows)) if rows else None
