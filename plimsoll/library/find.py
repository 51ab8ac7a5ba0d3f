"""The search for a database's load line, as programs call it."""

import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import Literal

from plimsoll.complaints import Range, Scalar
from plimsoll.errors import PlimsollError
from plimsoll.library.arguments import (
    Limits,
    WorkloadName,
    check_name,
    load_named_workload,
    number,
    parse_database,
    parse_limits,
    require_count,
    translate_errors,
)
from plimsoll.library.load import Callback, Progress, make_rows, report_to_callback
from plimsoll.library.results import Result
from plimsoll.load_line import dataset
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.dataset import Found, Made
from plimsoll.load_line.options import SearchOptions, StopRule, write_search_request
from plimsoll.load_line.outcome import search_and_judge
from plimsoll.load_line.search_loop import Finder
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import STATISTICS, Statistic
from plimsoll.model.request.dsn import engine_of

_RANGES = {
    "max_connections": Range(1, 20_000),
    "max_rate": Range(0, 10_000_000, open=True),
    "warmup_s": Range(0, 600),
    "duration_s": Range(0.001, 600),
    "warm_s": Range(0, 600),
    "time_limit_s": Range(10, 86_400),
}
_WHOLE = {"max_connections", "time_limit_s"}


def find(
    dsn: str,
    *,
    workload: WorkloadName,
    limits: Limits = None,
    statistic: Statistic = "p99",
    records: int | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    prepare: bool = False,
    drop: bool = False,
    allow_writes: bool = False,
    strategy: Literal["ramp", "rate"] = "ramp",
    max_connections: int = 256,
    max_rate: float | None = None,
    stop_if: str | Sequence[str] = (),
    warmup_s: float | None = None,
    duration_s: float | None = None,
    warm_s: float = 5.0,
    time_limit_s: int = 900,
    quick: bool = False,
    password: str | None = None,
    progress: Callback = lambda _: None,
) -> Result:
    """Find a database's load line: the highest throughput that it sustains within latency limits.

    It loads the database for minutes. An interrupt (Ctrl-C, a notebook's stop button, or a
    `progress` that raises KeyboardInterrupt) ends the load at once and returns the answer so far,
    with `interrupted` in `result.failure.cause`. A second interrupt raises KeyboardInterrupt, and
    so does one that comes while rows are made.

    Args:
        dsn: `mysql://USER:PASSWORD@HOST:PORT/DATABASE` or the like (docs/finding.md).
        workload: The name of a built-in workload, or the path of a YAML file.
        limits: The latency limits: `"5ms"` for all operations, or by name,
            `{"read": "5ms", "update": 20_000}`; a number is in microseconds. None for 3 times the
            latency under the lightest load.
        statistic: The latency statistic that the limits apply to.
        records: The number of records of the dataset; None for the existing ones, or with `prepare`
            for the workload's default.
        parameters: The workload parameters that differ from their defaults.
        prepare: Whether to make the workload's tables and rows if they do not exist. Tables that
            Plimsoll did not make are never touched.
        drop: Whether to drop them at the end.
        allow_writes: Whether the workload may change rows that Plimsoll did not make.
        strategy: `ramp` raises the number of connections, each waiting for its replies (closed
            loop). `rate` raises the rate at which operations fall due (open loop).
        max_connections: The highest number of connections, 1 to 20,000.
        max_rate: With `rate`, the highest rate to try, in operations per second. With `ramp`, a
            second with more operations ends the load.
        stop_if: Conditions that end the load at once, checked each second: `"p99 > 200ms"`,
            `"errors"`.
        warmup_s: The warm-up before each window, 0 to 600; None for 1.
        duration_s: The length of each window, 0.001 to 600; None for 5, or for 2 if `quick`.
        warm_s: The load before the first step, which fills the caches, 0 to 600.
        time_limit_s: The time after which no further step begins, 10 to 86,400.
        quick: Whether to use shorter windows, wider steps and fewer repetitions: it takes less
            than a minute and is less certain.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called with what happens, between steps; `print` shows it.

    Raises:
        UsageError: An argument is not valid, or the rows do not exist.
        PlimsollError: The database is unreachable or refuses, or nothing could be measured.
    """
    with translate_errors():
        check_name(statistic, STATISTICS, "statistic")
        require_count(records)
        options = _check_ranges(
            SearchOptions(
                strategy=check_name(strategy, ("ramp", "rate"), "strategy"),
                max_connections=max_connections,
                max_rate=max_rate,
                warmup_s=warmup_s,
                duration_s=duration_s,
                warm_s=warm_s,
                time_limit_s=time_limit_s,
                quick=quick,
            )
        )
        target = parse_database(dsn, password)
        chosen, built_in = load_named_workload(workload)
        found = dataset.look(target, chosen, records, parameters or {})
        operations = [operation.name for operation in found.compiled.engine.operations]
        rules = Rules(limits_us=parse_limits(limits, operations), statistic=statistic)
        stops = [
            replace(StopRule.parse(rule, operations), text=f"stop_if {rule!r}")
            for rule in ([stop_if] if isinstance(stop_if, str) else stop_if)
        ]
        if strategy == "ramp" and max_rate is not None:
            stops.append(replace(StopRule.of_rate(max_rate), text=f"max_rate {max_rate:g}"))

        def ask(there: Found) -> Finder:
            engine = engine_of(dsn)
            request = write_search_request(
                options, engine, target, there, chosen, built_in=built_in, rules=rules
            )
            return Finder(
                request=request,
                target=target,
                compiled=there.compiled,
                load_number=lambda reached: dataset.reserve_load_number(reached, there),
                stop_rules=stops,
            )

        ask(found)  # refuse invalid options before any row is made
        to_drop = drop and found.note is None  # a refusal must not drop an existing dataset
        try:
            made = Made()
            if dataset.is_ready_to_search(found, records=records, prepare=prepare):
                dataset.require_place(target, found)
                dataset.require_harmless(found, allow_writes=allow_writes)
            else:
                made = _make_rows(target, found, progress, prepare=prepare)
                found = dataset.look(target, chosen, found.compiled.records, found.given)
            to_drop = drop
            result = _run_search(ask(found), found, made, progress)
        except BaseException:
            if to_drop:
                with suppress(PlimsollError):  # report the first error, not this one
                    dataset.drop(target, found)
            raise
        if to_drop:
            try:
                dataset.drop(target, found)
            except PlimsollError as error:  # keep the answer
                result = result.model_copy(
                    update={"notes": (*result.notes, f"the dataset was not dropped: {error}")}
                )
        return result


def _check_ranges(options: SearchOptions) -> SearchOptions:
    """Refuse numbers that are out of range."""
    for name in (field.name for field in fields(options) if field.name in _RANGES):
        value = getattr(options, name)
        if value is not None:
            number(value, name, _RANGES[name], whole=name in _WHOLE)
    return options


def _make_rows(target: EngineTarget, found: Found, progress: Callback, *, prepare: bool) -> Made:
    """Make the rows if that is asked for; refuse to search without them."""
    if not prepare:
        dataset.require_no_partial_dataset(found)
        raise dataset.missing_rows_error(found, target)
    prepared = make_rows(target, found.compiled, progress)
    progress(Progress("waiting until the server has worked off the loading"))
    return dataset.wait_until_settled(target, prepared)


def _run_search(finder: Finder, found: Found, made: Made, progress: Callback) -> Result:
    finder.shows = report_to_callback(finder, progress)
    with end_on_signals(lambda: finder.end(INTERRUPTED), (signal.SIGINT,)):
        result, seconds = search_and_judge(
            finder, server=found.server, rows=made.rows, notes=made.notes
        )
    if result.capacity is None and result.failure is not None and finder.cut_short is None:
        raise PlimsollError(result.failure.cause)
    return Result.of(result, seconds)
