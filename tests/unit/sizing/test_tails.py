"""From the mean time of all to the percentile of one."""

import pytest

from plimsoll.sizing.queueing import Tail

TAIL = Tail.of([(1, 2), (3, 2.5), (2, 3), (4, 6)])  # the second and the third fall: 2.75 both


@pytest.mark.parametrize(
    ("stretch", "latency"),
    [(0.5, 2), (1, 2), (1.5, 2.375), (2, 2.75), (2.5, 2.75), (3.5, 4.375), (4, 6), (8, 12)],
)
def test_it_never_falls_and_grows_in_proportion_beyond_what_was_seen(
    stretch: float, latency: float
) -> None:
    assert TAIL.at(stretch) == pytest.approx(latency)


def test_of_one_step_it_is_in_proportion() -> None:
    tail = Tail.of([(2, 5)])
    assert (tail.at(1), tail.at(2), tail.at(4)) == (5, 5, 10)


def test_repetitions_of_a_load_are_one_step_of_their_mean() -> None:
    """Little's law gives three connections as 2.98 or 3.01 operations under way."""
    tail = Tail.of([(1, 5), (2.98, 18), (3.01, 21), (3.0, 18), (4, 30)])
    assert tail.at(3) == pytest.approx(19, rel=0.01)
    assert tail.at(2.9) < 19 < tail.at(3.1)
