"""One load on a database, making a workload's rows, and the progress that programs see."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import plimsoll_engine
from plimsoll import words
from plimsoll.complaints import Scalar
from plimsoll.databases.prepare import Prepared
from plimsoll.library.arguments import (
    WorkloadName,
    load_named_workload,
    parse_database,
    take_options,
    translate_errors,
)
from plimsoll.library.results import Frames, make_frame
from plimsoll.load_line.dataset import insert_rows
from plimsoll.load_line.load import Loaded, run_load
from plimsoll.load_line.options import LoadOptions, PrepareOptions
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import StepResult
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
        parts = [words.format_throughput(self.throughput_ops_per_second)]
        for name, latencies in sorted(self.latency_us.items()):
            parts.append(f"{name} p99 {words.format_latency(latencies['p99'])}")
        return "; ".join(parts)


@take_options(LoadOptions)
def load(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = lambda _: None,
    **options: Any,
) -> LoadResult:
    """Load a database once and measure it. Ctrl-C ends it and returns what was measured so far.

    Args:
        dsn: The database, in the form that `find` takes.
        workload: The name of a built-in workload, or the path of a YAML file.
        parameters: The workload parameters that differ from their defaults.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called each second.
        **options: The fields of `LoadOptions`.

    Raises:
        UsageError: An argument is not valid.
        PlimsollError: The database refuses, or does not have the rows.
    """
    with translate_errors():
        chosen = LoadOptions(**options)
        target = parse_database(dsn, password)
        _, loaded = load_named_workload(workload)
        token = plimsoll_engine.CancelToken()

        def on_second(text: str) -> None:
            second = json.loads(text)
            done = sum(operation["succeeded"] for operation in second)
            happened = f"second {second[0]['second'] + 1}: {words.format_throughput(done)}"
            try:
                progress(Progress(happened))
            except KeyboardInterrupt:
                token.cancel()

        measured = run_load(
            target,
            loaded,
            parameters or {},
            chosen,
            on_second=on_second,
            say=lambda text: progress(Progress(text)),
            token=token,
        )
        return LoadResult(
            measured.loadable,
            measured.spec,
            measured.report,
            measured.notes,
            measured.conditions,
        )


# The rows of a workload.


@take_options(PrepareOptions)
def prepare(
    dsn: str,
    *,
    workload: WorkloadName,
    parameters: Mapping[str, Scalar] | None = None,
    password: str | None = None,
    progress: Callback = lambda _: None,
    **options: Any,
) -> dict[str, int]:
    """Make a workload's tables and rows, and count them. If they exist, it only counts.

    If it is interrupted, the next call continues there and never makes a row twice.

    Args:
        dsn: The database, in the form that `find` takes.
        workload: The name of a built-in workload, or the path of a YAML file.
        parameters: The workload parameters that differ from their defaults.
        password: The password, if the DSN has none; None for the variable PLIMSOLL_PASSWORD.
        progress: Called now and then with the rows made so far.
        **options: The fields of `PrepareOptions`.

    Returns:
        The counted rows of each table.

    Raises:
        UsageError: An argument is not valid.
        PlimsollError: The database refuses, or a table of that name is not Plimsoll's.
    """
    with translate_errors():
        chosen = PrepareOptions(**options)
        target, _ = adapt_to_pooler(parse_database(dsn, password))
        _, loaded = load_named_workload(workload)
        compiled = loaded.compile(chosen.records, parameters or {}, target.protocol)
        return make_rows(target, compiled, progress, chosen).counted_rows


def make_rows(
    target: EngineTarget,
    compiled: Compiled,
    progress: Callback,
    options: PrepareOptions,
) -> Prepared:
    """Make a dataset and report its progress."""

    def advance(rows: int) -> None:
        progress(Progress(f"{rows:,} of {compiled.rows:,} rows"))

    return insert_rows(target, compiled, options, advance)
