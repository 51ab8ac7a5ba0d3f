"""One load on a database, and what it measured."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import plimsoll_engine
from plimsoll import words
from plimsoll.complaints import Complaint, Range, Scalar
from plimsoll.databases.prepare import Prepared
from plimsoll.databases.prepare import prepare as prepare_rows
from plimsoll.errors import UsageError
from plimsoll.library.arguments import (
    WorkloadName,
    database,
    known,
    number,
    plimsoll_errors,
    require_count,
    workload_named,
)
from plimsoll.library.results import Frames, frame_of
from plimsoll.load_line.clients import INTERRUPTED, cancelled_by_interrupt
from plimsoll.load_line.dataset import CONNECTIONS
from plimsoll.load_line.load import Loaded, a_seed, loadable, run_load
from plimsoll.load_line.machine import poll_us_here, threads_here
from plimsoll.load_line.search_loop import Finder, Shows
from plimsoll.model.engine.asked import POLL_MOST_US, ClosedLoop, EngineTarget, LoadSpec, OpenLoop
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.report.words import finished_words, planned_words
from plimsoll.workload import Compiled

# What a search tells a program while it goes on.


@dataclass(frozen=True)
class Progress:
    """Something that has happened in a search; `print` shows its text.

    Attributes:
        text: In one line, for people.
        step: The number of the step that it is about, from 1; 0: warming; None: no step.
        plan: The step, where it begins; else None.
        result: The step, where it has ended; else None.
    """

    text: str
    step: int | None = None
    plan: StepPlan | None = None
    result: StepResult | None = None

    def __str__(self) -> str:
        """Give its text."""
        return self.text


Callback = Callable[[Progress], object]


def shows_of(finder: Finder, progress: Callback) -> Shows:
    """Have a finder tell a program; one that raises KeyboardInterrupt ends the search."""

    def tell(happened: Progress) -> None:
        try:
            progress(happened)
        except KeyboardInterrupt:
            finder.end(INTERRUPTED)

    def ended(step: StepResult) -> None:
        text = finished_words(step, finder.request.limits.statistic)
        number = step.plan.index
        tell(Progress(f"step {number}: {text}", step=number, result=step))
        for problem in step.problems:
            tell(Progress(f"step {number}: {problem}", step=number))

    return Shows(
        say=lambda text: tell(Progress(text)),
        planned=lambda plan: tell(Progress(planned_words(plan), step=plan.index, plan=plan)),
        finished=ended,
    )


@dataclass(frozen=True)
class LoadResult(Loaded):
    """What one load has measured; `report` has all of it, `judge` takes several."""

    @property
    def throughput_ops_per_second(self) -> float | None:
        """Successful operations in the window / its length; None: it had no window."""
        window_s = self.report.window_s
        done = sum(operation.succeeded for operation in self.report.operations.values())
        return done / window_s if window_s else None

    @property
    def latency_us(self) -> dict[str, dict[str, float | None]]:
        """By operation and statistic (mean, p50, p95, p99, p999, max), in microseconds."""
        operations = self.report.operations.items()
        return {name: operation.latency_us.model_dump() for name, operation in operations}

    def to_json(self) -> str:
        """Write it as `plimsoll load --json` does."""
        return json.dumps(self.as_json(), indent=2)

    def to_frame(self, *, library: Frames | None = None) -> Any:
        """Give a data frame of pandas or polars with a row for each operation.

        Args:
            library: None: pandas if it is installed, else polars.

        Raises:
            MissingToolError: It is not installed.
        """
        rows = [
            {
                "operation": name,
                "succeeded": one.succeeded,
                "errors": sum(one.errors.values()),
                **{f"{key}_us": value for key, value in self.latency_us[name].items()},
            }
            for name, one in self.report.operations.items()
        ]
        with plimsoll_errors():
            return frame_of(rows, library)

    def __str__(self) -> str:
        """Give its figures in one line."""
        parts = [words.throughput(self.throughput_ops_per_second)]
        for name, latencies in sorted(self.latency_us.items()):
            parts.append(f"{name} p99 {words.latency(latencies['p99'])}")
        return "; ".join(parts)


def load(
    dsn: str,
    *,
    workload: WorkloadName,
    connections: int = 8,
    threads: int | None = None,
    poll_us: int | None = None,
    rate: float | None = None,
    arrivals: Literal["constant", "poisson"] | None = None,
    warmup_s: float = 5.0,
    duration_s: float = 30.0,
    operations_most: int | None = None,
    timeout_ms: int = 60_000,
    seed: int | None = None,
    records: int | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = lambda _: None,
) -> LoadResult:
    """Load a database once and measure it. An interrupt gives what was measured until then.

    Args:
        dsn: The database, as of `find`.
        workload: A built-in one by name, or the path of a YAML file.
        connections: At once, 1 to 20,000.
        threads: That send, 1 to 64; None: 2 where the database is on this machine and there is no
            rate, else 1.
        poll_us: For how long to look for answers before sleeping, 0 to 1,000 microseconds, where
            that pays; None: 500 where the database is elsewhere and a processor is left, else 0.
        rate: Operations fall due at so many per second, and latency counts from the due time;
            None: each connection sends when its last operation is answered.
        arrivals: With a rate: how the due times are spread; None: constantly.
        warmup_s: Load before the window, 0 to 86,400.
        duration_s: Of the window, 0.001 to 86,400.
        operations_most: It ends earlier after so many; None: it does not.
        timeout_ms: After which an operation counts as failed, 1 to 300,000.
        seed: Equal seeds give equal sequences of operations; None: a new one.
        records: Of the dataset; None: as `prepare` has made it.
        parameters: The workload's, for those that are not to have their defaults.
        password: Where the DSN has none; None: from the variable PLIMSOLL_PASSWORD.
        progress: Called each second.

    Raises:
        UsageError: An argument cannot be.
        PlimsollError: The database refuses, or has no such rows.
    """
    with plimsoll_errors():
        number(duration_s, "duration_s", Range(0.001, 86_400))
        require_count(records)
        number(warmup_s, "warmup_s", Range(0, 86_400))
        number(timeout_ms, "timeout_ms", Range(1, 300_000), whole=True)
        number(connections, "connections", Range(1, 20_000), whole=True)
        if threads is not None:
            number(threads, "threads", Range(1, 64), whole=True)
        if poll_us is not None:
            number(poll_us, "poll_us", Range(0, POLL_MOST_US), whole=True)
        if operations_most is not None:
            number(operations_most, "operations_most", Range(1, 2**53), whole=True)
        if arrivals is not None:
            known(arrivals, ("constant", "poisson"), "arrivals")
            if rate is None:
                raise UsageError(Complaint(("arrivals",), "goes with a rate (an open loop) only"))
        loop: ClosedLoop | OpenLoop = ClosedLoop()
        if rate is not None:
            number(rate, "rate", Range(0, 10_000_000, open=True))
            loop = OpenLoop(rate_ops_per_second=rate, arrivals=arrivals or "constant")
        target = database(dsn, password)
        chosen, _ = workload_named(workload)
        there = loadable(target, chosen, records, parameters or {})
        threads = threads or threads_here(target, connections, rate)
        spec = LoadSpec(
            target=target,
            workload=there.sent,
            connections=connections,
            threads=threads,
            poll_us=poll_us_here(target, threads) if poll_us is None else poll_us,
            loop=loop,
            warmup_s=warmup_s,
            duration_s=duration_s,
            operations_limit=operations_most,
            timeout_ms=timeout_ms,
            seed=a_seed() if seed is None else seed,
        )
        token = plimsoll_engine.CancelToken()

        def on_second(text: str) -> None:
            second = json.loads(text)
            done = sum(operation["succeeded"] for operation in second)
            happened = f"second {second[0]['second'] + 1}: {words.throughput(done)}"
            try:
                progress(Progress(happened))
            except KeyboardInterrupt:
                token.cancel()

        return LoadResult(there, spec, run_load(spec, on_second, token))


# The rows that a workload runs on.


def prepare(
    dsn: str,
    *,
    workload: WorkloadName,
    records: int | None = None,
    parameters: Mapping[str, Scalar] | None = None,
    connections: int = CONNECTIONS,
    password: str | None = None,
    progress: Callback = lambda _: None,
) -> dict[str, int]:
    """Make a workload's tables and rows, and count them; a call that finds them only counts.

    An interrupt ends it; the next call goes on from there, and never doubles a row.

    Args:
        dsn: The database, as of `find`.
        workload: A built-in one by name, or the path of a YAML file.
        records: Of what, the workload says; None: its own number.
        parameters: The workload's, for those that are not to have their defaults.
        connections: That insert at the same time, 1 to 1,000.
        password: Where the DSN has none; None: from the variable PLIMSOLL_PASSWORD.
        progress: Called now and then.

    Returns:
        The rows of each table, counted.

    Raises:
        UsageError: An argument cannot be.
        PlimsollError: The database refuses, or a table of that name is not Plimsoll's.
    """
    with plimsoll_errors():
        number(connections, "connections", Range(1, 1000), whole=True)
        require_count(records)
        target = database(dsn, password)
        chosen, _ = workload_named(workload)
        compiled = chosen.compile(records, parameters or {}, target.protocol)
        return rows_made(target, compiled, progress, connections).counted_rows


def rows_made(
    target: EngineTarget, compiled: Compiled, progress: Callback, connections: int = CONNECTIONS
) -> Prepared:
    """Make a dataset, and tell a program of it."""

    def advance(rows: int) -> None:
        progress(Progress(f"{rows:,} of {compiled.rows:,} rows"))

    with cancelled_by_interrupt() as token:
        return prepare_rows(
            target, compiled, connections=connections, on_progress=advance, cancel=token
        )
