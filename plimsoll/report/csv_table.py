"""The steps of a run as CSV: one row for each step, units in the names, empty where not known."""

import csv
import io

from plimsoll.model.results import RunResult, StepResult
from plimsoll.model.steps import STATISTICS
from plimsoll.report import report_tables, rows

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


def steps_csv(result: RunResult) -> str:
    """Write every step with every statistic, for spreadsheets; `plimsoll capacity DIR` judges."""
    table = step_rows(result)
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(map(_no_formula, table[0] if table else ["step"]))
    writer.writerows(map(_no_formula, row.values()) for row in table)
    return out.getvalue()


def step_rows(result: RunResult) -> list[dict[str, Value]]:
    """Give a row for each step, all with the same columns; None where something is not known."""
    operations = report_tables.operations_of(result.steps)
    return [_row(result, done, operations) for done in result.steps]


def _no_formula(value: Value) -> Value:
    """Have spreadsheets take text for text: some begin a formula with these characters."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _row(result: RunResult, done: StepResult, operations: list[str]) -> dict[str, Value]:
    step, judged = done.step, report_tables.judged_step(result.capacity, done.plan.index)
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
    row["judged"] = rows.outcome(judged) if judged else None
    row["why"] = "; ".join(judged.explanations) if judged else None
    return row
