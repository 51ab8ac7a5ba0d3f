"""The search loop of this process: plan a step, run its clients, judge what they measured.

`search_steps.py` has these steps; the workflow takes the same ones.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Lock

from plimsoll import words
from plimsoll.capacity.beside import plan_run_step
from plimsoll.databases.family import find_family
from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.plan import make_load_spec, plan_step, plan_warming
from plimsoll.fleet.sense import check_sense, require_sense
from plimsoll.fleet.step import build_step
from plimsoll.load_line.clients import compute_local_barrier_ms, run_clients
from plimsoll.load_line.machine import Host, choose_poll_us, report_other_statements
from plimsoll.load_line.options import StopRule
from plimsoll.machine import MachineLoad, watch_clock
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.engine.asked import EngineTarget
from plimsoll.model.judging.steps import CLOSING
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep, RateSearch
from plimsoll.model.run.fleet import ClientResult, FailedClient, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.model.run.run_record import BusyMachine, Recovery
from plimsoll.search_steps import (
    describe_busy_machine,
    describe_recovery,
    plan_fill,
    prepare_step,
    shorten_window,
    waits_for_machine,
)
from plimsoll.workflow.client import add_statements
from plimsoll.workflow.log_filling import LogFilling, make_fill_spec
from plimsoll.workload.compiled import Compiled

LOOK_AGAIN_S = 1.0  # between two looks at what a step waits for
WAIT_TOLD_S = 5  # how often a wait is reported
FILL_LOOK_S = 0.1
JUDGING_S = 1.0  # time for a step's barrier and for reading the counters


@dataclass
class Shows:
    """Callbacks that show a search's progress; by default they do nothing."""

    say: Callable[[str], None] = lambda _: None
    planned: Callable[[StepPlan], None] = lambda _: None
    second: Callable[[StepPlan, Sequence[SecondReport]], None] = lambda *_: None
    finished: Callable[[StepResult], None] = lambda _: None


@dataclass
class Finder:
    """A search for a load line.

    Attributes:
        request: The request; its target is an endpoint.
        target: The engine's connection settings, with credentials, for the toggle's active state.
        compiled: The compiled workload.
        load_number: A function that numbers the next load on a target's dataset.
        look: A function that measures what keeps this machine busy besides a target.
        reached: The connection settings for each state of the toggle.
        stop_rules: The rules that end the load at once.
        shows: The callbacks that show the progress.
        steps: The finished steps.
        cut_short: The reason why the search ended early; None if it did not.
    """

    request: Request
    target: EngineTarget
    compiled: Compiled
    load_number: Callable[[EngineTarget], int] = lambda _: 0
    look: Callable[[EngineTarget], MachineLoad | None] = lambda _: None
    reached: Mapping[str, EngineTarget] = field(default_factory=dict)
    stop_rules: Sequence[StopRule] = ()
    shows: Shows = field(default_factory=Shows)
    steps: list[StepResult] = field(default_factory=list)
    cut_short: str | None = None
    _ended: Event = field(default_factory=Event)
    # reports of all clients, keyed by step and second
    _told: dict[tuple[int, int], list[SecondReport]] = field(
        default_factory=lambda: defaultdict(list)
    )
    _lock: Lock = field(default_factory=Lock)

    def end(self, why: str) -> None:
        """End the load at once; the finished steps stay. Any thread may call it."""
        self.cut_short = self.cut_short or why
        self._ended.set()

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return self._ended.is_set()

    def search(self) -> None:
        """Search until the result is known, or until the search is cut short.

        Raises:
            StepError: A step had no usable result, and further steps would have none either.
            UsageError: The steps cannot be judged.
        """
        with watch_clock(self.end):
            self._search()

    def _search(self) -> None:
        until = time.monotonic() + self.request.time_limit_s
        if self.request.prepare.warm_s:
            self._warm()
        while not self._ended.is_set():
            following = plan_run_step(self.request, [result.step for result in self.steps])
            if isinstance(following, Done):
                return
            if following.state is not None and self.reached:
                self.target = self.reached[following.state]
            poll_us = choose_poll_us(self.target, following.clients)
            plan = plan_step(following, self.request, poll_us=poll_us)
            if time.monotonic() + _takes_s(plan) > until:
                plan = shorten_window(plan, self.request) or plan
            ready = self._prepare(plan, following, until)
            if ready is None or self._ended.is_set():
                return
            if not self.stop_rules:  # which are for what may not happen to a database in use
                ready = plan_fill(ready, self.request, [result.step for result in self.steps])
            left_s = until - time.monotonic() - _takes_s(ready)
            self._step(ready.model_copy(update={"fill_s": max(0.0, min(ready.fill_s, left_s))}))

    def _warm(self) -> None:
        search, plan = self.request.search, plan_warming(self.request)
        if isinstance(search, RateSearch):  # warming may not exceed the lowest rate either
            rate = search.rate_first_ops_per_second
            plan = plan.model_copy(update={"rate_ops_per_second": rate})
        start = compute_local_barrier_ms(plan.connections)
        plan = plan.model_copy(update={"start_at_epoch_ms": start})
        self.shows.planned(plan)
        _, failed = self._run(plan)
        if failed and not self._ended.is_set():
            self.shows.say(f"warming: {failed[0].cause}")

    def _prepare(self, plan: StepPlan, following: NextStep, until: float) -> StepPlan | None:
        """Wait until the target has recovered and this machine is calm.

        Returns:
            None if the search ends before the step.
        """
        waiting: Recovery | None = None
        busy: BusyMachine | None = None
        told: tuple[type[Recovery | BusyMachine], int] | None = None
        watched = waits_for_machine(self.request)
        finished = [result.step for result in self.steps]
        while not self._ended.is_set():
            if time.monotonic() + _takes_s(plan) > until:
                limit = words.format_duration(self.request.time_limit_s)
                if following.purpose not in CLOSING:  # otherwise the answer stands without it
                    self.cut_short = f"the time limit of {limit} left no time for another step"
                return None
            ready = prepare_step(
                plan,
                following,
                self.request,
                counters=find_family(self.target.protocol).read_counters(self.target),
                waiting=waiting,
                at_epoch_ms=round(time.time() * 1000),
                machine=self.look(self.target) if watched else None,
                busy=busy,
                finished=finished,
            )
            if isinstance(ready, Recovery):
                waiting = ready
                text = describe_recovery(ready, self.request.load.recovery_max_s)
            elif isinstance(ready, BusyMachine):
                busy = ready
                text = describe_busy_machine(ready, self.request.load.calm_max_s)
            else:
                return ready
            waited_s = (ready.seen_epoch_ms - ready.since_epoch_ms) // 1000
            if told != (type(ready), waited_s // WAIT_TOLD_S):
                told = type(ready), waited_s // WAIT_TOLD_S
                self.shows.say(text)
            self._ended.wait(LOOK_AGAIN_S)
        return None

    def _step(self, plan: StepPlan) -> None:
        number, host, beside = self.load_number(self.target), Host.of(self.target), 0
        plan = plan.model_copy(update={"load_number": number})
        with self._fill_log(plan) as filling:
            # Computed last: the clients need the whole lead.
            start = compute_local_barrier_ms(plan.connections)
            plan = plan.model_copy(update={"start_at_epoch_ms": start})
            if filling is not None:
                filling.end_at(start / 1000)
            self.shows.planned(plan)
            with host.watch(plan):
                results, failed = self._run(plan)
            if filling is not None and results:
                first, *others = results
                report = add_statements(first.report, filling.join())
                results = [first.model_copy(update={"report": report}), *others]
                beside = filling.other_statements
        if self._ended.is_set():
            return  # half a step says nothing
        after = find_family(self.target.protocol).read_counters(self.target)
        fold = fold_clients(plan, results)
        statistic = self.request.limits.statistic
        merged = build_step(fold, failed, server_after=after, statistic=statistic)
        merged = host.add_figures(report_other_statements(merged, results, beside))
        merged, nothing = check_sense(merged, fold)
        self.steps.append(merged)
        self.shows.finished(merged)
        finished = [step.step for step in self.steps]
        require_sense(merged, nothing, finished, answers=after is not None)

    @contextmanager
    def _fill_log(self, plan: StepPlan) -> Iterator[LogFilling | None]:
        """Wait until the server's log is filled, and keep it so until the step's load begins."""
        if not plan.fill_s:
            yield None
            return
        workload = self.compiled.engine_workload(load_number=self.load_number(self.target))
        spec = make_load_spec(plan, 0, workload=workload, target=self.target)
        filling = LogFilling(
            make_fill_spec(spec, workload, plan.fill_connections), plan.fill_s, self.shows.say
        )
        filling.start()
        try:
            while not filling.filled.wait(FILL_LOOK_S) and not self._ended.is_set():
                pass
            yield filling
        finally:
            filling.end_at(0.0)
            filling.join()

    def _run(self, plan: StepPlan) -> tuple[list[ClientResult], list[FailedClient]]:
        return run_clients(
            plan,
            self.compiled.engine_workload(load_number=plan.load_number),
            self.target,
            on_second=lambda client, second: self._second(plan, client, second),
            ended=self._ended,
        )

    def _second(self, plan: StepPlan, client: int, second: Sequence[SecondReport]) -> None:
        with self._lock:  # each client reports from its own thread
            of_all = self._told[plan.index, second[0].second if second else -1]
            of_all += second
        for rule in self.stop_rules:
            broken = rule.find_broken_limit(of_all if rule.kind == "rate" else second)
            if broken is not None:
                load = words.format_count(plan.connections, "connection")
                if plan.rate_ops_per_second is not None:
                    load = words.format_load(plan.rate_ops_per_second, "rate_ops_per_second")
                self.end(f"at {load} {broken} ({rule.text})")
        if client == 0:
            self.shows.second(plan, second)


def _takes_s(plan: StepPlan) -> float:
    return plan.warmup_s + plan.duration_s + JUDGING_S
