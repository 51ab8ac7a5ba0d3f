"""The page of a search in this process: the same documents as a run's, from memory."""

import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from werkzeug.wrappers import Request as HttpRequest

from plimsoll.console.config import ConsoleConfig
from plimsoll.console.live import Cursor, Look, live
from plimsoll.console.stream import LOOK_S, Pace, list_events, run_events
from plimsoll.console.told_seconds import SecondsReader, ToldSeconds
from plimsoll.errors import PlimsollError
from plimsoll.finding.finder import Shows
from plimsoll.local.rest_api import Answer, refusal
from plimsoll.model.api_answers import Runs, RunSummary
from plimsoll.model.base import Model
from plimsoll.model.capacity import Capacity
from plimsoll.model.descriptions import describe_target
from plimsoll.model.engine_report import SecondReport
from plimsoll.model.fleet import StepPlan
from plimsoll.model.live import Live
from plimsoll.model.request import Request
from plimsoll.model.results import RunResult, StepResult
from plimsoll.model.run_record import RunRecord, RunState
from plimsoll.runs.history import judged_so_far
from plimsoll.runs.past import record_of_result
from plimsoll.runs.summaries import summary_of

SEARCH = "find"  # what the page calls the search while it goes on, and after


def config() -> ConsoleConfig:
    """Say what its page may do: look at the one search, and stop it."""
    return ConsoleConfig(may_start=False, run_id=SEARCH)


class FindPage:
    """What stands behind the front: a search that tells it what happens.

    Attributes:
        stop: Ends the search; takes why.
    """

    def __init__(self, request: Request) -> None:
        self.stop: Callable[[str], None] = lambda _: None
        self._request = request
        self._began = datetime.now(UTC)
        self._plan: StepPlan | None = None
        self._steps: list[StepResult] = []
        self._capacity: Capacity | None = None
        self._result: RunResult | None = None
        self._stopping = False
        self._told = ToldSeconds()

    def beside(self, shows: Shows) -> Shows:
        """Have what is shown elsewhere come here too."""

        def planned(plan: StepPlan) -> None:
            self._plan = plan
            shows.planned(plan)

        def second(plan: StepPlan, told: Sequence[SecondReport]) -> None:
            self._told.add(
                plan.index,
                0,
                told,
                start_at_epoch_ms=plan.start_at_epoch_ms,
                clients=plan.clients,
            )
            shows.second(plan, told)

        def finished(step: StepResult) -> None:
            self._steps = [*self._steps, step]
            self._capacity = judged_so_far([one.step for one in self._steps], self._request)
            shows.finished(step)

        return Shows(shows.say, planned, second, finished)

    def ended(self, result: RunResult) -> None:
        """Take what the search came to."""
        self._result, self._capacity = result, result.capacity

    def live(self, after: Cursor) -> Live:
        """Say what is new since a cursor."""
        steps = [step for step in self._steps if step.plan.index > after.step]
        look = Look(
            at=datetime.now(UTC),
            record=self._record(),
            request=self._request,
            quote=None,
            plan=self._plan,
            judged_from=[step.step for step in self._steps],
            capacity=self._capacity,
            steps=steps,
            seconds=[second for step in steps for second in step.seconds],
            samples=(),
            period_s=1,
            caps=None,
            result=self._result,
        )
        return live(look, after)

    def answer(self, request: HttpRequest, path: str) -> Answer:
        """Answer a call: the list of the one search, the search, and its end."""
        if path == "/runs" and request.method == "GET":
            return _json(Runs(runs=tuple(self._listed()), next_cursor=None))
        if path == f"/runs/{SEARCH}" and request.method == "DELETE":
            self._stopping = self._result is None
            self.stop("it was stopped from its page")
            return _json(summary_of(self._record()), 202 if self._stopping else 200)
        if path == f"/runs/{SEARCH}/live" and request.method == "GET":
            try:
                return _json(self.live(Cursor.parse(request.args.get("after"))))
            except PlimsollError as error:
                return refusal(422, str(error))
        return refusal(404, "A search on this machine has nothing of this name")

    def events(self, request: HttpRequest, ended: threading.Event) -> Iterator[bytes]:
        """Tell of the search, or of the list that it is alone in.

        Raises:
            UsageError: The cursor is none.
        """
        pace = Pace(ended, LOOK_S)
        if request.args.get("run_id") is None:
            return list_events(lambda _: self._listed(), pace)
        last = request.headers.get("Last-Event-ID") or request.args.get("after")
        seconds = SecondsReader(self._told)
        return run_events(self.live, Cursor.parse(last), pace, seconds=seconds)

    def _listed(self) -> list[RunSummary]:
        return [summary_of(self._record())]

    def _record(self) -> RunRecord:
        if self._result is not None:
            ended = record_of_result(self._result, past=False)
            return ended.model_copy(update={"run_id": SEARCH})
        request = self._request
        return RunRecord(
            run_id=SEARCH,
            name=request.name,
            team=request.team,
            state=RunState.STOPPING if self._stopping else RunState.RUNNING,
            phase="step",
            local=True,
            tags=request.tags,
            target_words=describe_target(request.target),
            request_sha256="",
            submitted_at=self._began,
            started_at=self._began,
            step_at=self._began,
            time_limit_s=request.time_limit_s,
            step=self._plan.index if self._plan else None,
            steps_finished=len(self._steps),
        )


def _json(model: Model, status: int = 200) -> Answer:
    headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
    return Answer(status, headers, model.model_dump_json().encode())
