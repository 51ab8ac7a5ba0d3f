"""A search in this process, on a terminal: its signals, its progress, its answer."""

import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from plimsoll.cli.find_progress import FindProgress
from plimsoll.cli.local_runs import RESULTS
from plimsoll.cli.show import Results, exit_code, print_results
from plimsoll.errors import PlimsollError, StepError
from plimsoll.finding.dataset import Found, load_number
from plimsoll.finding.finder import Finder
from plimsoll.finding.outcome import outcome, write
from plimsoll.finding.quantities import StopRule
from plimsoll.model.engine import EngineTarget
from plimsoll.model.request import Request

INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Search:
    """What is to be found out.

    Attributes:
        request: What is asked for.
        target: Its target, with what opens it.
        found: The rows that are there.
        stop_rules: What ends the load at once.
        rows: Of the dataset, counted; None: nobody has.
    """

    request: Request
    target: EngineTarget
    found: Found
    stop_rules: Sequence[StopRule]
    rows: int | None


def find_and_print(search: Search, out: Path | None, *, as_json: bool) -> int:
    """Search, write the results, and print them; gives the exit code."""
    began = datetime.now(UTC)
    run_id = f"{search.request.name}-{began:%Y%m%d-%H%M%S}"
    folder = out or RESULTS / run_id
    failure = None
    with FindProgress(search.request) as progress:
        finder = Finder(
            request=search.request,
            target=search.target,
            compiled=search.found.compiled,
            load_number=lambda: load_number(search.target, search.found),
            stop_rules=search.stop_rules,
            shows=progress.shows(),
        )
        with _interrupts(finder):
            try:
                finder.search()
            except StepError as error:
                failure = str(error)
    result, seconds = outcome(
        finder,
        run_id=run_id,
        server=search.found.server,
        rows=search.rows,
        began=began,
        failure=failure,
    )
    results: Results = {run_id: (folder, result)}
    print_results(results, as_json=as_json)
    sys.stdout.flush()
    try:
        write(folder, result, seconds)
    except OSError as error:
        raise PlimsollError(f"the results cannot be written: {folder}: {error.strerror}") from None
    return 130 if finder.cut_short == INTERRUPTED else exit_code(results)


@contextmanager
def _interrupts(finder: Finder) -> Iterator[None]:
    """Let Ctrl-C and SIGTERM end the load, with the answer so far; a second one ends at once."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def end(*_: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        finder.end(INTERRUPTED)

    for number in before:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
