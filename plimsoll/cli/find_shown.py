"""Runs a search in this process: its page, its progress on a terminal, and its files."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import click
from werkzeug.wrappers import Request as HttpRequest

from plimsoll import words
from plimsoll.cli.prepare import prepare_with_progress
from plimsoll.cli.progress import Lines
from plimsoll.complaints import Complaint
from plimsoll.console.config import ConsoleConfig
from plimsoll.console.live import Cursor, Look, show_live
from plimsoll.console.stream import LOOK_S, Pace, stream_list, stream_run
from plimsoll.console.told_seconds import SecondsReader, ToldSeconds
from plimsoll.databases.dataset_notes import check_complete
from plimsoll.databases.family import family_of
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.dataset import (
    Found,
    Made,
    is_complete,
    look,
    reserve_load_number,
    wait_until_settled,
)
from plimsoll.load_line.options import StopRule, add_credentials
from plimsoll.load_line.outcome import search_and_judge, write_result
from plimsoll.load_line.search_loop import JUDGING_S, Finder, Shows
from plimsoll.local.rest_api import Answer, build_refusal
from plimsoll.model.base import Model
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.request.request import Request
from plimsoll.model.request.toggle import endpoints_by_state
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.service.answers import Runs, RunSummary
from plimsoll.model.service.live import Live
from plimsoll.quoting.times import rehearse
from plimsoll.report.words import describe_finished_step, describe_plan
from plimsoll.requests.checked_request import read_workload_choice
from plimsoll.workflow.history import judge_so_far
from plimsoll.workflow.listing import summarize_record
from plimsoll.workflow.past import rebuild_record
from plimsoll.workload import Compiled

# The page of a search: the same documents as for a run, but from memory.


SEARCH = "find"  # the page's name for the search


def find_page_config() -> ConsoleConfig:
    """Return what the page may do: show the one search, and stop it."""
    return ConsoleConfig(may_start=False, run_id=SEARCH)


class FindPage:
    """The server side of the page: it receives what happens in the search.

    Attributes:
        stop: Stops the search, with a reason.
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
        """Return callbacks that update this page besides calling the given ones."""

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
            self._capacity = judge_so_far([one.step for one in self._steps], self._request)
            shows.finished(step)

        return Shows(shows.say, planned, second, finished)

    def ended(self, result: RunResult) -> None:
        """Take the result of the search."""
        self._result, self._capacity = result, result.capacity

    def live(self, after: Cursor) -> Live:
        """Return what is new since a cursor."""
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
        return show_live(look, after)

    def answer(self, request: HttpRequest, path: str) -> Answer:
        """Answer a request: the list with the one search, the search, and its end."""
        if path == "/runs" and request.method == "GET":
            return _json_answer(Runs(runs=tuple(self._listed()), next_cursor=None))
        if path == f"/runs/{SEARCH}" and request.method == "DELETE":
            self._stopping = self._result is None
            self.stop("it was stopped from its page")
            return _json_answer(summarize_record(self._record()), 202 if self._stopping else 200)
        if path == f"/runs/{SEARCH}/live" and request.method == "GET":
            try:
                return _json_answer(self.live(Cursor.parse(request.args.get("after"))))
            except PlimsollError as error:
                return build_refusal(422, str(error))
        return build_refusal(404, "A search on this machine has nothing of this name")

    def events(self, request: HttpRequest, ended: threading.Event) -> Iterator[bytes]:
        """Stream events of the search, or of the list that holds only it.

        Raises:
            UsageError: The cursor is invalid.
        """
        pace = Pace(ended, LOOK_S)
        if request.args.get("run_id") is None:
            return stream_list(lambda _: self._listed(), pace)
        last = request.headers.get("Last-Event-ID") or request.args.get("after")
        seconds = SecondsReader(self._told)
        return stream_run(self.live, Cursor.parse(last), pace, seconds=seconds)

    def _listed(self) -> list[RunSummary]:
        return [summarize_record(self._record())]

    def _record(self) -> RunRecord:
        if self._result is not None:
            ended = rebuild_record(self._result, past=False)
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


def _json_answer(model: Model, status: int = 200) -> Answer:
    headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
    return Answer(status, headers, model.model_dump_json().encode())


# Progress: a line for each step, and a status line below.


class FindProgress(Lines):
    """Prints what has happened in a search; as a context manager it clears the status line."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._steps = round(rehearse(request.search, request.limits).steps)

    def shows(self) -> Shows:
        """The callbacks for a finder."""
        return Shows(self.say, self._planned, self._second, self._finished)

    def _planned(self, plan: StepPlan) -> None:
        self.say(describe_plan(plan))
        self.status(f"{describe_plan(plan)}{self._left(plan)}")

    def _finished(self, step: StepResult) -> None:
        statistic = self._request.limits.statistic
        self.say(f"step {step.plan.index}: {describe_finished_step(step, statistic)}")
        for problem in step.problems:
            self.say(f"step {step.plan.index}: {problem}")

    def _second(self, plan: StepPlan, second: Sequence[SecondReport]) -> None:
        """Show the last second of the first client; it is not scaled up to all clients."""
        if not second:
            return
        done = sum(part.succeeded for part in second)
        parts = [describe_plan(plan), f"second {second[0].second + 1}"]
        whose = "" if plan.clients == 1 else " by the first client"
        parts.append(f"{words.throughput(done)}{whose}")
        limits = self._request.limits.limits_us
        for part in second:
            if part.p99_us is not None:
                limit = limits.get(part.operation)
                of_limit = f" of {words.latency(limit)}" if limit else ""
                parts.append(f"{part.operation} p99 {words.latency(part.p99_us)}{of_limit}")
        self.status(" · ".join(parts) + self._left(plan))

    def _left(self, plan: StepPlan) -> str:
        if plan.index == WARMING_STEP:
            return f" · about {self._steps} steps to come"
        each = self._request.load.warmup_s + self._request.load.duration_s + JUDGING_S
        left = self._steps - plan.index + 1
        return f" · about {words.duration(left * each)} left" if left > 0 else " · nearly done"


@dataclass(frozen=True)
class Search:
    """A search to run.

    Attributes:
        request: The request.
        target: The engine's connection settings, with credentials.
        found: The rows present.
        stop_rules: The rules that stop the load at once.
        rows: The counted rows of the dataset; None if nobody counted them.
        notes: Notes for the reader.
        reached: The connection settings in each state of the toggle.
    """

    request: Request
    target: EngineTarget
    found: Found
    stop_rules: Sequence[StopRule]
    rows: int | None
    notes: tuple[str, ...] = ()
    reached: Mapping[str, EngineTarget] = field(default_factory=dict)


def build_search(request: Request) -> Search:
    """Build a search from a request for an existing target, creating a missing dataset.

    The request is the user's own file, which permits that.

    Raises:
        UsageError: The environment has no credentials, or the request asks for faults.
        PlimsollError: The database refuses, or a table of the dataset belongs to something else.
    """
    assert isinstance(request.target, EndpointTarget)  # noqa: S101 - the caller has looked
    if request.faults:
        raise UsageError("faults: an existing database has no emulated volume to make fail")
    if request.background:
        problem = (
            "a search of a database that is there from this machine sends one workload: leave it"
            " out, or run the request on AWS"
        )
        raise UsageError(Complaint(("background",), problem))
    first = request.target.reached(request.toggle.states[0].endpoint if request.toggle else None)
    target, workload = add_credentials(first), read_workload_choice(request.workload)
    records, given = request.workload.records, request.workload.parameters
    found, made = look(target, workload, records, given), Made()
    if not is_complete(found):
        made = create_rows(target, found)
        found = look(target, workload, records, given)
    reached = _open_states(request, request.target, found.compiled)
    return Search(request, target, found, (), made.rows, made.notes, reached)


def _open_states(
    request: Request, target: EndpointTarget, compiled: Compiled
) -> dict[str, EngineTarget]:
    """Connect to the target in each state of its toggle, where the same rows have to be present.

    Raises:
        PlimsollError: In one state the rows are missing, or the database is unreachable.
    """
    if request.toggle is None:
        return {}
    states = endpoints_by_state(target, request.toggle)
    reached = {name: add_credentials(endpoint) for name, endpoint in states.items()}
    for name, one in reached.items():
        with family_of(one.protocol).open_datasets(one) as datasets:
            note = datasets.read_note(compiled.dataset) if datasets.has_place() else None
            check_complete(compiled, note, f"state {name}: {states[name].address}")
    return reached


def create_rows(target: EngineTarget, found: Found) -> Made:
    """Create a dataset, and wait a limited time until the server has settled."""
    prepared = prepare_with_progress(target, found.compiled)
    click.echo("waiting until the server has worked off the loading", err=True)
    made = wait_until_settled(target, prepared)
    for late in made.notes:
        click.echo(late, err=True)
    return made


def search_into(search: Search, folder: Path, page: "FindPage | None" = None) -> bool:
    """Run the search, and write its results into a folder; return whether it was interrupted.

    Args:
        search: The search.
        folder: The folder for the results.
        page: The page that follows it; None if there is none.
    """
    Dashboards.of_environment(os.environ)  # refuse wrong settings before the measurement
    with FindProgress(search.request) as progress:
        shows = progress.shows()
        finder = Finder(
            request=search.request,
            target=search.target,
            compiled=search.found.compiled,
            load_number=lambda target: reserve_load_number(target, search.found),
            reached=search.reached,
            stop_rules=search.stop_rules,
            shows=shows if page is None else page.beside(shows),
        )
        if page is not None:
            page.stop = finder.end
        with end_on_signals(lambda: finder.end(INTERRUPTED)):
            result, seconds = search_and_judge(
                finder, server=search.found.server, rows=search.rows, notes=search.notes
            )
            if page is not None:
                page.ended(result)
            try:
                write_result(folder, result, seconds)
            except OSError:  # a full disk, for instance, must not lose the answer
                if result.capacity is not None:
                    click.echo(f"{result.capacity.verdict}: {result.capacity.summary}", err=True)
                raise
    return finder.cut_short == INTERRUPTED
