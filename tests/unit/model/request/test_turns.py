"""Turns by the clock: two runs that share nothing else do not measure at the same time."""

from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.request.experiment import GAP_S, Turn, slot_s


@given(
    st.integers(min_value=0, max_value=4_000_000_000_000),
    st.integers(min_value=1, max_value=2_000_000),
    st.integers(min_value=1, max_value=900),
)
def test_steps_of_both_never_begin_within_a_slot_of_each_other(
    now_ms: int, later_ms: int, slot: int
) -> None:
    one = Turn(beside="b", second=False, slot_s=slot)
    other = Turn(beside="a", second=True, slot_s=slot)
    begins = now_ms + one.wait_ms(now_ms)
    follows = now_ms + later_ms + other.wait_ms(now_ms + later_ms)
    assert abs(follows - begins) >= slot * 1000
    assert 0 <= begins - now_ms < 2 * slot * 1000


def test_a_slot_holds_a_step_and_begins_with_a_period_of_the_metrics() -> None:
    assert slot_s(5.0, 1) == 5 + GAP_S
    assert slot_s(150.0, 60) == 180
