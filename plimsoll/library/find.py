"""The search for a database's load line, as programs call it."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from plimsoll.complaints import Scalar
from plimsoll.databases.prepare import Prepared
from plimsoll.errors import PlimsollError
from plimsoll.library.arguments import (
    WorkloadName,
    load_named_workload,
    parse_database,
    take_options,
    translate_errors,
)
from plimsoll.library.load import Callback, Progress, make_rows
from plimsoll.library.results import Result
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.find import Asked
from plimsoll.load_line.find import find as find_load_line
from plimsoll.load_line.options import FindOptions, PrepareOptions
from plimsoll.load_line.search_loop import Finder, Shows
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import RunResult, Seconds, StepResult
from plimsoll.report.words import announce_plan, describe_finished_step
from plimsoll.workload import Compiled


@take_options(FindOptions)
def find(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = lambda _: None,
    **options: Any,
) -> Result:
    """Find a database's load line: the highest throughput that it sustains within latency limits.

    It loads the database for minutes. An interrupt (Ctrl-C, a notebook's stop button, or a
    `progress` that raises KeyboardInterrupt) ends the load at once and returns the answer so far,
    with `interrupted` in `result.failure.cause`. A second interrupt raises KeyboardInterrupt, and
    so does one that comes while rows are made.

    Args:
        dsn: `mysql://USER:PASSWORD@HOST:PORT/DATABASE` or the like (docs/finding.md).
        workload: The name of a built-in workload, or the path of a YAML file.
        parameters: The workload parameters that differ from their defaults.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called with what happens, between steps; `print` shows it.
        **options: The fields of `FindOptions`.

    Raises:
        UsageError: An argument is not valid, or the rows do not exist.
        PlimsollError: The database is unreachable or refuses, or nothing could be measured.
    """
    with translate_errors():
        chosen = FindOptions(**options)
        target = parse_database(dsn, password)
        name, loaded = load_named_workload(workload)
        asked = Asked(
            dsn=dsn,
            target=target,
            workload_name=name,
            workload=loaded,
            parameters=parameters or {},
            options=chosen,
        )
        outcome = find_load_line(asked, _Program(progress))
        result = outcome.result
        if result.capacity is None and result.failure is not None and outcome.cut_short is None:
            raise PlimsollError(result.failure.cause)
        if outcome.not_dropped is not None:
            note = f"the dataset was not dropped: {outcome.not_dropped}"
            result = result.model_copy(update={"notes": (*result.notes, note)})
        return Result.of(result, outcome.seconds)


@dataclass(frozen=True)
class _Program:
    """A program as the caller of a search: it is told of everything through one callback."""

    progress: Callback

    def say(self, text: str) -> None:
        self.progress(Progress(text))

    def may_make_rows(self, _: str) -> bool:
        return False

    def make_rows(self, target: EngineTarget, compiled: Compiled) -> Prepared:
        return make_rows(target, compiled, self.progress, PrepareOptions())

    @contextmanager
    def follow(self, finder: Finder) -> Iterator[Shows]:
        """Pass a finder's events to the callback; if it raises KeyboardInterrupt, that ends it."""

        def tell(happened: Progress) -> None:
            try:
                self.progress(happened)
            except KeyboardInterrupt:
                finder.end(INTERRUPTED)

        def plan(plan: StepPlan) -> None:
            tell(Progress(announce_plan(plan), step=plan.index, plan=plan))

        def finish(step: StepResult) -> None:
            number, statistic = step.plan.index, finder.request.limits.statistic
            text = f"step {number}: {describe_finished_step(step, statistic)}"
            tell(Progress(text, step=number, result=step))
            for problem in step.problems:
                tell(Progress(f"step {number}: {problem}", step=number))

        with end_on_signals(lambda: finder.end(INTERRUPTED), (signal.SIGINT,)):
            yield Shows(say=lambda text: tell(Progress(text)), planned=plan, finished=finish)

    def keep(self, result: RunResult, seconds: Seconds) -> None:
        """Keep nothing: the program is given the result."""
