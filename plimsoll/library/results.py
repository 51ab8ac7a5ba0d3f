"""Results for programs: reading, comparing, checking against rules, data frames. Also requests."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr

from plimsoll.complaints import Complaint
from plimsoll.errors import MissingToolError, UsageError
from plimsoll.library.arguments import translate_errors
from plimsoll.load_line.options import check_name
from plimsoll.load_line.outcome import write_result
from plimsoll.model.request.expectations import BaselineRule, parse_rule, require_operations
from plimsoll.model.request.request import Request
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.report.comparing.comparing import Comparison
from plimsoll.report.comparing.comparing import compare_runs as compare_results
from plimsoll.report.expectations import Judged, check_rule, read_baseline
from plimsoll.report.folder import RESULT, read_run
from plimsoll.report.headline import build_headline
from plimsoll.report.tables import list_step_rows
from plimsoll.requests.cells import CheckedExperiment
from plimsoll.requests.checked_request import validate_request
from plimsoll.requests.experiment_file import read_file

# Data frames of pandas or polars.


Frames = Literal["pandas", "polars"]
LIBRARIES: tuple[Frames, ...] = ("pandas", "polars")


def make_frame(table: Sequence[Mapping[str, Any]], library: Frames | None) -> Any:
    """Make a data frame from rows that have the same columns.

    Args:
        table: The rows.
        library: The data frame library; None for pandas if it is installed, else polars.

    Raises:
        MissingToolError: The library is not installed.
    """
    wanted = LIBRARIES if library is None else (check_name(library, LIBRARIES, "library"),)
    found = next((name for name in wanted if find_spec(name) is not None), None)
    if found is None:
        either = " or ".join(wanted)
        raise MissingToolError(f"a data frame needs {either}: pip install {wanted[0]}")
    make = import_module(found).DataFrame
    return make(table, infer_schema_length=None) if found == "polars" else make(table)


Rows = Literal["steps", "seconds"]


class Result(RunResult):
    """The result of a search or a run: `result.json` (docs/results.md), with its seconds.

    `capacity` is the verdict with its evidence, `limiting` the resource that set the limit, `steps`
    the measurements, `request` what was asked for. `state` and `failure` say how it ended.
    """

    _seconds: Seconds | None = PrivateAttr(None)

    @classmethod
    def of(cls, result: RunResult, seconds: Seconds) -> "Result":
        """Create one from the contents of a run's files."""
        made = cls(**dict(result))
        made._seconds = seconds
        return made

    @property
    def throughput_ops_per_second(self) -> float | None:
        """The figure of the verdict; None if there is none. `capacity.bound` tells its kind."""
        capacity = self.capacity
        return None if capacity is None else capacity.max_sustainable_throughput_ops_per_second

    @property
    def summary(self) -> str:
        """The answer in one sentence, or why there is none."""
        return build_headline(self).sentence

    def __str__(self) -> str:
        """Return the answer in one sentence."""
        return self.summary

    def __repr__(self) -> str:
        """Return its name with its answer."""
        verdict = self.capacity.verdict if self.capacity else self.state.value
        return f"<plimsoll.Result {self.run_id}: {verdict}; {self.summary}>"

    def meets(self, rule: str) -> bool | None:
        """Check it against a rule such as `capacity >= 2000` (docs/ci.md).

        Returns:
            True or False; None if it cannot be decided.

        Raises:
            UsageError: The text is not a rule, names an operation that was not measured, or its
                baseline cannot be read.
        """
        with translate_errors():
            asked, baselines = parse_rule(rule), {}
            if measured := {name for step in self.steps for name in step.operations}:
                require_operations([asked], measured)
            if isinstance(asked, BaselineRule):
                baselines[asked.baseline] = read_baseline(Path(asked.baseline))
            answer = check_rule(rule, Judged.of(self), baselines).answer
            return {"met": True, "not met": False, "no answer": None}[answer]

    def to_frame(self, rows: Rows = "steps", *, library: Frames | None = None) -> Any:
        """Return a data frame of pandas or polars; unknown values are missing in it, never 0.

        Args:
            rows: `steps` for a row per step, with the columns of steps.csv; `seconds` for a row per
                second and operation.
            library: The data frame library; None for pandas if it is installed, else polars.

        Raises:
            MissingToolError: The library is not installed.
        """
        with translate_errors():
            table = (
                list_step_rows(self)
                if check_name(rows, ("steps", "seconds"), "rows") == "steps"
                else []
            )
            if rows == "seconds" and self._seconds is not None:
                shown = {"epoch_s", "step", "operation", "succeeded", "errors", "max_us"}
                table = [one.model_dump(include=shown) for one in self._seconds.operations]
            return make_frame(table, library)

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write `result.json`, `seconds.json` and `report.html`, as `plimsoll find` does.

        Returns:
            The path of the page.

        Raises:
            PlimsollError: The folder is not empty, or cannot be written.
        """
        place = Path(folder)
        with translate_errors():
            if place.exists() and any(place.iterdir()):
                raise UsageError(Complaint(("folder",), f"{place} is not empty"))
            seconds = self._seconds or Seconds(run_id=self.run_id, operations=(), target=())
            write_result(place, self, seconds)
        return place / "report.html"


def read_result(place: str | PathLike[str]) -> Result:
    """Read a finished run.

    Args:
        place: The run's folder, or the `result.json` in it.

    Raises:
        UsageError: There is no such file, or Plimsoll did not write it.

    >>> import plimsoll
    >>> result = plimsoll.read_result("plimsoll-results/r1-demo-1000-iops")
    >>> result.capacity.verdict, result.capacity.bracket
    ('KNEE', (3.0, 4.0))
    >>> result.meets("capacity >= 20000")
    True
    >>> frame = result.to_frame()
    >>> frame[["clients", "update_p99_us", "judged"]].head(2)
       clients  update_p99_us  judged
    0        1         2246.0  passed
    1        2         2413.0  passed
    """
    path = Path(place)
    with translate_errors():
        result, seconds = read_run(path.parent if path.name == RESULT else path)
        return Result.of(result, seconds)


def compare(*results: RunResult, usd_per_hour: Sequence[float | None] = ()) -> Comparison:
    """Compare two or more runs with the first of them that has the same request.

    Args:
        results: The runs.
        usd_per_hour: The price of each target per hour, in the runs' order; empty to use each
            run's own.

    Raises:
        UsageError: There are fewer than two runs, or the number of prices differs.

    >>> import plimsoll
    >>> low = plimsoll.read_result("plimsoll-results/r1-demo-1000-iops")
    >>> high = plimsoll.read_result("plimsoll-results/r1-demo-2000-iops")
    >>> comparison = plimsoll.compare(low, high)
    >>> print(comparison.sentences[0][:61])
    2,000 IOPS sustains 1.71 times the throughput of 1,000 IOPS (
    """
    with translate_errors():
        if len(results) < 2:
            raise UsageError(Complaint(("results",), "give two or more"))
        if usd_per_hour and len(usd_per_hour) != len(results):
            raise UsageError(Complaint(("usd_per_hour",), f"give {len(results)}, one for each run"))
        return compare_results(results, usd_per_hour)


# Requests of runs on the service.


def read_request(
    source: str | PathLike[str] | Mapping[str, Any],
    *,
    allow_files: Sequence[str | PathLike[str]] = (),
) -> Request:
    """Read and check the request of a run.

    Args:
        source: A YAML or JSON file of one run (docs/requests.md), or its content as plain values.
        allow_files: Folders in which files that it names may lie, besides its own.

    Raises:
        UsageError: The request is not valid; names each field and what is allowed.

    >>> import plimsoll
    >>> target = {"kind": "rds", "engine": "mariadb", "engine_version": "11.4",
    ...           "instance_class": "db.m6i.large",
    ...           "volume": {"type": "io1", "size_gib": 100, "iops": 1000}}
    >>> request = plimsoll.read_request({
    ...     "name": "nightly", "target": target,
    ...     "workload": {"name": "ycsb-b", "records": 100_000},
    ...     "search": {"strategy": "ramp", "connections_max": 64}})
    >>> request.load.duration_s
    60
    >>> plimsoll.read_request({"name": "nightly", "target": target})
    Traceback (most recent call last):
    ...
    plimsoll.errors.UsageError: lacks the field 'workload'
    lacks the field 'search'
    """
    with translate_errors():
        if isinstance(source, Mapping):
            return validate_request(source).request
        asked = read_file(Path(source), [Path(folder) for folder in allow_files])
        if isinstance(asked, CheckedExperiment):
            raise UsageError(f"{source}: is an experiment, not one run")
        if len(asked) > 1:
            raise UsageError(f"{source}: holds several runs: {', '.join(asked)}")
        return next(iter(asked.values())).request
