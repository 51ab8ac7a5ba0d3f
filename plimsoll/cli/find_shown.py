"""Shows a search in this process: its page, its progress on a terminal, and its files."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plimsoll import words
from plimsoll.cli.page import Page, make_token, show_page
from plimsoll.cli.prepare import prepare_with_progress
from plimsoll.cli.progress import Lines
from plimsoll.console.config import ConsoleConfig
from plimsoll.console.live import Cursor, Look, show_live
from plimsoll.console.stream import LOOK_S, Pace, stream_list, stream_run
from plimsoll.console.told_seconds import SecondsReader, ToldSeconds
from plimsoll.databases.prepare import Prepared
from plimsoll.errors import PlimsollError
from plimsoll.load_line.clients import INTERRUPTED, end_on_signals
from plimsoll.load_line.options import PrepareOptions
from plimsoll.load_line.outcome import record_search, write_result
from plimsoll.load_line.search_loop import JUDGING_S, Finder, Shows
from plimsoll.local.rest_api import HttpAnswer, build_refusal
from plimsoll.model.base import Model
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import WARMING_STEP, StepPlan
from plimsoll.model.run.results import RunResult, Seconds, StepResult
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.model.service.answers import Runs, RunSummary
from plimsoll.model.service.live import Live
from plimsoll.quoting.times import rehearse
from plimsoll.report.words import announce_plan, describe_finished_step, describe_plan
from plimsoll.workflow.history import judge_so_far
from plimsoll.workflow.listing import summarize_record
from plimsoll.workflow.past import rebuild_record
from plimsoll.workload import Compiled

if TYPE_CHECKING:  # only the page needs this package, which an extra brings
    from werkzeug.wrappers import Request as HttpRequest

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

    def extend_callbacks(self, shows: Shows) -> Shows:
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

    def take_result(self, result: RunResult) -> None:
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

    def answer(self, request: HttpRequest, path: str) -> HttpAnswer:
        """Answer a request: the list with the one search, the search, and its end."""
        if path == "/runs" and request.method == "GET":
            return _dump_answer(Runs(runs=tuple(self._list_runs()), next_cursor=None))
        if path == f"/runs/{SEARCH}" and request.method == "DELETE":
            self._stopping = self._result is None
            self.stop("it was stopped from its page")
            return _dump_answer(summarize_record(self._record()), 202 if self._stopping else 200)
        if path == f"/runs/{SEARCH}/live" and request.method == "GET":
            try:
                return _dump_answer(self.live(Cursor.parse(request.args.get("after"))))
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
            return stream_list(lambda _: self._list_runs(), pace)
        last = request.headers.get("Last-Event-ID") or request.args.get("after")
        seconds = SecondsReader(self._told)
        return stream_run(self.live, Cursor.parse(last), pace, seconds=seconds)

    def _list_runs(self) -> list[RunSummary]:
        return [summarize_record(self._record())]

    def _record(self) -> RunRecord:
        if self._result is not None:
            ended = rebuild_record(self._result, past=False)
            return ended.model_copy(update={"run_id": SEARCH})
        now = {
            "run_id": SEARCH,
            "state": RunState.STOPPING if self._stopping else RunState.RUNNING,
            "step": self._plan.index if self._plan else None,
            "steps_finished": len(self._steps),
        }
        return record_search(self._request, self._began).model_copy(update=now)


def _dump_answer(model: Model, status: int = 200) -> HttpAnswer:
    headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
    return HttpAnswer(status, headers, model.model_dump_json().encode())


# Progress: a line for each step, and a status line below.


class FindProgress(Lines):
    """Prints what has happened in a search; as a context manager it clears the status line."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._steps = round(rehearse(request.search, request.limits).steps)

    def shows(self) -> Shows:
        """The callbacks for a finder."""
        return Shows(self.say, self._show_plan, self._show_second, self._show_finished_step)

    def _show_plan(self, plan: StepPlan) -> None:
        self.say(announce_plan(plan))
        self.status(f"{describe_plan(plan)}{self._describe_time_left(plan)}")

    def _show_finished_step(self, step: StepResult) -> None:
        statistic = self._request.limits.statistic
        self.say(f"step {step.plan.index}: {describe_finished_step(step, statistic)}")
        for problem in step.problems:
            self.say(f"step {step.plan.index}: {problem}")

    def _show_second(self, plan: StepPlan, second: Sequence[SecondReport]) -> None:
        """Show the last second of the first client; it is not scaled up to all clients."""
        if not second:
            return
        done = sum(part.succeeded for part in second)
        parts = [describe_plan(plan), f"second {second[0].second + 1}"]
        whose = "" if plan.clients == 1 else " by the first client"
        parts.append(f"{words.format_throughput(done)}{whose}")
        limits = self._request.limits.limits_us
        for part in second:
            if part.p99_us is not None:
                limit = limits.get(part.operation)
                of_limit = f" of {words.format_latency(limit)}" if limit else ""
                parts.append(f"{part.operation} p99 {words.format_latency(part.p99_us)}{of_limit}")
        self.status(" · ".join(parts) + self._describe_time_left(plan))

    def _describe_time_left(self, plan: StepPlan) -> str:
        if plan.index == WARMING_STEP:
            return f" · about {self._steps} steps to come"
        each = self._request.load.warmup_s + self._request.load.duration_s + JUDGING_S
        left = self._steps - plan.index + 1
        return (
            f" · about {words.format_duration(left * each)} left" if left > 0 else " · nearly done"
        )


# The terminal as the caller of a search.


class Terminal:
    """A terminal that shows a search, and the folder that keeps its result."""

    def __init__(
        self, folder: Path, open_page: Callable[[Request], FindPage] | None = None
    ) -> None:
        """Create one.

        Args:
            folder: The folder for the results.
            open_page: Opens the page that shows the search as well; None if there is none.
        """
        self._folder = folder
        self._open_page = open_page
        self._page: FindPage | None = None

    def say(self, text: str) -> None:
        """Print a line on standard error."""
        click.echo(text, err=True)

    def may_make_rows(self, question: str) -> bool:
        """Ask whether to make missing rows. If nobody is there to answer, the answer is no."""
        return sys.stdin.isatty() and click.confirm(question, err=True)

    def make_rows(self, target: EngineTarget, compiled: Compiled) -> Prepared:
        """Make a dataset with a progress bar."""
        return prepare_with_progress(target, compiled, PrepareOptions())

    @contextmanager
    def follow(self, finder: Finder) -> Iterator[Shows]:
        """Show a search here and on its page. Ctrl-C, SIGTERM and the page can end it."""
        if self._open_page is not None:
            self._page = self._open_page(finder.request)
            self._page.stop = finder.end
        with (
            FindProgress(finder.request) as progress,
            end_on_signals(lambda: finder.end(INTERRUPTED)),
        ):
            shows = progress.shows()
            yield shows if self._page is None else self._page.extend_callbacks(shows)

    def keep(self, result: RunResult, seconds: Seconds) -> None:
        """Write the result's files; if that fails, print at least the answer.

        Raises:
            PlimsollError: The files cannot be written, for instance because the disk is full.
        """
        if self._page is not None:
            self._page.take_result(result)
        try:
            write_result(self._folder, result, seconds)
        except (OSError, PlimsollError):
            if result.capacity is not None:
                self.say(result.capacity.sentence)
            raise


def open_page(here: ExitStack, page: Page, request: Request) -> FindPage:
    """Serve a page that shows a search, as long as the stack lives."""
    from plimsoll.local.front import Front

    followed = FindPage(request)
    front = here.enter_context(Front(followed, token=make_token(), config=find_page_config()))
    here.enter_context(show_page(front, page))
    return followed
