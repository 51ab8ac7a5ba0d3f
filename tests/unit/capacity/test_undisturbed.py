"""On one machine, a step that the machine itself disturbed is repeated, and never believed."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.capacity.search import DISTURBED_MAX, plan_next_step
from plimsoll.capacity.steps.audits import audit_disturbance
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Half, Step
from plimsoll.model.request.search_request import Done, NextStep, StepsSearch

ONCE = Rules(confirmation=None)
SEARCH = StepsSearch(clients=(1, 2, 3))


def step(clients: int, ops: float, us: float, late: float | None = 1.0) -> Step:
    return Step(
        clients=clients,
        throughput_ops_per_second=ops,
        latency_us={"update": {"p99": us}},
        host_late_percent=late,
    )


QUIET = [step(1, 1000, 100), step(2, 2000, 110)]
COLLAPSED = step(3, 300, 9000, late=63.0)


@pytest.mark.parametrize(
    ("late", "stolen", "passed", "told"),
    [
        (None, None, None, "needs"),
        (25.0, 10.0, True, "its own disk caused 25 % of the time in I/O; at most 25 % is allowed"),
        (25.1, 0.0, False, "caused 25.1 % of the time in I/O"),
        (0.0, 10.1, False, "the hypervisor took 10.1 % of the CPU; at most 10 % is allowed"),
        (None, 3.0, True, "the hypervisor took 3 % of the CPU"),
        (None, 41.0, False, "41 %"),
    ],
)
def test_either_the_disk_or_the_hypervisor_may_disturb(
    late: float | None, stolen: float | None, passed: bool | None, told: str
) -> None:
    audit = audit_disturbance(Step(clients=1, host_late_percent=late, host_stolen_percent=stolen))
    assert audit.passed is passed
    assert told in audit.detail


@pytest.mark.parametrize(
    ("others", "idle", "passed", "told"),
    [
        (10.0, 0.0, True, "this machine: other processes used 10 % of the CPU"),
        (10.1, 2.0, False, "this machine was busy: other processes used 10.1 % of the CPU"),
        (10.1, 2.0, False, "used 10.1 % of the CPU; at most 10 % is allowed"),
        (48.3, 49.9, False, "this machine was busy: other processes used 48.3 %"),
        (48.3, 50.0, True, "at most 100 % is allowed"),  # of many processors: nobody waits for one
        (0.0, 0.0, True, "used 0 % of the CPU"),  # the run's own load fills the machine: its limit
    ],
)  # fmt: skip
def test_other_processes_disturb_where_they_leave_less_than_half_of_the_machine_idle(
    others: float, idle: float, passed: bool, told: str
) -> None:
    audit = audit_disturbance(Step(clients=1, host_others_percent=others, host_idle_percent=idle))
    assert audit.passed is passed
    assert told in audit.detail


@pytest.mark.parametrize(("waiting", "passed"), [(25.0, True), (25.1, False)])
def test_clients_on_machines_of_their_own_see_how_long_their_work_waited(
    waiting: float, passed: bool
) -> None:
    audit = audit_disturbance(Step(clients=1, client_waiting_percent=waiting))
    assert audit.passed is passed
    told = "a client's machine" if passed else "a client's machine was busy"
    assert audit.detail.startswith(f"{told}: {waiting:g} % of its work waited for a CPU")


def test_only_what_failed_is_told_of_a_machine_that_was_busy() -> None:
    audit = audit_disturbance(Step(clients=1, host_late_percent=1.0, host_stolen_percent=11.0))
    assert "I/O" not in audit.detail


def test_a_disturbed_step_is_asked_again_where_another_dispute_would_have_ended_the_search() -> (
    None
):
    for tries in range(1, 6):
        asked = plan_next_step(SEARCH, [*QUIET, *[COLLAPSED] * tries], ONCE)
        assert isinstance(asked, NextStep)
        assert (asked.clients, asked.purpose) == (3, "again")
    ended = plan_next_step(SEARCH, [*QUIET, *[COLLAPSED] * 6], ONCE)
    assert isinstance(ended, Done)


def test_what_is_measured_once_the_machine_is_at_rest_decides() -> None:
    capacity = judge([*QUIET, COLLAPSED, COLLAPSED, step(3, 2900, 120)], ONCE)
    assert capacity.verdict == "LOWER_BOUND"
    assert capacity.max_sustainable_throughput_ops_per_second == 2900
    assert any("2 of 3 repetitions are left out" in note for note in capacity.notes)


def test_a_machine_that_never_comes_to_rest_gives_the_load_that_passed_as_a_lower_bound() -> None:
    capacity = judge([*QUIET, *[COLLAPSED] * 6], ONCE)
    assert (capacity.verdict, capacity.bound, capacity.at) == ("LOWER_BOUND", ">=", 2)
    assert capacity.max_sustainable_throughput_ops_per_second == 2000
    assert (capacity.cause, capacity.slowed, capacity.disturbed) == (
        "audit:undisturbed",
        True,
        True,
    )
    assert capacity.summary.startswith("sustains at least 2,000 ops/s at 2 clients, and possibly")
    busy = (
        "this machine was busy: its own disk caused 63 % of the time in I/O; at most 25 % is"
        " allowed"
    )
    assert busy in capacity.summary


def test_a_baseline_that_was_disturbed_makes_no_knee_of_what_comes_after_it() -> None:
    """As a run that began beside a build: what is slow at 1 client is the machine."""
    slow = Step(
        clients=1,
        throughput_ops_per_second=600,
        latency_us={"update": {"p99": 900}},
        host_others_percent=64.0,
        host_idle_percent=0.5,
    )
    capacity = judge([slow, *QUIET[1:], step(3, 2100, 9000)], ONCE)
    assert capacity.verdict == "DISTURBED"
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert "other processes used 64 % of the CPU" in capacity.summary


def test_whatever_else_is_wrong_with_a_disturbed_step_comes_of_the_disturbance() -> None:
    late = COLLAPSED.model_copy(update={"clients_ran": 2})
    capacity = judge([late] * 6, ONCE)
    assert (capacity.verdict, capacity.cause) == ("DISTURBED", "audit:undisturbed")
    assert capacity.causes == ("audit:undisturbed", "audit:clients_ran")


def test_a_load_that_was_disputed_for_another_reason_at_rest_is_inconsistent() -> None:
    at_rest = step(3, 300, 9000).model_copy(update={"clients_ran": 2})
    assert judge([*QUIET, COLLAPSED, at_rest, at_rest], ONCE).verdict == "INCONSISTENT"


# --- a machine that is never calm ---


LIMITED = Rules(confirmation=None, limits_us={"update": 500})


def slowed(clients: int, ops: float, us: float) -> Step:
    """A step that passes or fails while other programs use most of the machine."""
    return step(clients, ops, us).model_copy(
        update={"host_others_percent": 52.0, "host_idle_percent": 3.0}
    )


def test_steps_that_pass_an_absolute_limit_on_a_busy_machine_are_a_lower_bound() -> None:
    """Other programs only slow a step."""
    seen = [slowed(1, 800, 300), slowed(1, 700, 350), slowed(1, 750, 900)]
    capacity = judge(seen, LIMITED)
    assert (capacity.verdict, capacity.bound, capacity.at) == ("LOWER_BOUND", ">=", 1)
    assert capacity.max_sustainable_throughput_ops_per_second == 700, (
        "the least of those that passed"
    )
    assert capacity.bracket == (1, None)
    assert "this machine was busy: other processes used 52 % of the CPU" in capacity.summary


def in_halves(step: Step, first: float, second: float) -> Step:
    halves = tuple(Half(throughput_ops_per_second=ops) for ops in (first, second))
    return step.model_copy(update={"halves": halves})


def test_what_other_programs_make_unsteady_still_passes() -> None:
    """They begin and end within a window; half of the tries of an evening had been lost by it."""
    faster = in_halves(slowed(1, 800, 300), 600, 1000)
    capacity = judge([faster, slowed(1, 700, 300)], LIMITED)
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 1)
    assert capacity.max_sustainable_throughput_ops_per_second == 700
    slower = in_halves(slowed(1, 800, 300), 1000, 600)
    capacity = judge([slower, slowed(1, 700, 300)], LIMITED)
    assert capacity.verdict == "LOWER_BOUND"
    assert capacity.max_sustainable_throughput_ops_per_second == 600, "its slower half"


def test_repetitions_that_vary_on_a_busy_machine_are_a_lower_bound() -> None:
    """As beside a program that took one core for 20 s of each 40: a figure varied by 14 %."""
    calm = [step(1, ops, 300) for ops in (1000, 700, 1300)]
    assert judge(calm, LIMITED).verdict == "NOISY", "nothing shows that it was the machine"
    capacity = judge([*calm, slowed(1, 600, 310)], LIMITED)
    assert (capacity.verdict, capacity.bound, capacity.at) == ("LOWER_BOUND", ">=", 1)
    assert capacity.max_sustainable_throughput_ops_per_second == 600, "the weakest repetition"
    assert "this machine was busy: other processes used 52 % of the CPU" in capacity.summary
    elsewhere = judge([*calm, slowed(2, 600, 900)], LIMITED)
    assert elsewhere.max_sustainable_throughput_ops_per_second == 700


def test_tries_with_too_few_operations_speak_neither_for_nor_against_a_bound() -> None:
    few = slowed(1, 100, 300).model_copy(update={"operation_counts": {"update": 150}})
    assert judge([few, few], LIMITED).verdict in {"DISTURBED", "NOISY"}
    capacity = judge([slowed(1, 700, 300), few, few, few], LIMITED)
    assert (capacity.verdict, capacity.bound) == ("LOWER_BOUND", ">=")
    assert capacity.max_sustainable_throughput_ops_per_second == 700
    over = few.model_copy(update={"latency_us": {"update": {"p50": 8000, "p99": 9000}}})
    assert judge([slowed(1, 700, 300), over, over], LIMITED).verdict == "DISTURBED"


@pytest.mark.parametrize(
    ("seen", "rules"),
    [
        ([slowed(1, 800, 300)], ONCE),  # the baseline itself: its latency limits nothing
        ([slowed(1, 800, 900)], LIMITED),
        ([slowed(1, 800, 300), slowed(1, 800, 900)], LIMITED),  # half of them are no majority
        ([slowed(1, 800, 300).model_copy(update={"clients_ran": 0})], LIMITED),
    ],
)
def test_what_does_not_pass_on_a_busy_machine_shows_nothing(seen: list[Step], rules: Rules) -> None:
    capacity = judge(seen, rules)
    assert capacity.verdict == "DISTURBED"
    assert capacity.max_sustainable_throughput_ops_per_second is None


def test_a_limit_by_deterioration_of_a_calm_baseline_bounds_what_passed_later() -> None:
    capacity = judge([*QUIET, *[slowed(3, 2500, 290)] * 3], ONCE)
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 3)
    assert capacity.max_sustainable_throughput_ops_per_second == 2500


def test_a_search_climbs_on_a_machine_that_is_never_calm_and_tries_later_loads_once() -> None:
    finished: list[Step] = []
    asked: list[int | None] = []
    while isinstance(following := plan_next_step(SEARCH, finished, LIMITED), NextStep):
        asked.append(following.clients)
        finished.append(
            slowed(following.clients, 800.0 * following.clients, 300).model_copy(
                update={"purpose": following.purpose}
            )
        )
    assert asked == [1] * DISTURBED_MAX + [2] + [3] * DISTURBED_MAX
    capacity = judge(finished, LIMITED)
    assert (capacity.verdict, capacity.at) == ("LOWER_BOUND", 3)


@pytest.mark.parametrize(
    ("steps", "told"),
    [
        ([slowed(1, 800, 300), step(2, 1600, 300)], "1 of 2 steps would not count, such as: this"),
        (QUIET, "none of the steps would be disputed by it"),
    ],
)
def test_a_result_without_the_audit_says_so(steps: list[Step], told: str) -> None:
    off = LIMITED.model_copy(update={"audits_off": frozenset({"undisturbed"})})
    [note] = [note for note in judge(steps, off).notes if "without the audit" in note]
    assert told in note
    unseen = [one.model_copy(update={"host_late_percent": None}) for one in QUIET]
    assert not any("without the audit" in note for note in judge(unseen, off).notes)
