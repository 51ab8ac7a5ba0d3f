"""A run's progress on standard error: lines, and on a terminal a status line below them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self

from plimsoll import words

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from plimsoll.model.request.request import Request
    from plimsoll.model.run.run_record import BusyMachine, Recovery
    from plimsoll.workflow.status import Snapshot


WAIT_TOLD_S = 5  # between two lines about a wait
STEP_OVERHEAD_S = 3  # planning, barrier and judging, in the estimate of the time left


class Lines:
    """Prints lines with their time, each once; as a context manager it clears the status line."""

    def __init__(self, console: Console | None = None) -> None:
        from rich.console import Console

        self._console = console or Console(stderr=True, highlight=False)
        self._began = time.monotonic()
        self._said: set[str] = set()
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("starting")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    @property
    def elapsed_s(self) -> float:
        """Seconds since this object was created."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """Print a line, unless it was printed before."""
        if text in self._said:
            return
        self._said.add(text)
        elapsed = words.format_duration(round(self.elapsed_s))
        self._console.print(f"{elapsed:>11}  {text}", markup=False, soft_wrap=True)

    def status(self, text: str) -> None:
        """Show what is under way, if this is a terminal."""
        if self._status is not None:
            self._status.update(text)


class RunProgress(Lines):
    """Prints what has happened in a run since the last call."""

    def __init__(self, request: Request, console: Console | None = None) -> None:
        super().__init__(console)
        self._request = request
        self._waits_told: set[tuple[int, int]] = set()

    def show(self, now: Snapshot) -> None:
        """Print what is new."""
        for text in self._events(now):
            self.say(text)
        elapsed = words.format_duration(round(self.elapsed_s))
        self.status(
            f"{self._describe_phase(now)} · {elapsed} elapsed{self._describe_time_left(now)}"
        )

    def _events(self, now: Snapshot) -> list[str]:
        from plimsoll.console.log import log_before_steps, log_teardown
        from plimsoll.model.run.fleet import WARMING_STEP
        from plimsoll.report.words import announce_plan, describe_finished_step
        from plimsoll.search_steps import describe_busy_machine, describe_recovery

        record, request = now.record, self._request
        events = [line.text for line in log_before_steps(record, request)]
        done = {step.plan.index: step for step in now.steps}
        shown = [step.plan for step in now.steps]
        if now.plan is not None and now.plan.index not in done:
            shown.append(now.plan)
        for plan in shown:
            events.append(announce_plan(plan))
            if plan.index in done and plan.index != WARMING_STEP:
                line = describe_finished_step(done[plan.index], request.limits.statistic)
                events.append(f"step {plan.index}: {line}")
                events += [f"step {plan.index}: {text}" for text in done[plan.index].problems]
        if record.recovery is not None and self._is_to_be_told(record.recovery):
            events.append(describe_recovery(record.recovery, request.load.recovery_max_s))
        if record.busy is not None and self._is_to_be_told(record.busy):
            events.append(describe_busy_machine(record.busy, request.load.calm_max_s))
        if record.switch is not None:
            switch = record.switch
            events.append(f"step {switch.step}: switching the target to state {switch.state}")
        if record.metrics_awaited_until:
            latest = words.format_time_of_day(record.metrics_awaited_until)
            events.append(f"conclude: waiting for the target's metrics, until {latest} at most")
        return events + [line.text for line in log_teardown(record)]

    def _is_to_be_told(self, seen: Recovery | BusyMachine) -> bool:
        """Return whether to describe a wait: every few seconds only, as each look changes it."""
        waited_s = (seen.seen_epoch_ms - seen.since_epoch_ms) // 1000
        tick = (seen.since_epoch_ms, waited_s // WAIT_TOLD_S)
        told = tick in self._waits_told
        self._waits_told.add(tick)
        return not told

    def _describe_phase(self, now: Snapshot) -> str:
        from plimsoll.report.words import describe_plan

        record = now.record
        if record.teardown_asked_at:
            return "teardown"
        if record.phase == "step" and now.plan is not None:
            return describe_plan(now.plan)
        return record.phase

    def _describe_time_left(self, now: Snapshot) -> str:
        from plimsoll.model.request.phases import count_phase_steps
        from plimsoll.model.request.search_request import StepsSearch

        search, load = self._request.search, self._request.load
        if now.record.teardown_asked_at:
            return ""
        plan = now.plan
        if isinstance(search, StepsSearch) and plan is not None and plan.phase is None:
            each = load.warmup_s + load.duration_s + STEP_OVERHEAD_S
            before = count_phase_steps(self._request.phases)
            steps = len(search.clients) - max(0, plan.index - before - 1)
            end = plan.start_at_epoch_ms / 1000 + steps * each
            return f", about {_format_wait(end)} left" if steps > 0 else ""
        if now.record.expires_at is not None:
            return f", at most {_format_wait(now.record.expires_at.timestamp())} left"
        return ""


def _format_wait(epoch_s: float) -> str:
    return words.format_duration(max(0, round(epoch_s - time.time())))
