"""What comes after the answer is confirmed: steps that question it, and what becomes of it.

They are asked for one kind after the other, out of what the search left of its probes, and are no
repetitions of any load: the loads are judged as if they had never been.
"""

from collections.abc import Sequence
from dataclasses import replace

from plimsoll import words
from plimsoll.capacity.assess import Assessed
from plimsoll.capacity.drift import drift
from plimsoll.capacity.loads import Repetition, gather
from plimsoll.capacity.verdict import Conclusion
from plimsoll.capacity.wishes import Wish
from plimsoll.model.capacity import Rules
from plimsoll.model.closing import Closing, Drift
from plimsoll.model.steps import CLOSING, Purpose, Step

OPENINGS = 2  # steps at the lightest load, at least, to compare the sentinels with
SENTINELS = 2
TRIES_MAX = 4  # closing steps of one kind; an audit may dispute some


def parted(steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
    """Part the steps of the search itself from its closing ones."""
    return (
        [step for step in steps if step.purpose not in CLOSING],
        [step for step in steps if step.purpose in CLOSING],
    )


def openings(rules: Rules) -> int:
    """How often a search runs its lightest load at first, whatever its limits."""
    return OPENINGS if watched(rules) else 1


def watched(rules: Rules) -> bool:
    """Whether drift is looked for: where nothing is repeated, nothing can show it."""
    return rules.confirmation is not None and "drift" not in rules.audits_off


def closing_wish(
    judged: Sequence[Assessed], conclusion: Conclusion, closing: Sequence[Step], rules: Rules
) -> Wish | None:
    """Ask for the next closing step.

    Args:
        judged: the loads of the search, lightest first.
        conclusion: what they came to.
        closing: the closing steps that were finished, without void ones.
        rules: by which they are judged.

    Returns:
        None where nothing is left to ask, or where there is no answer to question.
    """
    if conclusion.at is None or conclusion.figure is None or rules.confirmation is None:
        return None
    return _sentinel(judged, conclusion, closing, rules)


def _sentinel(
    judged: Sequence[Assessed], conclusion: Conclusion, closing: Sequence[Step], rules: Rules
) -> Wish | None:
    """The lightest load again, unless it is the answer's own, which was repeated until now."""
    lightest = judged[0].point
    if conclusion.at is judged[0] or len(lightest.counted) < openings(rules) or not watched(rules):
        return None
    enough = len(_counted(closing, "sentinel", rules)) >= SENTINELS
    if enough or len(_of(closing, "sentinel")) >= TRIES_MAX:
        return None
    why = "the lightest load again: did the target change meanwhile?"
    return Wish(lightest.load, "sentinel", why)


def _of(closing: Sequence[Step], purpose: Purpose) -> list[Step]:
    return [step for step in closing if step.purpose == purpose]


def _counted(closing: Sequence[Step], purpose: Purpose, rules: Rules) -> list[Repetition]:
    """Closing steps of one kind that no audit disputes."""
    points = gather(_of(closing, purpose), rules, "connections")
    return [repetition for point in points for repetition in point.counted]


def questioned(
    conclusion: Conclusion, judged: Sequence[Assessed], closing: Sequence[Step], rules: Rules
) -> tuple[Conclusion, Closing | None]:
    """Hold a conclusion against what the closing steps showed.

    Returns:
        What is left of it, and what was found; None for a table of steps that nobody asked for.
    """
    searched = any(r.step.purpose for load in judged for r in load.point.repetitions)
    if not searched or conclusion.at is None or conclusion.figure is None:
        return conclusion, None
    found = Closing()
    if watched(rules):
        drifted = drift(judged, _counted(closing, "sentinel", rules))
        conclusion = _drifting(conclusion, drifted, rules)
        found = found.model_copy(update={"drift": drifted})
    return conclusion, found


def _drifting(conclusion: Conclusion, drifted: Drift, rules: Rules) -> Conclusion:
    """DRIFTING where the target changed by more than repetitions may; by less, a wider interval."""
    if not drifted.found or drifted.change is None:
        return conclusion
    if abs(drifted.change) > rules.cv_max:
        return replace(
            conclusion,
            verdict="DRIFTING",
            figure=None,
            bound=None,
            causes=("drift",),
            because=drifted.detail,
        )
    sure, factor = conclusion.interval, 1 + abs(drifted.change)
    note = f"{drifted.detail}; the interval is so much wider"
    if sure is None or conclusion.figure is None:
        return replace(conclusion, notes=[*conclusion.notes, drifted.detail])
    wider = sure.model_copy(
        update={
            "low_ops_per_second": sure.low_ops_per_second / factor,
            "high_ops_per_second": sure.high_ops_per_second * factor,
            "method": f"{sure.method}, widened by a drift of {words.percent(factor - 1)}",
        }
    )
    figure = min(conclusion.figure, wider.low_ops_per_second)
    return replace(conclusion, figure=figure, interval=wider, notes=[*conclusion.notes, note])
