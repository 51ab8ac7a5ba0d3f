"""The verdict on steps that were measured elsewhere or before."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, get_args

from plimsoll.capacity.readers import Reading, read_values
from plimsoll.capacity.readers.tables import Judging, check_units, judge_table, read_table
from plimsoll.complaints import Complaint, Range
from plimsoll.errors import UsageError
from plimsoll.library.arguments import translate_errors
from plimsoll.load_line.options import Limits, check_name, parse_limits_us, read_option_number
from plimsoll.model.judging.capacity import AuditName, Capacity
from plimsoll.model.judging.steps import STATISTICS, Statistic, Step
from plimsoll.requests.step_files import read_steps


def judge(
    steps: Any,
    *,
    limits: Limits = None,
    deterioration: float | None = None,
    statistic: Statistic | None = None,
    connections_per_client: int | None = None,
    audits_off: Collection[AuditName] = (),
) -> Capacity:
    """Judge finished steps of any load generator: what is the highest throughput sustained?

    Args:
        steps: Rows, one per step, as mappings or as a data frame of pandas or polars; or
            files that `plimsoll capacity` reads (tables, outputs of YCSB, sysbench, pgbench, wrk2,
            k6 ...), one path or several; or several results of `load`. The columns of rows:
            `clients`, `connections`, `rate_ops_per_second`, `throughput_ops_per_second`,
            `operations`, `errors`, `window_s`, `client_busy`,
            `latency_us.<operation>[.<statistic>]`, `share.<operation>`; unknown ones are left out.
        limits: The latency limits: `"5ms"` for all operations, or by name; a number is in
            microseconds. An operation without a limit may take `deterioration` times its latency
            under the lightest load.
        deterioration: That factor, above 1; None for 3.
        statistic: The latency statistic to judge; None for p99, else the highest available one.
        connections_per_client: The connections of a client, if no row says it; Little's law needs
            the number.
        audits_off: The names of audits that are skipped.

    Raises:
        UsageError: A row, a file or an argument is not valid.

    >>> import plimsoll
    >>> rows = [{"connections": n, "throughput_ops_per_second": x, "latency_us.read.p99": us}
    ...         for n, x, us in [(1, 980, 1100), (2, 1900, 1300), (4, 3500, 1900), (8, 3600, 9000)]]
    >>> capacity = plimsoll.judge(rows, limits={"read": "5ms"})
    >>> capacity.verdict, capacity.max_sustainable_throughput_ops_per_second, capacity.bracket
    ('KNEE', 3500.0, (4.0, 8.0))
    >>> print(capacity.summary)
    sustains 3,500 ops/s at 4 connections; at 8 it does not: read took 9.00 ms, limit 5.00 ms
    """
    with translate_errors():
        if statistic is not None:
            check_name(statistic, STATISTICS, "statistic")
        for audit in audits_off:
            check_name(audit, get_args(AuditName), "audits_off")
        checked = "littles_law" not in audits_off
        read, told = _read_steps(
            _list_rows(steps), statistic or "mean", units_by_littles_law=checked
        )
        judging = Judging(
            limits_us=parse_limits_us(limits, {name for step in read for name in step.latency_us}),
            deterioration=None
            if deterioration is None
            else read_option_number(deterioration, "deterioration", Range(1, 1000, open=True)),
            statistic=statistic,
            connections_per_client=None
            if connections_per_client is None
            else round(
                read_option_number(
                    connections_per_client, "connections_per_client", Range(1, 1e6), whole=True
                )
            ),
            audits_off=frozenset(audits_off),
        )
        return judge_table(read, told, judging)


def _read_steps(
    rows: Sequence[Any], unnamed: Statistic, *, units_by_littles_law: bool
) -> tuple[list[Step], list[str]]:
    """Read rows, paths or loads as steps, with notes for the reader."""
    if rows and all(isinstance(row, str | PathLike) for row in rows):
        return read_steps(
            [Path(row) for row in rows],
            unnamed=unnamed,
            connections=(),
            rates=(),
            units_by_littles_law=units_by_littles_law,
        )
    if rows and all(hasattr(row, "as_json") for row in rows):  # results of `load`
        readings = [read_values(row.as_json(), f"load {n}") for n, row in enumerate(rows, 1)]
        return [one.step for one in readings if isinstance(one, Reading)], []
    read = read_table(rows, "steps", unnamed)
    check_units(read, by_littles_law=units_by_littles_law)
    return read, []


def _list_rows(steps: Any) -> list[Any]:
    """Turn rows, paths or a data frame into a list.

    Raises:
        UsageError: The value is none of these.
    """
    if isinstance(steps, str | PathLike):
        return [steps]
    if hasattr(steps, "to_dicts"):  # polars
        return list(steps.to_dicts())
    if hasattr(steps, "to_dict") and hasattr(steps, "columns"):  # pandas
        frame = steps.astype(object).where(steps.notna(), None)  # NaN becomes None
        return list(frame.to_dict("records"))
    if isinstance(steps, Mapping) or not isinstance(steps, Iterable):
        problem = "must be rows, a data frame or paths of files"
        raise UsageError(Complaint(("steps",), problem))
    return [dict(row) if isinstance(row, Mapping) else row for row in steps]
