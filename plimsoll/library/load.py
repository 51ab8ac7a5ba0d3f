"""One load on a database, making a workload's rows, and the progress that programs see."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import plimsoll_engine
from plimsoll import words
from plimsoll.complaints import Complaint, Range, Scalar
from plimsoll.databases.prepare import Prepared
from plimsoll.databases.prepare import prepare_dataset as prepare_rows
from plimsoll.errors import UsageError
from plimsoll.library.arguments import (
    WorkloadName,
    check_name,
    load_named_workload,
    number,
    parse_database,
    require_count,
    translate_errors,
)
from plimsoll.library.results import Frames, make_frame
from plimsoll.load_line.clients import INTERRUPTED, cancel_on_interrupt
from plimsoll.load_line.dataset import CONNECTIONS
from plimsoll.load_line.load import Loaded, draw_seed, loadable, run_load
from plimsoll.load_line.machine import choose_poll_us, choose_threads
from plimsoll.load_line.search_loop import Finder, Shows
from plimsoll.model.engine.asked import POLL_MOST_US, ClosedLoop, EngineTarget, LoadSpec, OpenLoop
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.report.words import describe_finished_step, describe_plan
from plimsoll.workload import Compiled

# The progress of a search.


@dataclass(frozen=True)
class Progress:
    """Something that happened in a search; `print` shows its text.

    Attributes:
        text: A description in one line.
        step: The step's number, from 1; 0 while warming; None if no step is concerned.
        plan: The plan of the step that begins; else None.
        result: The result of the step that has ended; else None.
    """

    text: str
    step: int | None = None
    plan: StepPlan | None = None
    result: StepResult | None = None

    def __str__(self) -> str:
        """Return its text."""
        return self.text


Callback = Callable[[Progress], object]


def report_to_callback(finder: Finder, progress: Callback) -> Shows:
    """Pass a finder's events to a callback; one that raises KeyboardInterrupt ends the search."""

    def tell(happened: Progress) -> None:
        try:
            progress(happened)
        except KeyboardInterrupt:
            finder.end(INTERRUPTED)

    def ended(step: StepResult) -> None:
        text = describe_finished_step(step, finder.request.limits.statistic)
        number = step.plan.index
        tell(Progress(f"step {number}: {text}", step=number, result=step))
        for problem in step.problems:
            tell(Progress(f"step {number}: {problem}", step=number))

    return Shows(
        say=lambda text: tell(Progress(text)),
        planned=lambda plan: tell(Progress(describe_plan(plan), step=plan.index, plan=plan)),
        finished=ended,
    )


@dataclass(frozen=True)
class LoadResult(Loaded):
    """The measurements of one load. `report` has everything; `judge` takes several of these."""

    @property
    def throughput_ops_per_second(self) -> float | None:
        """Successful operations per second in the window; None if there was no window."""
        window_s = self.report.window_s
        done = sum(operation.succeeded for operation in self.report.operations.values())
        return done / window_s if window_s else None

    @property
    def latency_us(self) -> dict[str, dict[str, float | None]]:
        """Latency in microseconds by operation and statistic (mean, p50, p95, p99, p999, max)."""
        operations = self.report.operations.items()
        return {name: operation.latency_us.model_dump() for name, operation in operations}

    def to_json(self) -> str:
        """Return the same JSON as `plimsoll load --json`."""
        return json.dumps(self.as_json(), indent=2)

    def to_frame(self, *, library: Frames | None = None) -> Any:
        """Return a data frame of pandas or polars with one row per operation.

        Args:
            library: The data frame library; None for pandas if it is installed, else polars.

        Raises:
            MissingToolError: The library is not installed.
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
        with translate_errors():
            return make_frame(rows, library)

    def __str__(self) -> str:
        """Return its figures in one line."""
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
    """Load a database once and measure it. Ctrl-C ends it and returns what was measured so far.

    Args:
        dsn: The database, in the form that `find` takes.
        workload: The name of a built-in workload, or the path of a YAML file.
        connections: The number of concurrent connections, 1 to 20,000.
        threads: The number of sending threads, 1 to 64; None for 2 if the database is on this
            machine and there is no rate, else 1.
        poll_us: How long to busy-poll before sleeping, 0 to 1,000 microseconds; None for 500 if the
            database is on another machine and a processor is free, else 0.
        rate: The operations per second (open loop): latency counts from the time at which an
            operation was due. None for a closed loop: each connection waits for its reply before it
            sends again.
        arrivals: The distribution of due times at a rate; None for constant intervals.
        warmup_s: The warm-up before the window, 0 to 86,400.
        duration_s: The length of the window, 0.001 to 86,400.
        operations_most: The number of operations after which it ends early; None for no limit.
        timeout_ms: The time-out after which an operation counts as failed, 1 to 300,000.
        seed: The random seed; equal seeds give equal sequences of operations. None for a new one.
        records: The number of records of the dataset; None to use what `prepare` has made.
        parameters: The workload parameters that differ from their defaults.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called each second.

    Raises:
        UsageError: An argument is not valid.
        PlimsollError: The database refuses, or does not have the rows.
    """
    with translate_errors():
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
            check_name(arrivals, ("constant", "poisson"), "arrivals")
            if rate is None:
                raise UsageError(Complaint(("arrivals",), "goes with a rate (an open loop) only"))
        loop: ClosedLoop | OpenLoop = ClosedLoop()
        if rate is not None:
            number(rate, "rate", Range(0, 10_000_000, open=True))
            loop = OpenLoop(rate_ops_per_second=rate, arrivals=arrivals or "constant")
        target = parse_database(dsn, password)
        chosen, _ = load_named_workload(workload)
        there = loadable(target, chosen, records, parameters or {})
        threads = threads or choose_threads(target, connections, rate)
        spec = LoadSpec(
            target=target,
            workload=there.sent,
            connections=connections,
            threads=threads,
            poll_us=choose_poll_us(target, threads) if poll_us is None else poll_us,
            loop=loop,
            warmup_s=warmup_s,
            duration_s=duration_s,
            operations_limit=operations_most,
            timeout_ms=timeout_ms,
            seed=draw_seed() if seed is None else seed,
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


# The rows of a workload.


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
    """Make a workload's tables and rows, and count them. If they exist, it only counts.

    If it is interrupted, the next call continues there and never makes a row twice.

    Args:
        dsn: The database, in the form that `find` takes.
        workload: The name of a built-in workload, or the path of a YAML file.
        records: The number of records, as the workload defines them; None for its default.
        parameters: The workload parameters that differ from their defaults.
        connections: The number of concurrent inserts, 1 to 1,000.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called now and then with the rows made so far.

    Returns:
        The counted rows of each table.

    Raises:
        UsageError: An argument is not valid.
        PlimsollError: The database refuses, or a table of that name is not Plimsoll's.
    """
    with translate_errors():
        number(connections, "connections", Range(1, 1000), whole=True)
        require_count(records)
        target = parse_database(dsn, password)
        chosen, _ = load_named_workload(workload)
        compiled = chosen.compile(records, parameters or {}, target.protocol)
        return make_rows(target, compiled, progress, connections).counted_rows


def make_rows(
    target: EngineTarget, compiled: Compiled, progress: Callback, connections: int = CONNECTIONS
) -> Prepared:
    """Make a dataset and report its progress."""

    def advance(rows: int) -> None:
        progress(Progress(f"{rows:,} of {compiled.rows:,} rows"))

    with cancel_on_interrupt() as token:
        return prepare_rows(
            target, compiled, connections=connections, on_progress=advance, cancel=token
        )
