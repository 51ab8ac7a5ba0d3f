"""`plimsoll load --json`: the result of one client, with all figures that audits need."""

from collections.abc import Iterable, Sequence
from statistics import median

from pydantic import ValidationError

from plimsoll.capacity.readers.reading import Reading, find_number, find_value
from plimsoll.errors import UsageError
from plimsoll.model.engine.answered import LoadReport, SecondReport
from plimsoll.model.judging.steps import STATISTICS, Half, Step
from plimsoll.model.run.results import split_known_rows
from plimsoll.model.validation import describe_first_error, read_foreign_value


def is_plimsoll_load(value: object) -> bool:
    """Return whether a value is what `plimsoll load --json` prints."""
    return isinstance(value, dict) and isinstance(value.get("report"), dict) and "load" in value


def read_plimsoll_load(value: object, name: str) -> Reading:
    """Read what `plimsoll load --json` printed.

    Raises:
        UsageError: A field of its report is missing or wrong, or nothing was measured.
    """
    try:
        report = read_foreign_value(LoadReport, find_value(value, "report", name))
    except ValidationError as error:
        what = describe_first_error(error, within=("report",))
        raise UsageError(f"{name}: {what}") from None
    if not report.window_s:
        raise UsageError(f"{name}: report.window_s is 0: nothing was measured")
    if report.ended == "cancelled":
        raise UsageError(f"{name}: report.ended is 'cancelled': not the whole load")
    counts = {operation: totals.succeeded for operation, totals in report.operations.items()}
    succeeded = sum(counts.values())
    latency = {
        operation: totals.latency_us.model_dump() for operation, totals in report.operations.items()
    }
    meant, missing = split_known_rows(report.operations)
    late_us = report.client.send_lateness_us
    busy = report.client.busy_fraction
    warmup_s = find_number(value, "load.warmup_s", name) or 0.0
    step = Step(
        source=name,
        clients=1,
        connections=report.connections,
        rate_ops_per_second=report.rate_ops_per_second,
        throughput_ops_per_second=succeeded / report.window_s,
        operations=succeeded,
        errors=sum(sum(totals.errors.values()) for totals in report.operations.values()),
        window_s=report.window_s,
        latency_us={
            operation: {s: values[s] for s in STATISTICS if values[s]}
            for operation, values in latency.items()
            if any(values.values())
        },
        shares={o: count / succeeded for o, count in counts.items() if succeeded},
        operation_counts=counts,
        rows_meant=meant,
        rows_missing=missing,
        written_back=report.read_back.written if report.read_back else None,
        read_back=report.read_back.kept if report.read_back else None,
        clients_ran=1,
        client_busy=None if busy is None else min(busy, 1.0),
        send_lateness_us=late_us.p99 if late_us else None,
        backlog_end=report.client.backlog_end,
        halves=_split_halves(report.seconds, warmup_s, warmup_s + report.window_s),
    )
    return Reading(step)


def _split_halves(
    seconds: Sequence[SecondReport], start_s: float, end_s: float
) -> tuple[Half, Half] | None:
    """Return the two halves of the window, from equally many whole seconds."""
    whole = sorted({s.second for s in seconds if start_s <= s.second and s.second + 1 <= end_s})
    length = len(whole) // 2
    if not length:
        return None
    first, second = set(whole[:length]), set(whole[len(whole) - length :])
    return (
        _make_half([s for s in seconds if s.second in first], length),
        _make_half([s for s in seconds if s.second in second], length),
    )


def _make_half(seconds: Iterable[SecondReport], length_s: int) -> Half:
    rows = list(seconds)
    p99s: dict[str, list[int]] = {}
    for row in rows:
        if row.p99_us is not None:
            p99s.setdefault(row.operation, []).append(row.p99_us)
    return Half(
        throughput_ops_per_second=sum(row.succeeded for row in rows) / length_s,
        latency_us={operation: median(values) for operation, values in p99s.items()},
    )
