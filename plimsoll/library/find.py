"""The search for a database's load line, for programs."""

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
    database,
    known,
    limits_of,
    number,
    plimsoll_errors,
    require_count,
    workload_named,
)
from plimsoll.library.load import Callback, Progress, rows_made, shows_of
from plimsoll.library.results import Result
from plimsoll.load_line import dataset
from plimsoll.load_line.clients import INTERRUPTED, ended_by_signals
from plimsoll.load_line.dataset import Found, Made
from plimsoll.load_line.options import SearchOptions, StopRule, asked_request
from plimsoll.load_line.outcome import searched
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
    """Find the load line of a database: the most that it sustains within limits of latency.

    It loads the database, for minutes. An interrupt (Ctrl-C, a notebook's stop button, or a
    `progress` that raises KeyboardInterrupt) ends the load at once and gives the answer so far:
    `result.failure.cause` is `interrupted` then. A second one raises KeyboardInterrupt, and so does
    one that comes while rows are made.

    Args:
        dsn: `mysql://USER:PASSWORD@HOST:PORT/DATABASE` or the like (docs/finding.md).
        workload: A built-in one by name, or the path of a YAML file.
        limits: The most that operations may take: `"5ms"` for all, or by name,
            `{"read": "5ms", "update": 20_000}`; a number is in microseconds. None: 3 times their
            latency under the lightest load.
        statistic: Of the latency, which the limits are for.
        records: Of the dataset; None: those that are there, or with `prepare` the workload's own.
        parameters: The workload's, for those that are not to have their defaults.
        prepare: Make the workload's tables and rows where they are not there. Tables that Plimsoll
            did not make are never touched.
        drop: Drop them at the end.
        allow_writes: Let the workload change rows that Plimsoll did not make.
        strategy: `ramp`: more and more connections, each waits for its answers. `rate`: operations
            fall due faster and faster, answered or not.
        max_connections: Never more at once, 1 to 20,000.
        max_rate: `rate`: the highest one that is tried. `ramp`: a second with more ends the load.
        stop_if: What ends the load at once, looked at each second: `"p99 > 200ms"`, `"errors"`.
        warmup_s: Before each window, 0 to 600; None: 1.
        duration_s: Of each window, 0.001 to 600; None: 5, or 2 if `quick`.
        warm_s: Load before the first step, which fills the caches, 0 to 600.
        time_limit_s: No further step after that, 10 to 86,400.
        quick: Shorter windows, wider steps, fewer repetitions: under a minute, and less sure.
        password: Where the DSN has none; None: from the variable PLIMSOLL_PASSWORD.
        progress: Called with what happens, between steps: `print` shows it.

    Raises:
        UsageError: An argument cannot be, or the rows are not there.
        PlimsollError: The database cannot be reached or refuses, or nothing could be measured.
    """
    with plimsoll_errors():
        known(statistic, STATISTICS, "statistic")
        require_count(records)
        options = _checked(
            SearchOptions(
                strategy=known(strategy, ("ramp", "rate"), "strategy"),
                max_connections=max_connections,
                max_rate=max_rate,
                warmup_s=warmup_s,
                duration_s=duration_s,
                warm_s=warm_s,
                time_limit_s=time_limit_s,
                quick=quick,
            )
        )
        target = database(dsn, password)
        chosen, built_in = workload_named(workload)
        found = dataset.look(target, chosen, records, parameters or {})
        operations = [operation.name for operation in found.compiled.engine.operations]
        rules = Rules(limits_us=limits_of(limits, operations), statistic=statistic)
        stops = [
            replace(StopRule.parse(rule, operations), text=f"stop_if {rule!r}")
            for rule in ([stop_if] if isinstance(stop_if, str) else stop_if)
        ]
        if strategy == "ramp" and max_rate is not None:
            stops.append(replace(StopRule.of_rate(max_rate), text=f"max_rate {max_rate:g}"))

        def ask(there: Found) -> Finder:
            engine = engine_of(dsn)
            request = asked_request(
                options, engine, target, there, chosen, built_in=built_in, rules=rules
            )
            return Finder(
                request=request,
                target=target,
                compiled=there.compiled,
                load_number=lambda reached: dataset.load_number(reached, there),
                stop_rules=stops,
            )

        ask(found)  # what cannot be is refused before rows are made
        to_drop = drop and found.note is None  # else what is refused stays as it was
        try:
            made = Made()
            if dataset.needs_no_rows(found, records=records, prepare=prepare):
                dataset.require_place(target, found)
                dataset.require_harmless(found, allow_writes=allow_writes)
            else:
                made = _made(target, found, progress, prepare=prepare)
                found = dataset.look(target, chosen, found.compiled.records, found.given)
            to_drop = drop
            result = _searched(ask(found), found, made, progress)
        except BaseException:
            if to_drop:
                with suppress(PlimsollError):  # what went wrong first is what is told
                    dataset.drop(target, found)
            raise
        if to_drop:
            try:
                dataset.drop(target, found)
            except PlimsollError as error:  # the answer is not lost with it
                result = result.model_copy(
                    update={"notes": (*result.notes, f"the dataset was not dropped: {error}")}
                )
        return result


def _checked(options: SearchOptions) -> SearchOptions:
    """Refuse numbers that are out of range."""
    for name in (field.name for field in fields(options) if field.name in _RANGES):
        value = getattr(options, name)
        if value is not None:
            number(value, name, _RANGES[name], whole=name in _WHOLE)
    return options


def _made(target: EngineTarget, found: Found, progress: Callback, *, prepare: bool) -> Made:
    """Make the rows, where that is asked for."""
    if not prepare:
        dataset.require_nothing_begun(found)
        raise dataset.lacking_rows(found, target)
    prepared = rows_made(target, found.compiled, progress)
    progress(Progress("waiting until the server has worked off the loading"))
    return dataset.settled(target, prepared)


def _searched(finder: Finder, found: Found, made: Made, progress: Callback) -> Result:
    finder.shows = shows_of(finder, progress)
    with ended_by_signals(lambda: finder.end(INTERRUPTED), (signal.SIGINT,)):
        result, seconds = searched(finder, server=found.server, rows=made.rows, notes=made.notes)
    if result.capacity is None and result.failure is not None and finder.cut_short is None:
        raise PlimsollError(result.failure.cause)
    return Result.of(result, seconds)
