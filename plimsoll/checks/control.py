"""The cloud or the database: whether the control moved when the target did.

Two questions, each a t-test of the runs before against those after the target's change, whose place
is known here and not sought: did the control move the same way, and did the target move relative
to the control (the ratio of their figures, run by run)?
"""

from collections.abc import Sequence
from typing import Literal

from plimsoll import words
from plimsoll.checks.change_points import Observation, p_value, segment
from plimsoll.model.check_history import Cause, Change

PAIRS_MIN = (
    3  # runs with figures of both, on each side of the change; fewer are not enough to judge
)
P_VALUE_MAX = 0.01
PART_MIN = 0.2  # the control moved with the target only if it moved at least this share as far
NO_CONTROL = Cause(
    kind="unknown",
    words="The check names no control, so the cloud and the database are not told apart.",
)

Kind = Literal["database", "cloud", "partly cloud", "unknown"]


def cause(
    change: Change, target: Sequence[Observation], control: Sequence[Observation] | None
) -> Cause:
    """Tell whether a change of the target is the database's or the cloud's.

    Args:
        change: Of the target.
        target: Its series.
        control: The control's series, of the same metric; None: the check names no control.
    """
    if control is None:
        return NO_CONTROL
    of_control = {figure.at: figure.value for figure in control if figure.value > 0}
    places = [index for index, figure in enumerate(target) if figure.at == change.at]
    place = places[0]
    sides = (
        target[place - change.before.runs : place],
        target[place : place + change.after.runs],
    )
    before, after = ([figure for figure in side if figure.at in of_control] for side in sides)
    if min(len(before), len(after)) < PAIRS_MIN:
        return Cause(
            kind="unknown",
            words=f"The control has {len(before)} figures before the change and {len(after)} after"
            f" it; {PAIRS_MIN} of each tell the cloud and the database apart.",
        )
    control_sides = [[of_control[figure.at] for figure in side] for side in (before, after)]
    ratios = [[figure.value / of_control[figure.at] for figure in side] for side in (before, after)]
    first, second = (segment(side) for side in control_sides)
    moved_share = second.mean / first.mean - 1
    together = _moved(control_sides, change)
    kind = _kind(together=together, apart=_moved(ratios, change))
    return Cause(
        kind=kind,
        words=_words(kind, moved_share),
        before=first,
        after=second,
        change_share=moved_share,
        p_value=p_value(*control_sides),
    )


def _moved(sides: Sequence[Sequence[float]], change: Change) -> bool:
    """Whether the figures moved in the target's direction, significantly and far enough."""
    before, after = sides
    part = (segment(after).mean / segment(before).mean - 1) / change.change_share
    return part >= PART_MIN and p_value(before, after) <= P_VALUE_MAX


def _kind(*, together: bool, apart: bool) -> Kind:
    if together:
        return "partly cloud" if apart else "cloud"
    return "database" if apart else "unknown"


def _words(kind: Kind, moved_share: float) -> str:
    moved = f"it {words.moved(moved_share)}"
    return {
        "database": f"The control did not follow ({moved}): the database changed, not the cloud.",
        "cloud": f"The control moved with it ({moved}): the cloud changed, not the database.",
        "partly cloud": f"The control moved the same way ({moved}), but not as far: both changed.",
        "unknown": f"The control ({moved}) varies too much to tell the cloud and the database"
        " apart.",
    }[kind]
