"""A run's progress on standard error: lines, and on a terminal a status that lives below them."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.status import Status

from plimsoll.cli.wording import minutes, step_line, target_line
from plimsoll.figures import plural
from plimsoll.model.fleet import WARMING_STEP, StepPlan
from plimsoll.model.request import Request
from plimsoll.model.search_request import StepsSearch
from plimsoll.runs.run_status import Snapshot

STEP_OVERHEAD_S = 3  # planning, barrier, judging: for the estimate of what is left


class Lines:
    """Lines with their time, each once; as a context manager it ends the status below them."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True, highlight=False)
        self._began = time.monotonic()
        self._said: set[str] = set()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    @property
    def elapsed_s(self) -> float:
        """Seconds since it was made."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Print a line, once."""
        if text in self._said:
            return
        self._said.add(text)
        self._console.print(f"{minutes(self.elapsed_s):>6}  {text}", markup=False, soft_wrap=True)

    def status(self, text: str) -> None:
        """Show what is under way, on a terminal alone."""
        if self._status is not None:
            self._status.update(text)


class Progress(Lines):
    """Tells of a run what has happened since it was last told."""

    def __init__(self, request: Request, console: Console | None = None) -> None:
        super().__init__(console)
        self._request = request

    def show(self, now: Snapshot) -> None:
        """Tell what is new."""
        for text in self._events(now):
            self.say(text)
        elapsed = minutes(self.elapsed_s)
        self.status(f"{self._doing(now)} · {elapsed} elapsed{self._left(now)}")

    def _events(self, now: Snapshot) -> list[str]:
        record, request = now.record, self._request
        said = []
        if record.provision_at:
            said.append(f"provision: {target_line(request)}")
        if record.target_ready_at:
            target = record.target  # only known from within the deployment
            said.append(
                "the target is ready" + (f" at {target.host}:{target.port}" if target else "")
            )
        if record.prepare_at:
            workload = request.workload.name or "its own workload"
            said.append(f"prepare: {workload}, {plural(request.workload.records, 'record')}")
        if record.rows is not None:
            said.append(f"the dataset is loaded and counted: {plural(record.rows, 'row')}")
        done = {step.plan.index: step for step in now.steps}
        shown = [step.plan for step in now.steps]
        if now.plan is not None and now.plan.index not in done:
            shown.append(now.plan)
        for plan in shown:
            said.append(_planned(plan))
            if plan.index in done and plan.index != WARMING_STEP:
                line = step_line(done[plan.index], request.limits.statistic)
                said.append(f"step {plan.index}: {line}")
                said += [f"step {plan.index}: {text}" for text in done[plan.index].problems]
        if record.teardown_asked_at:
            said.append("teardown: the target is being deleted")
        if record.deleted_at:
            said.append("the target is gone")
        return said

    def _doing(self, now: Snapshot) -> str:
        record = now.record
        if record.teardown_asked_at:
            return "teardown"
        if record.phase == "step" and now.plan is not None:
            return _planned(now.plan)
        return record.phase

    def _left(self, now: Snapshot) -> str:
        search, load = self._request.search, self._request.load
        if now.record.teardown_asked_at:
            return ""
        if isinstance(search, StepsSearch) and now.plan is not None:
            each = load.warmup_s + load.duration_s + STEP_OVERHEAD_S
            steps = len(search.clients) - max(0, now.plan.index - 1)
            end = now.plan.start_at_epoch_ms / 1000 + steps * each
            return f", about {minutes(end - time.time())} left" if steps > 0 else ""
        if now.record.expires_at is not None:
            return f", at most {minutes(now.record.expires_at.timestamp() - time.time())} left"
        return ""


def _planned(plan: StepPlan) -> str:
    if plan.index == WARMING_STEP:
        return f"warming: {plan.duration_s:g} s of unmeasured load"
    rate = f", {plan.rate_ops_per_second:,.0f} ops/s" if plan.rate_ops_per_second else ""
    fleet = f"{plural(plan.clients, 'client')}, {plural(plan.connections, 'connection')}"
    return f"step {plan.index}: {fleet}{rate}"
