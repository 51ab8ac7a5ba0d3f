"""Server-sent events: live documents as they change, each with the cursor to continue from.

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

LOOK_S = 1.0  # between two reads of a run
LIST_S = 2.0  # between two reads of the list, which is longer
LISTED = 100  # number of newest runs that the list's stream covers
WHOLE_EVERY = 15  # every so many reads, the whole list is read
FEW = 10  # otherwise only the newest runs: older ones that have ended seldom change
HEARTBEAT_S = 10.0
_ALIVE = b": alive\n\n"
# these fields change with every read, and are not worth an event by themselves
_PASSING = {"at", "time", "money"}
BYE = b'event: bye\ndata: {"why": "the service ends"}\n\n'


def encode_event(event: str, data: Model | str, event_id: str | None = None) -> bytes:
    """Encode one event. JSON has no line breaks, so the data takes one line."""
    text = data if isinstance(data, str) else data.model_dump_json()
    lines = [f"event: {event}"] + ([f"id: {event_id}"] if event_id else []) + [f"data: {text}"]
    return ("\n".join(lines) + "\n\n").encode()


class Pace:
    """The pace of reads: waits between them, and tells when a heartbeat is due."""

    def __init__(self, ended: Event, every_s: float, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._ended = ended
        self._every_s = every_s
        self._heartbeat_s = heartbeat_s
        self._sent_at = time.monotonic()

    def note_sent(self) -> None:
        """Record that something was sent."""
        self._sent_at = time.monotonic()

    @property
    def quiet(self) -> bool:
        """Whether a heartbeat is due because nothing was sent for long."""
        return time.monotonic() - self._sent_at >= self._heartbeat_s

    def goes_on(self) -> bool:
        """Wait for the next read; returns False if the service is ending."""
        return not self._ended.wait(self._every_s)


def stream_run(
    read: Callable[[Cursor], Live],
    after: Cursor,
    pace: Pace,
    *,
    seconds: Callable[[], Iterable[LiveSecond]] = tuple,
) -> Iterator[bytes]:
    """Yield the events of one run until it is over or the service ends.

    Args:
        read: Reads the run since a cursor.
        after: The cursor to begin from.
        pace: The pace of the reads.
        seconds: Returns new seconds of the current step, as its clients reported them.
    """
    cursor, before = after, None
    while True:
        shown = read(cursor)
        news = shown.model_dump(exclude=_PASSING)
        if news != before:
            cursor = Cursor.parse(shown.cursor)
            yield encode_event("live", shown, shown.cursor)
            pace.note_sent()
            before = news
        elif pace.quiet:
            yield _ALIVE
            pace.note_sent()
        if is_over(shown):
            return
        yield from (encode_event("second", second) for second in seconds())
        if not pace.goes_on():
            yield BYE
            return


def stream_list(read: Callable[[int], Sequence[RunSummary]], pace: Pace) -> Iterator[bytes]:
    """Yield the events of a list of runs: the whole list first, then changes and new runs.

    Most runs have ended and do not change: usually only the newest are read, sometimes all.

    Args:
        read: Returns this many of the newest runs.
        pace: The pace of the reads.
    """
    known: dict[str, RunSummary] = {}
    number = 0
    for look in count():
        whole = look % WHOLE_EVERY == 0
        runs = {
            run.run_id: run
            for run in read(LISTED if whole else _count_runs_to_read(known.values()))
        }
        changed = [run for run_id, run in runs.items() if known.get(run_id) != run]
        if look == 0 or changed:
            number += 1
            rows = ",".join(run.model_dump_json() for run in changed)
            yield encode_event("runs", f'{{"runs":[{rows}]}}', str(number))
            pace.note_sent()
        elif pace.quiet:
            yield _ALIVE
            pace.note_sent()
        known = runs if whole else known | runs
        if not pace.goes_on():
            yield BYE
            return


def _count_runs_to_read(known: Collection[RunSummary]) -> int:
    """Return how many of the newest runs to read: down to the oldest running, and a few more."""
    going = [run.submitted_at for run in known if not run.state.ended]
    newer = sum(run.submitted_at >= min(going) for run in known) if going else 0
    return min(LISTED, newer + FEW)
