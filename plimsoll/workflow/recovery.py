"""Recovery: waiting after a step that overloaded the target. Pure."""

from dataclasses import dataclass

from plimsoll import words
from plimsoll.model.run.fleet import UnfinishedWork
from plimsoll.model.run.run_record import Recovery

STILL_S = 10  # a backlog that has not shrunk for so long will not shrink
MOVED_SHARE = 0.01  # a smaller decrease, as a share of what is left, is no progress


@dataclass(frozen=True)
class Recovered:
    """How a wait for recovery ended."""

    recovered: bool
    how: str | None  # description; None if no work was left


def update_recovery(before: Recovery | None, work: UnfinishedWork, at_epoch_ms: int) -> Recovery:
    """Update the recovery with a new look at the target's unfinished work."""
    what, left = work.what, work.left
    # Another kind of work starts a new wait.
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
                left = known.left  # keep the value of the last progress to compare with
    return Recovery(
        what=what, left=left, since_epoch_ms=since, moved_epoch_ms=moved, seen_epoch_ms=at_epoch_ms
    )


def end_recovery(seen: Recovery, longest_s: float) -> Recovered | None:
    """Return how the wait ended; None if it goes on."""
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


def describe_recovery(seen: Recovery, longest_s: float) -> str:
    """Describe what is waited for, and for how long so far."""
    waited = words.duration(round((seen.seen_epoch_ms - seen.since_epoch_ms) / 1000))
    return (
        f"the target recovers: {seen.what} ({waited} so far, {words.duration(longest_s)} at most)"
    )
