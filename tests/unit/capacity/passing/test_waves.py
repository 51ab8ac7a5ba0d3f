"""Windows of one load that disagree by far: the answer says that they are too short."""

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Rules
from tests.unit.capacity.samples import step

RULES = Rules(limits_us={"update": 20_000})


def said(*windows: tuple[int, float], rules: Rules = RULES) -> list[str]:
    """What is said of windows, each of (clients, p99 in microseconds of updates)."""
    steps = [step(clients, clients * 1000.0, p99_us) for clients, p99_us in windows]
    return [note for note in judge(steps, rules).notes if "waves" in note]


def test_windows_on_both_sides_of_the_limit_and_far_apart_are_too_short() -> None:
    (note,) = said((1, 2_000), (2, 7_000), (2, 45_000), (2, 7_500), (2, 58_000))
    assert note == (
        "at 2 clients, latency comes in waves longer than a window: p99 of update was 7.00 ms in"
        " one window and 58.0 ms in another, above its limit of 20.0 ms in 2 of 4; use longer"
        " windows"
    )


@pytest.mark.parametrize(
    ("p99s_us", "why"),
    [
        ((7_000,), "one window disagrees with nothing"),
        ((2_000, 8_000), "all are within the limit"),
        ((21_000, 90_000), "all are beyond it"),
        ((12_000, 30_000), "not so far apart that noise would not do it"),
        ((7_000, 7_000, 7_000, 7_000, 58_000), "one of five is a bad window"),
        ((7_000, 58_000, 58_000, 58_000, 58_000), "one of five is a lucky one"),
    ],
)
def test_otherwise_nothing_is_said_of_it(p99s_us: tuple[float, ...], why: str) -> None:
    assert said((1, 2_000), *((2, us) for us in p99s_us)) == [], why


def test_it_is_said_of_the_load_where_they_differ_most() -> None:
    (note,) = said((1, 10_000), (1, 30_000), (2, 7_000), (2, 45_000))
    assert note.startswith("at 2 clients, ")


def test_nothing_above_the_load_that_failed_counts() -> None:
    assert said((1, 2_000), (2, 50_000), (3, 7_000), (3, 45_000)) == []
