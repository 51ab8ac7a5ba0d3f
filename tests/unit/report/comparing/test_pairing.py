"""The ratio of two runs whose steps took turns."""

import math

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.run.results import RunResult, StepResult
from plimsoll.report.comparing.ratios import divide_figures, pair_steps
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
SLOT_MS = 8_000


def step(slot: float, ops_per_second: float) -> StepResult:
    """A step at one load that began with a slot."""
    done = RESULT.steps[0]
    plan = done.plan.model_copy(
        update={"start_at_epoch_ms": round(slot * SLOT_MS), "purpose": "confirm"}
    )
    judged = done.step.model_copy(
        update={"throughput_ops_per_second": ops_per_second, "clients": 1, "connections": 8}
    )
    return done.model_copy(update={"plan": plan, "step": judged})


def run(figures: dict[float, float]) -> RunResult:
    """A run of one load: {slot: ops/s}."""
    steps = tuple(step(slot, figure) for slot, figure in figures.items())
    capacity = judge([one.step for one in steps], Rules(confirmation=None, cv_max=2.0))
    return RESULT.model_copy(update={"steps": steps, "capacity": capacity})


def drifting(place: int, factor: float) -> RunResult:
    """Six repetitions of a machine that halves its speed meanwhile, in every other slot."""

    def figure(slot: int) -> float:
        return factor * 1000 * math.pow(0.5, slot / 12) * (1 + 0.01 * (slot % 3))

    return run({slot: figure(slot) for slot in range(place, 12, 2)})


def test_pairs_tell_apart_what_two_groups_cannot() -> None:
    io1, nvme = drifting(0, 1.0), drifting(1, 1.2)
    groups = divide_figures("nvme", nvme, "io1", io1, apart_s=None)
    paired = divide_figures("nvme", nvme, "io1", io1, apart_s=12)
    assert groups is not None
    assert paired is not None
    assert (groups.differs, groups.pairs) == (False, None)
    assert (paired.differs, paired.pairs) == (True, 6)
    # one slot later a twelfth of the drift has come on top
    assert paired.value == pytest.approx(1.2 * 0.5 ** (1 / 12), rel=0.02)
    assert "6 pairs): the difference is larger than the noise." in paired.sentence


def test_the_ratio_is_of_the_first_to_the_second_whichever_began() -> None:
    io1, nvme = run({0: 100, 2: 101, 4: 99}), run({1: 200, 3: 202, 5: 198})
    there = divide_figures("nvme", nvme, "io1", io1, apart_s=12)
    back = divide_figures("io1", io1, "nvme", nvme, apart_s=12)
    assert there is not None
    assert back is not None
    assert math.isclose(there.value, 2.0)
    assert math.isclose(back.value, 0.5)


def test_a_turn_that_was_missed_loses_one_pair_and_no_step_is_in_two() -> None:
    io1, nvme = run({0: 100, 4: 110}), run({1: 200, 3: 210, 5: 220})
    assert pair_steps(io1, nvme, 12) == [(100, 200), (110, 210)]


def test_steps_far_apart_are_no_pair() -> None:
    assert pair_steps(run({0: 100, 20: 100}), run({10: 200, 30: 200}), 12) == []


def test_without_three_pairs_the_groups_are_compared() -> None:
    io1, nvme = run({0: 100, 20: 101, 40: 99}), run({1: 200, 30: 201, 50: 202})
    found = divide_figures("nvme", nvme, "io1", io1, apart_s=12)
    assert found is not None
    assert found.pairs is None
    assert found.repetitions == (3, 3)
