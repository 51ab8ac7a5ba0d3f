"""Runs on the service: watches them as `plimsoll run` does local ones, and fetches results."""

import json
import time
from collections.abc import Callable

from plimsoll.client.refusals import ServiceError
from plimsoll.client.service_client import Service, download
from plimsoll.errors import PlimsollError
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.run.run_record import RunRecord
from plimsoll.model.service.answers import ReportLinks, RunDetail
from plimsoll.workflow.status import Snapshot

POLL_S = 2.0
PATIENCE_S = 30.0  # the results are ready when a run ends, its page a little later
_LOOK_EVERY_S = 0.5


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
        return Snapshot(extract_record(detail), detail.plan, tuple(self._steps))

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


def extract_record(detail: RunDetail) -> RunRecord:
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


def fetch_result(service: Service, run_id: str) -> tuple[RunResult, bytes, ReportLinks]:
    """Download the result of an ended run; returns it parsed, as bytes, and the links to it.

    Raises:
        PlimsollError: The service does not have it, or it is of another version.
    """
    links = _await_links(service, run_id)
    body = download(links.result_url)
    try:
        return RunResult.model_validate(json.loads(body), extra="ignore"), body, links
    except ValueError as error:  # also pydantic's errors
        raise PlimsollError(f"{run_id}: its result is of another version: {error}") from None


def _await_links(service: Service, run_id: str) -> ReportLinks:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return service.report_links(run_id)
        except ServiceError as error:
            if error.kind != "no-report" or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_EVERY_S)
