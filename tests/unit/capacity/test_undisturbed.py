"""On one machine, a step that the machine itself disturbed is repeated, and never believed."""

import pytest

from plimsoll.capacity import judge, next_step
from plimsoll.capacity.audits import undisturbed
from plimsoll.model.capacity import Rules
from plimsoll.model.search_request import Done, NextStep, StepsSearch
from plimsoll.model.steps import Step

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
        (25.0, 10.0, True, "25 % of the time in I/O was due to its own disk (25 % allowed)"),
        (25.1, 0.0, False, "25.1 % of the time in I/O"),
        (0.0, 10.1, False, "10.1 % of its processor time was stolen (10 % allowed)"),
        (None, 3.0, True, "3 % of its processor time was stolen"),
        (None, 41.0, False, "41 %"),
    ],
)
def test_either_the_disk_or_the_hypervisor_may_disturb(
    late: float | None, stolen: float | None, passed: bool | None, told: str
) -> None:
    audit = undisturbed(Step(clients=1, host_late_percent=late, host_stolen_percent=stolen))
    assert audit.passed is passed
    assert told in audit.detail


def test_a_disturbed_step_is_asked_again_where_another_dispute_would_have_ended_the_search() -> (
    None
):
    for tries in range(1, 6):
        asked = next_step(SEARCH, [*QUIET, *[COLLAPSED] * tries], ONCE)
        assert isinstance(asked, NextStep)
        assert (asked.clients, asked.purpose) == (3, "again")
    ended = next_step(SEARCH, [*QUIET, *[COLLAPSED] * 6], ONCE)
    assert isinstance(ended, Done)


def test_what_is_measured_once_the_machine_is_at_rest_decides() -> None:
    capacity = judge([*QUIET, COLLAPSED, COLLAPSED, step(3, 2900, 120)], ONCE)
    assert capacity.verdict == "LOWER_BOUND"
    assert capacity.max_sustainable_throughput_ops_per_second == 2900
    assert any("2 of 3 repetitions are left out" in note for note in capacity.notes)


def test_a_machine_that_never_comes_to_rest_gives_no_figure() -> None:
    capacity = judge([*QUIET, *[COLLAPSED] * 6], ONCE)
    assert capacity.verdict == "INCONSISTENT"
    assert capacity.cause == "audit:undisturbed"
    assert "63 % of the time in I/O was due to its own disk" in capacity.summary


def test_what_disturbed_the_machine_is_told_before_what_followed_from_it() -> None:
    """Little's law, which one client and one connection cannot break by themselves, fails too."""
    slow = step(1, 1000, 100, late=84.0).model_copy(
        update={"connections": 1, "latency_us": {"update": {"p99": 9000, "mean": 5000}}}
    )
    capacity = judge([slow], ONCE)
    assert capacity.verdict == "INCONSISTENT"
    assert capacity.cause == "audit:undisturbed"
    assert "84 % of the time in I/O was due to its own disk" in capacity.summary
