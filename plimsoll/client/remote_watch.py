"""Watching a run on the service, as `plimsoll run` watches a local one."""

import time
from collections.abc import Callable

from plimsoll.client.service_client import Service
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.answers import RunDetail
from plimsoll.workflow.status import Snapshot

POLL_S = 2.0


class RemoteWatcher:
    """Polls a run, and reads each of its steps once."""

    def __init__(self, service: Service, run_id: str) -> None:
        self._service = service
        self._run_id = run_id
        self._steps: list[StepResult] = []

    def look(self) -> Snapshot:
        """Return the current state of the run."""
        detail = self._service.run(self._run_id)
        after = self._steps[-1].plan.index if self._steps else 0
        if (detail.progress.step or 0) > after:
            self._steps += self._service.steps(self._run_id, after=after)
        return Snapshot(record_of_detail(detail), detail.plan, tuple(self._steps))

    def wait(
        self, show: Callable[[Snapshot], None], sleep: Callable[[float], None] = time.sleep
    ) -> RunRecord:
        """Poll until the run has ended."""
        while True:
            now = self.look()
            show(now)
            if now.record.state.ended:
                return now.record
            sleep(POLL_S)


def record_of_detail(detail: RunDetail) -> RunRecord:
    """Return the part of a run's record that the service shows."""
    known = detail.model_dump(include=set(RunRecord.model_fields))
    return RunRecord.model_validate(
        {
            **known,
            "step": detail.progress.step,
            "steps_finished": detail.progress.steps_finished,
            "capacity_ops_per_second": None,
            "cost_usd": None,
        }
    )
