"""What the phases of an experiment gain, before what its search says."""

import pytest

from plimsoll.model.run.experiment_record import Effect, Factorial
from plimsoll.report.experiment.answer import describe_phase_gains

NOTHING = Effect(ratio=1.01, low=0.97, high=1.05)
TWICE = Effect(ratio=2.0, low=1.8, high=2.2)
UNSURE = Effect(ratio=1.3, low=0.8, high=2.1)
NO_INTERVAL = Effect(ratio=2.0)


def phase(question: str, small: Effect, large: Effect) -> Factorial:
    return Factorial(
        question=question,
        axis="storage",
        levels=("slow", "fast"),
        beside="instance",
        beside_levels=("small", "large"),
        repetitions=(3, 3, 3, 3),
        main=TWICE,
        beside_main=TWICE,
        interaction=TWICE,
        gain_on=(small, large),
        sentence="",
    )


SEARCH = phase("all, the search", UNSURE, UNSURE)


@pytest.mark.parametrize(
    ("small", "large", "says"),
    [
        (NOTHING, TWICE, "load at 16 connections gains nothing on small and 2.00 times on large"),
        (TWICE, UNSURE, "gains 2.00 times on small and nothing that is sure on large"),
        (NOTHING, NOTHING, "nothing is gained in load at 16 connections"),
        (NOTHING, UNSURE, "not decided of load at 16 connections"),
        (NO_INTERVAL, NO_INTERVAL, "not decided of load at 16 connections"),
    ],
)
def test_a_gain_is_said_where_it_is_sure(small: Effect, large: Effect, says: str) -> None:
    told, after = describe_phase_gains([phase("load, 16 connections", small, large), SEARCH])
    assert told.startswith("From slow to fast: ")
    assert says in told
    assert after == "What follows is of the load that lasts after them."


def test_phases_of_one_kind_are_said_together() -> None:
    phases = [phase(f"{name}, 1 connection", NOTHING, NOTHING) for name in ("load", "check", "pay")]
    told, _ = describe_phase_gains([*phases, phase("load, 16 connections", TWICE, TWICE), SEARCH])
    assert told == (
        "From slow to fast: load at 16 connections gains 2.00 times on small and 2.00 times on"
        " large; nothing is gained in load at 1 connection, check at 1 connection and pay at 1"
        " connection."
    )


def test_a_search_of_a_phase_is_named_as_one() -> None:
    told, _ = describe_phase_gains([phase("load, its search", TWICE, TWICE), SEARCH])
    assert told.startswith("From slow to fast: the search of load gains 2.00 times on small")


def test_where_a_cell_has_no_phases_nothing_is_said_of_any() -> None:
    assert describe_phase_gains([SEARCH]) == []


def test_without_phases_there_is_nothing_to_say_first() -> None:
    assert describe_phase_gains([phase("all", TWICE, TWICE)]) == []
