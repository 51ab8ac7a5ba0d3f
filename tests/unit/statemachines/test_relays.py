"""A relay in virtual time: the state machine's own states, with functions that only take time.

Step Functions waits by the second and calls a little late; functions start within their lead and
end some seconds after their window.
"""

import heapq
import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from jsonata import Jsonata

from plimsoll.fleet.relay import compute_results_after_ms, count_called, plan_relay
from plimsoll.local.aws.corrections.jsonata import evaluate
from plimsoll.model.request.load_request import RELAY_CLIENTS_MOST, compute_shortest_relay_window_s
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.timings import AWS_TIMINGS
from plimsoll.statemachines import read_definition
from plimsoll.workflow.barrier import Next
from tests.support.requested import REQUESTED
from tests.unit.fleet.test_merge import planned

START_MS = 1_800_000_000_000
EVENTS_MOST = 25_000  # of one execution
EVENTS = {"Choice": 2, "Wait": 2, "Pass": 2, "Task": 5}
MACHINE = json.loads(read_definition("run"))["States"]
STATES: dict[str, Any] = MACHINE["RunRelay"]["ItemProcessor"]["States"]


def plan(windows: int, *, clients: int = 2, window_s: float = 600.0) -> tuple[StepPlan, ...]:
    """Plan a relay as `plan-step` does."""
    lead_ms = round(1000 * AWS_TIMINGS.lead_s(clients))
    first = planned(clients=clients, warmup_s=30, duration_s=window_s).model_copy(
        update={
            "purpose": "soak",
            "timeout_ms": 60_000,
            "start_at_epoch_ms": START_MS + lead_ms,
            "relay": None,
        }
    )
    then = [f"window {number}" for number in range(2, windows + 1)]
    return plan_relay(Request.model_validate(REQUESTED), first, then, lead_ms=lead_ms)


@dataclass
class Relay:
    """An execution of `RunRelay`.

    Attributes:
        loads: When each client of each step sent its load.
        called: When each client of each step was called.
        read: When the server's counters were read for each step.
        judged: When each step was judged.
        events: The events of each item's execution.
        ended_ms: When the last item's execution ended.
    """

    plans: tuple[StepPlan, ...]
    fails_at: int | None = None  # the step that the judge finds not sustained
    loads: dict[int, list[tuple[float, float]]] = field(default_factory=dict)
    called: dict[int, list[float]] = field(default_factory=dict)
    read: dict[int, float] = field(default_factory=dict)
    judged: dict[int, float] = field(default_factory=dict)
    events: dict[int, int] = field(default_factory=dict)
    until: int | None = None
    ended_ms: float = 0.0
    told: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(1))

    def run(self) -> "Relay":
        """Carry it out, in the order of the virtual clock."""
        told: dict[str, Any] = Next.relay(self.plans)
        clock = [START_MS + 0.0]
        items = [
            (START_MS + 0.0, number, self._execute(item, told, clock))
            for number, item in enumerate(told["clients"])
        ]
        heapq.heapify(items)
        while items:
            at, number, execution = heapq.heappop(items)
            clock[0] = at
            took_ms = next(execution, None)
            if took_ms is None:
                self.ended_ms = max(self.ended_ms, at)
            else:
                heapq.heappush(items, (at + took_ms, number, execution))
        return self

    def _execute(self, item: int, told: Mapping[str, Any], clock: list[float]) -> Iterator[float]:
        """Execute the states of one item; gives the milliseconds that each takes."""
        variables = {
            "run_id": "r",
            "clients_in": "",
            "turns": told["turns"],
            "millis": Jsonata.JLambda(lambda: round(clock[0])),
        }
        context = {"context": {"Map": {"Item": {"Value": item}}}}
        given = fill(MACHINE["RunRelay"]["ItemSelector"], {**variables, "states": context})
        name, self.events[item] = "AnotherTurn?", 2
        while True:
            state = STATES[name]
            self.events[item] += EVENTS[state["Type"]]
            seen: dict[str, Any] = {"input": given}
            variables["states"] = seen
            name = state.get("Next", "")
            match state["Type"]:
                case "Choice":
                    matched = (c for c in state["Choices"] if fill(c["Condition"], variables))
                    name = next(matched, {"Next": state["Default"]})["Next"]
                case "Wait":
                    waited_s = fill(state["Seconds"], variables)
                    yield 1000.0 * waited_s + self._random.uniform(0, 900)
                case "Task":
                    payload = fill(state["Arguments"].get("Payload", {}), variables)
                    took_ms, answer = self._answer(given["turn"]["role"], payload, clock[0])
                    yield took_ms
                    # a client sees at its end whether it has another turn
                    answer["over"] = answer["over"] or self._is_over(payload.get("step", 0) + 2)
                    seen["result"] = {"Payload": answer}
            given = fill(state["Output"], variables) if "Output" in state else given
            if state.get("End"):
                return

    def _is_over(self, step: int) -> bool:
        return self.until is not None and step > self.until

    def _answer(
        self, role: str, payload: Mapping[str, Any], at: float
    ) -> tuple[float, dict[str, Any]]:
        """Do what a function does, and say how long it takes."""
        if not payload:
            self.told += 1
            return 50.0, {"over": False}
        step = payload["step"]
        one = self.plans[step - self.plans[0].index]
        if role == "client":
            if self._is_over(step):
                return 50.0, {"over": True}
            starts = at + self._random.uniform(0, 15_000)  # a cold start, a login
            assert starts < one.start_at_epoch_ms, "late at its barrier"
            self.called.setdefault(step, []).append(at)
            ends = one.window_end_epoch_ms
            self.loads.setdefault(step, []).append((one.start_at_epoch_ms, ends))
            return ends + self._random.uniform(500, 8_000) - at, {"over": False}
        over = self.until is not None and step >= self.until
        if role == "reader":
            if not over:
                self.read[step] = max(at, one.window_end_epoch_ms)
            return max(0.0, one.window_end_epoch_ms - at) + 200, {"over": over}
        if over:
            return 100.0, {"over": True, "judged": None}
        self.judged[step] = at
        if step == self.fails_at:
            self.until = count_called(self.plans[step - self.plans[0].index :], round(at) + 3_000)
        return self._random.uniform(500, 20_000), {"over": False, "judged": {"step": step}}


def fill(text: object, variables: Mapping[str, Any]) -> Any:
    """Evaluate the expressions of a state's field."""
    if isinstance(text, Mapping):
        return {name: fill(value, variables) for name, value in text.items()}
    if isinstance(text, list):
        return [fill(value, variables) for value in text]
    if not (isinstance(text, str) and text.startswith("{%")):
        return text
    return evaluate(text[2:-2].strip(), variables)


def test_a_load_of_eight_hours_never_pauses_and_never_doubles() -> None:
    plans = plan(48)
    relay = Relay(plans).run()
    spans = [set(relay.loads[one.index]) for one in plans]
    assert all(len(span) == 1 for span in spans), "the clients of a window send at the same time"
    times = [next(iter(span)) for span in spans]
    assert all(before[1] == after[0] for before, after in pairwise(times))
    assert times[-1][1] - times[0][0] == 1000 * (30 + 8 * 3600)
    assert {len(clients) for clients in relay.loads.values()} == {2}


def test_a_fleet_is_called_before_the_last_one_ends_and_no_third_one_is_there() -> None:
    plans = plan(48)
    relay = Relay(plans).run()
    lead_ms = 1000 * AWS_TIMINGS.lead_s(2)
    for before, one in pairwise(plans):
        called = relay.called[one.index]
        early_ms = [one.start_at_epoch_ms - at for at in called]
        assert all(lead_ms <= ms <= lead_ms + 4_000 for ms in early_ms), "the stated overlap"
        assert all(at > before.start_at_epoch_ms for at in called)
    for before, _, one in zip(plans, plans[1:], plans[2:], strict=False):
        assert min(relay.called[one.index]) > before.window_end_epoch_ms + 8_000


def test_counters_are_read_between_two_windows_and_each_is_judged_when_its_results_are_there() -> (
    None
):
    plans = plan(48)
    relay = Relay(plans).run()
    *judged, last = plans  # the last one is judged after the relay
    assert sorted(relay.read) == sorted(relay.judged) == [one.index for one in judged]
    assert relay.told == len(judged)
    for one in judged:
        assert 0 <= relay.read[one.index] - one.window_end_epoch_ms < 1_000
        least_ms = one.window_end_epoch_ms + compute_results_after_ms(one) - 1_000
        assert relay.judged[one.index] >= least_ms
    assert relay.ended_ms < last.window_end_epoch_ms + 10_000


@pytest.mark.parametrize("fails_at", [1, 7, 46])
def test_a_window_that_failed_ends_the_relay_with_the_window_after_it(fails_at: int) -> None:
    plans = plan(48)
    relay = Relay(plans, fails_at=fails_at).run()
    assert relay.until == fails_at + 1
    assert sorted(relay.loads) == list(range(1, fails_at + 2))
    assert {len(clients) for clients in relay.loads.values()} == {2}, "a part of a fleet ran"
    assert relay.ended_ms < plans[fails_at].window_end_epoch_ms + 10_000


def test_windows_may_be_so_short_that_the_next_fleet_is_called_before_the_last_is_judged() -> None:
    plans = plan(20, window_s=compute_shortest_relay_window_s(2))
    relay = Relay(plans, fails_at=3).run()
    assert relay.until is not None
    assert relay.until > 4, "results take longer than a window"
    assert sorted(relay.loads) == list(range(1, relay.until + 1))
    assert {len(clients) for clients in relay.loads.values()} == {2}


def test_a_day_of_it_fits_into_the_histories_of_step_functions() -> None:
    day = Relay(plan(144)).run()
    assert max(day.events.values()) < EVENTS_MOST / 8
    assert MACHINE["RunRelay"]["ItemProcessor"]["ProcessorConfig"]["Mode"] == "DISTRIBUTED"
    assert MACHINE["RunRelay"]["Output"] == {}


def test_the_largest_relay_fits_into_what_a_map_carries_and_runs_at_once() -> None:
    told: dict[str, Any] = Next.relay(plan(2, clients=RELAY_CLIENTS_MOST))
    assert len(json.dumps(told)) < 256 * 1024 / 2
    assert len(told["clients"]) <= 10_000
    assert len(set(told["clients"])) == len(told["clients"])
