"""Between a step that overloaded the target and the next one: waiting while it recovers.

The wait is bounded by progress: what an idle target does not work off for some seconds, it will
never work off, and the next load is not disturbed by it. `load.recovery_max_s` bounds the rest.
"""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.fleet import UnfinishedWork
from plimsoll.model.run_record import Recovery

STILL_S = 10  # a figure that did not shrink for so long will not
MOVED_SHARE = 0.01  # of what is left: less is no progress


@dataclass(frozen=True)
class Recovered:
    """How a wait has ended."""

    recovered: bool
    how: str | None  # in words; None: nothing is left


def watched(before: Recovery | None, work: UnfinishedWork, at_epoch_ms: int) -> Recovery:
    """Note one more look at a target that has something left to work off."""
    what, left = work.what, work.left
    # another kind of work begins a wait of its own
    known = before if before is not None and (before.left is None) == (left is None) else None
    if known is None:
        since = before.since_epoch_ms if before is not None else at_epoch_ms
        moved = at_epoch_ms
    else:
        since, moved = known.since_epoch_ms, known.moved_epoch_ms
        if left is not None and known.left is not None:
            if left < known.left * (1 - MOVED_SHARE):
                moved = at_epoch_ms
            else:
                left = known.left  # compared with what it was when it last moved
    return Recovery(
        what=what, left=left, since_epoch_ms=since, moved_epoch_ms=moved, seen_epoch_ms=at_epoch_ms
    )


def outcome(seen: Recovery, longest_s: float) -> Recovered | None:
    """Say how a wait ended; None while it goes on."""
    waited_s = (seen.seen_epoch_ms - seen.since_epoch_ms) / 1000
    still_s = (seen.seen_epoch_ms - seen.moved_epoch_ms) / 1000
    if seen.left is not None and still_s >= STILL_S:
        unchanged = f"nothing moved for {words.duration(round(still_s))}: {seen.what}"
        return Recovered(recovered=True, how=unchanged)
    if waited_s >= longest_s:
        return Recovered(
            recovered=False, how=f"after {words.duration(round(waited_s))}, {seen.what}"
        )
    return None


def in_words(seen: Recovery, longest_s: float) -> str:
    """Say what is waited for, and for how long already."""
    waited = words.duration(round((seen.seen_epoch_ms - seen.since_epoch_ms) / 1000))
    return (
        f"the target recovers: {seen.what} ({waited} so far, {words.duration(longest_s)} at most)"
    )
