"""Results: read, compared, held against rules, and as data frames."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal

from pydantic import PrivateAttr

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.face.checks import known
from plimsoll.face.frames import Frames, frame_of
from plimsoll.face.sentences import plimsoll_errors
from plimsoll.finding.outcome import write
from plimsoll.model.expectations import BaselineRule, require_operations, rule_of
from plimsoll.model.results import RunResult, Seconds
from plimsoll.report.comparing import Comparison
from plimsoll.report.comparing import compare as compare_results
from plimsoll.report.csv_table import step_rows
from plimsoll.report.expectations import Judged, expectation, read_baseline
from plimsoll.report.folder import RESULT, read_run
from plimsoll.report.headline import headline

Rows = Literal["steps", "seconds"]


class Result(RunResult):
    """What a search or a run has come to: `result.json` (docs/results.md), with its seconds.

    `capacity` is the verdict with everything that defends it, `limiting` what set the limit,
    `steps` what was measured, `request` what was asked; `state` and `failure` say how it ended.
    """

    _seconds: Seconds | None = PrivateAttr(None)

    @classmethod
    def of(cls, result: RunResult, seconds: Seconds) -> "Result":
        """Make one of a run's files."""
        made = cls(**dict(result))
        made._seconds = seconds
        return made

    @property
    def throughput_ops_per_second(self) -> float | None:
        """The figure of the verdict; None: there is none. `capacity.bound` says which bound."""
        capacity = self.capacity
        return None if capacity is None else capacity.max_sustainable_throughput_ops_per_second

    @property
    def summary(self) -> str:
        """The answer in one sentence, or why there is none."""
        return headline(self).sentence

    def __str__(self) -> str:
        """Give the answer in one sentence."""
        return self.summary

    def __repr__(self) -> str:
        """Name it, with its answer."""
        verdict = self.capacity.verdict if self.capacity else self.state.value
        return f"<plimsoll.Result {self.run_id}: {verdict}; {self.summary}>"

    def meets(self, rule: str) -> bool | None:
        """Say whether it keeps to a rule such as `capacity >= 2000` (docs/ci.md).

        Returns:
            None: that cannot be decided.

        Raises:
            UsageError: It is no rule, or of an operation that was not measured, or its baseline
                cannot be read.
        """
        with plimsoll_errors():
            asked, baselines = rule_of(rule), {}
            if measured := {name for step in self.steps for name in step.operations}:
                require_operations([asked], measured)
            if isinstance(asked, BaselineRule):
                baselines[asked.baseline] = read_baseline(Path(asked.baseline))
            answer = expectation(rule, Judged.of(self), baselines).answer
            return {"met": True, "not met": False, "no answer": None}[answer]

    def to_frame(self, rows: Rows = "steps", *, library: Frames | None = None) -> Any:
        """Give a data frame of pandas or polars; what is not known is missing in it, never 0.

        Args:
            rows: `steps`: a row for each step, with the columns of steps.csv; `seconds`: a row for
                each second and operation.
            library: None: pandas if it is installed, else polars.

        Raises:
            MissingToolError: It is not installed.
        """
        with plimsoll_errors():
            table = step_rows(self) if known(rows, ("steps", "seconds"), "rows") == "steps" else []
            if rows == "seconds" and self._seconds is not None:
                shown = {"epoch_s", "step", "operation", "succeeded", "errors", "max_us"}
                table = [one.model_dump(include=shown) for one in self._seconds.operations]
            return frame_of(table, library)

    def save(self, folder: str | PathLike[str]) -> Path:
        """Write `result.json`, `seconds.json` and `report.html`, as `plimsoll find` does.

        Returns:
            The page.

        Raises:
            PlimsollError: The folder holds something, or cannot be written.
        """
        place = Path(folder)
        with plimsoll_errors():
            if place.exists() and any(place.iterdir()):
                raise UsageError(Complaint(("folder",), f"{place} is not empty"))
            seconds = self._seconds or Seconds(run_id=self.run_id, operations=(), target=())
            write(place, self, seconds)
        return place / "report.html"


def read_result(place: str | PathLike[str]) -> Result:
    """Read a finished run.

    Args:
        place: Its folder, or the `result.json` in it.

    Raises:
        UsageError: There is none, or it is not Plimsoll's.

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
    with plimsoll_errors():
        result, seconds = read_run(path.parent if path.name == RESULT else path)
        return Result.of(result, seconds)


def compare(*results: RunResult, usd_per_hour: Sequence[float | None] = ()) -> Comparison:
    """Compare two runs or more with the first one that asks the same.

    Args:
        results: The runs.
        usd_per_hour: What each target costs an hour, in their order; empty: as each run says.

    Raises:
        UsageError: There are fewer than two, or not as many prices as runs.

    >>> import plimsoll
    >>> low = plimsoll.read_result("plimsoll-results/r1-demo-1000-iops")
    >>> high = plimsoll.read_result("plimsoll-results/r1-demo-2000-iops")
    >>> comparison = plimsoll.compare(low, high)
    >>> print(comparison.sentences[0][:61])
    2,000 IOPS sustains 1.71 times the throughput of 1,000 IOPS (
    """
    with plimsoll_errors():
        if len(results) < 2:
            raise UsageError(Complaint(("results",), "give two or more"))
        if usd_per_hour and len(usd_per_hour) != len(results):
            raise UsageError(Complaint(("usd_per_hour",), f"give {len(results)}, one for each run"))
        return compare_results(results, usd_per_hour)
