"""Follows a run: its record, its current plan, and its steps as they finish."""

from dataclasses import dataclass

from plimsoll.aws.run_files import files_of, plan_path, step_path
from plimsoll.aws.run_records import records_of
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    record: RunRecord
    plan: StepPlan | None  # plan of the current or last step
    steps: tuple[StepResult, ...]  # finished steps in order, including the warming step


class Watcher:
    """Reads a run repeatedly, but each of its step files only once."""

    def __init__(self, settings: RunSettings, run_id: str) -> None:
        self._records = records_of(settings)
        self._files = files_of(settings, run_id)
        self._run_id = run_id
        self._plan: StepPlan | None = None
        self._steps: list[StepResult] = []
        self._next = WARMING_STEP  # the first step whose end has not been seen

    def look(self) -> Snapshot:
        """Return where the run stands now."""
        record = self._records.get(self._run_id)
        if record.step is not None:
            self._follow(record.step)
        return Snapshot(record, self._plan, tuple(self._steps))

    def _follow(self, step: int) -> None:
        if self._plan is None or self._plan.index != step:
            self._plan = self._files.find_model(plan_path(step), StepPlan)
        for index in range(
            self._next, step + 1
        ):  # several steps may have ended since the last look
            done = self._files.find_model(step_path(index), StepResult)
            if done is not None:
                self._steps.append(done)
            if done is not None or index < step:
                self._next = index + 1
