"""Watching a run: where it stands, and its steps as they are finished."""

from dataclasses import dataclass

from plimsoll.model.fleet import StepPlan
from plimsoll.model.results import StepResult
from plimsoll.model.runs import RunRecord
from plimsoll.runs.deployment import Deployment
from plimsoll.runs.files import plan_path, step_path


@dataclass(frozen=True)
class Snapshot:
    """A run at one moment."""

    record: RunRecord
    plan: StepPlan | None  # of the step under way, or of the last one
    steps: tuple[StepResult, ...]  # finished, in order; the warming step among them


class Watcher:
    """Reads a run again and again, each of its files once."""

    def __init__(self, deployment: Deployment, run_id: str) -> None:
        self._records = deployment.records
        self._files = deployment.files(run_id)
        self._run_id = run_id
        self._plan: StepPlan | None = None
        self._steps: list[StepResult] = []

    def look(self) -> Snapshot:
        """Say where the run stands now."""
        record = self._records.get(self._run_id)
        if record.step is not None:
            self._follow(record.step)
        return Snapshot(record, self._plan, tuple(self._steps))

    def _follow(self, step: int) -> None:
        if self._plan is None or self._plan.index != step:
            if self._plan is not None:
                self._finish(self._plan.index)
            self._plan = self._files.find_model(plan_path(step), StepPlan)
        self._finish(step)

    def _finish(self, step: int) -> None:
        if any(done.plan.index == step for done in self._steps):
            return
        done = self._files.find_model(step_path(step), StepResult)
        if done is not None:
            self._steps.append(done)
