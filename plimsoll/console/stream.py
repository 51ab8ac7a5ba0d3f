"""Server-sent events: the live documents as they change, each with the cursor to go on from.

https://html.spec.whatwg.org/multipage/server-sent-events.html
"""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import count
from threading import Event

from plimsoll.console.live import Cursor, is_over
from plimsoll.model.base import Model
from plimsoll.model.service.answers import RunSummary
from plimsoll.model.service.live import Live, LiveSecond

LOOK_S = 1.0  # between two looks at a run
LIST_S = 2.0  # ... and at the list, which is longer
LISTED = 100  # the newest runs, which the list's stream tells of
WHOLE_EVERY = 15  # looks at the list all of these are read
FEW = 10  # of the newest: the others, where these have ended, seldom change
HEARTBEAT_S = 10.0
_ALIVE = b": alive\n\n"
_PASSING = {"at", "time", "money"}  # change with every look, and are no news by themselves
BYE = b'event: bye\ndata: {"why": "the service ends"}\n\n'


def encoded(event: str, data: Model | str, event_id: str | None = None) -> bytes:
    """Write one event; JSON has no line breaks, so that its data is one line."""
    text = data if isinstance(data, str) else data.model_dump_json()
    lines = [f"event: {event}"] + ([f"id: {event_id}"] if event_id else []) + [f"data: {text}"]
    return ("\n".join(lines) + "\n\n").encode()


class Pace:
    """Between two looks: waits, and says when it is time for a sign of life."""

    def __init__(self, ended: Event, every_s: float, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._ended = ended
        self._every_s = every_s
        self._heartbeat_s = heartbeat_s
        self._told_at = time.monotonic()

    def told(self) -> None:
        """Note that something was sent."""
        self._told_at = time.monotonic()

    @property
    def quiet(self) -> bool:
        """Whether nothing was sent for so long that it is time for a sign of life."""
        return time.monotonic() - self._told_at >= self._heartbeat_s

    def goes_on(self) -> bool:
        """Wait for the next look; False: the service ends."""
        return not self._ended.wait(self._every_s)


def run_events(
    read: Callable[[Cursor], Live],
    after: Cursor,
    pace: Pace,
    *,
    seconds: Callable[[], Iterable[LiveSecond]] = tuple,
) -> Iterator[bytes]:
    """Tell of one run until nothing more will come of it, or the service ends.

    Args:
        read: Looks at it.
        after: How far it was told already.
        pace: Of the looks.
        seconds: Gives those of the step under way that clients have told since the last look.
    """
    cursor, before = after, None
    while True:
        shown = read(cursor)
        news = shown.model_dump(exclude=_PASSING)
        if news != before:
            cursor = Cursor.parse(shown.cursor)
            yield encoded("live", shown, shown.cursor)
            pace.told()
            before = news
        elif pace.quiet:
            yield _ALIVE
            pace.told()
        if is_over(shown):
            return
        yield from (encoded("second", second) for second in seconds())
        if not pace.goes_on():
            yield BYE
            return


def list_events(read: Callable[[int], Sequence[RunSummary]], pace: Pace) -> Iterator[bytes]:
    """Tell of a list of runs: all of it, then those that have changed or are new.

    Most have ended and change no more: all are read anew once in a while, else the newest alone.

    Args:
        read: Gives so many of the newest runs.
        pace: Of the looks.
    """
    known: dict[str, RunSummary] = {}
    number = 0
    for look in count():
        whole = look % WHOLE_EVERY == 0
        runs = {run.run_id: run for run in read(LISTED if whole else _reach(known.values()))}
        changed = [run for run_id, run in runs.items() if known.get(run_id) != run]
        if look == 0 or changed:
            number += 1
            rows = ",".join(run.model_dump_json() for run in changed)
            yield encoded("runs", f'{{"runs":[{rows}]}}', str(number))
            pace.told()
        elif pace.quiet:
            yield _ALIVE
            pace.told()
        known = runs if whole else known | runs
        if not pace.goes_on():
            yield BYE
            return


def _reach(known: Collection[RunSummary]) -> int:
    """Count the newest runs down to the oldest that goes on, and a few that may be new."""
    going = [run.submitted_at for run in known if not run.state.ended]
    newer = sum(run.submitted_at >= min(going) for run in known) if going else 0
    return min(LISTED, newer + FEW)
