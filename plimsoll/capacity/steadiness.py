"""Windows whose halves disagree: given more time, before anything is concluded from them.

A window that is too short for a target's waves (page cleaning, compactions), or that began while it
still warmed up, says little of what it sustains; nor does it fail for that. The load is tried again
with twice the warm-up and window, and with four times; what a longer window shows to be steady, the
shorter restless ones no longer count against.
"""

from plimsoll.capacity.assess import Assessed
from plimsoll.capacity.wishes import Wish, longest_factor

FACTOR_MOST = 4  # times the request's warm-up and window


def longer_window(assessed: Assessed) -> Wish | None:
    """Ask for a longer window at a load that nothing but disagreeing halves speaks against."""
    codes = {reason.code for reason in assessed.reasons}
    unsteady = codes == {"unsteady"} or (not codes and assessed.doubtful)
    restless = [r for r in assessed.point.counted if r.restless]
    if not unsteady or not restless:
        return None
    factor = longest_factor([r.step for r in assessed.point.repetitions])
    if factor >= FACTOR_MOST:
        return None
    return Wish(
        assessed.point.load,
        "again",
        f"the halves of its window disagree: {2 * factor} times the warm-up and window",
        window_factor=2 * factor,
    )
