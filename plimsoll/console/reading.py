"""Repeated reads of a run: its record each time, each of its files once."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from plimsoll.aws.run_files import (
    QUOTE,
    REQUEST,
    RESULT,
    SECONDS,
    RunFiles,
    files_of,
    plan_path,
    step_path,
)
from plimsoll.aws.run_records import now, records_of
from plimsoll.console.live import POINTS, Cursor, Look, show_live
from plimsoll.model.deployment.function_settings import MetricSettings
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import Step, TargetSample
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import Quote
from plimsoll.model.run.results import RunResult, Seconds, SecondTotals, StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.live import Live
from plimsoll.workflow.history import judge_so_far, read_steps_so_far
from plimsoll.workflow.result import find_volume_limits
from plimsoll.workflow.target_figures import read_target_samples

METRICS_EVERY_S = 2.0  # minimum interval: CloudWatch is the most expensive part of a read


@dataclass
class RunReading:
    """Reads one run repeatedly, and keeps what cannot change any more.

    Attributes:
        settings: The settings of the deployment.
        run_id: The id of the run.
    """

    settings: MetricSettings
    run_id: str
    _request: Request | None = None
    _quote: Quote | None = None
    _plan: StepPlan | None = None
    _result: RunResult | None = None
    _finished: int = 0  # number of finished steps when `_judged_from` was read
    # the cursor's step and the number of finished steps at the last read that found no new step
    _none_after: tuple[int, int] | None = None
    _asked_at: float = -math.inf  # last request to CloudWatch, on the monotonic clock
    _judged_from: Sequence[Step] = field(default_factory=tuple)
    _capacity: Capacity | None = None  # from these steps, or from the result

    def live(self, after: Cursor, *, points: int = POINTS) -> Live:
        """Return what is new in the run since a cursor, ready for the page.

        Raises:
            RunNotFoundError: There is no run with this id.
        """
        return show_live(self.look(after), after, points=points)

    def look(self, after: Cursor) -> Look:
        """Read what is new in the run since a cursor.

        Raises:
            RunNotFoundError: There is no run with this id.
        """
        record = records_of(self.settings).get(self.run_id)
        files = files_of(self.settings, self.run_id)
        if self._request is None:
            self._request = files.get(REQUEST, Request)
            self._quote = files.find_model(QUOTE, Quote)
        if self._result is None and record.state.ended:
            self._result = files.find_model(RESULT, RunResult)
            self._capacity = (self._result and self._result.capacity) or self._capacity
        if record.step is not None and (self._plan is None or self._plan.index != record.step):
            self._plan = files.find_model(plan_path(record.step), StepPlan)
        if record.steps_finished != self._finished:
            self._judged_from = [done.step for done in read_steps_so_far(files)]
            self._finished = record.steps_finished
            if self._result is None or self._result.capacity is None:
                self._capacity = judge_so_far(self._judged_from, self._request)
        steps, seconds, samples = self._read_series(files, record, self._request, after)
        return Look(
            at=now(),
            record=record,
            request=self._request,
            quote=self._quote,
            plan=self._plan,
            judged_from=self._judged_from,
            capacity=self._capacity,
            steps=steps,
            seconds=seconds,
            samples=samples,
            period_s=self.settings.metric_period_seconds,
            caps=find_volume_limits(self._request),
            result=self._result,
        )

    def _read_series(
        self, files: RunFiles, record: RunRecord, request: Request, after: Cursor
    ) -> tuple[Sequence[StepResult], Sequence[SecondTotals], Sequence[TargetSample]]:
        """Return the steps since a cursor, their seconds, and the target's samples since.

        After the end of a run two files hold all of these, except for its phases.
        """
        whole = None if self._result is None else files.find_model(SECONDS, Seconds)
        if self._result is None or whole is None:
            steps = self._read_finished_since(files, record, after)
            return steps, _collect_seconds(steps), self._read_samples(record, request, after)
        steps = [done for done in self._result.steps if done.plan.index > after.step]
        seconds = [second for second in whole.operations if second.step > after.step]
        if request.phases and not record.past:  # a past run has only the two files
            steps = self._read_finished_since(files, record, after)
            seconds = _collect_seconds(steps)
        samples = [sample for sample in whole.target if sample.epoch_ms >= after.sample_ms]
        return steps, seconds, samples

    def _read_finished_since(
        self, files: RunFiles, record: RunRecord, after: Cursor
    ) -> list[StepResult]:
        """Read the steps that ended since a cursor, in order, up to the first gap."""
        finished: list[StepResult] = []
        if self._none_after == (after.step, record.steps_finished):
            return finished
        for number in range(after.step + 1, (record.step or 0) + 1):
            done = files.find_model(step_path(number), StepResult)
            if done is None:
                break
            finished.append(done)
        if not finished:
            self._none_after = after.step, record.steps_finished
        return finished

    def _read_samples(
        self, record: RunRecord, request: Request, after: Cursor
    ) -> Sequence[TargetSample]:
        """Read the target's samples from CloudWatch, while there may be any."""
        since, until = record.target_ready_at, record.deleted_at or now()
        if since is None:
            return ()
        if after.sample_ms:
            since = datetime.fromtimestamp(after.sample_ms / 1000, UTC)
        kind = request.target.kind
        if since >= until or time.monotonic() < self._asked_at + METRICS_EVERY_S:
            return ()
        self._asked_at = time.monotonic()
        return read_target_samples(self.settings, record, kind=kind, since=since, until=until)


def _collect_seconds(steps: Sequence[StepResult]) -> list[SecondTotals]:
    return [second for step in steps for second in step.seconds]
