"""Of which seconds a target's figures are published: of each one, and of none twice."""

import pytest

from plimsoll.local.resources.sampler import HELD_UP_MAX_S, seconds_to_publish


@pytest.mark.parametrize(
    ("published_s", "now_s", "expected"),
    [
        (0, 1000, [1000]),  # the first ones: nothing is known of earlier seconds
        (1000, 1001, [1001]),
        (1000, 1000, [1001]),  # a second that has its points already
        (1001, 1000, [1002]),
        (1000, 1005, [1001, 1002, 1003, 1004, 1005]),  # the machine stood still
    ],
)
def test_every_second_has_its_points_once(
    published_s: int, now_s: int, expected: list[int]
) -> None:
    assert list(seconds_to_publish(published_s, now_s)) == expected


def test_a_machine_that_slept_for_hours_publishes_a_minute() -> None:
    seconds = seconds_to_publish(1000, 1000 + 8 * 3600)
    assert len(seconds) == HELD_UP_MAX_S == 60
    assert seconds[-1] == 1000 + 8 * 3600
