"""Shows runs from before a service was started: restores them from their folders."""

import re
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Self

from botocore.exceptions import BotoCoreError, ClientError

from plimsoll import words
from plimsoll.aws.run_files import HISTORY, QUOTE, REPORT, REQUEST, RESULT, SECONDS, files_of
from plimsoll.aws.run_records import records_of
from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.runner import make_twin_settings
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.function_settings import RunSettings
from plimsoll.model.run.results import RunResult
from plimsoll.model.service.answers import RUN_ID
from plimsoll.report.folder import read_model
from plimsoll.workflow.past import rebuild_record

RUNS_MOST = 200  # the newest are restored; the folders of the others stay
BYTES_MOST = 512 * 2**20  # total size of their files, which the stand-in for S3 holds in memory
_FILES = (QUOTE, HISTORY, RESULT, SECONDS, REPORT)
TEAM = "default"  # the team of callers on this machine
Say = Callable[[str], None]


class PastRuns:
    """Restores runs in the background, until it is closed."""

    def __init__(self, twin: LocalTwin, folders: Iterable[Path], say: Say) -> None:
        """Start restoring.

        Args:
            twin: A running twin, which receives a record and the files of each run.
            folders: The runs' folders, the newest first.
            say: The function that receives a line at the end, if there were any, and for each run
                that cannot be read.
        """
        self._settings = make_twin_settings(twin)
        self._folders = list(folders)
        self._say = say
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        brought, left = 0, BYTES_MOST
        try:
            for folder in self._folders[:RUNS_MOST]:
                left -= sum(_read_file_size(folder / name) for name in _FILES)
                if self._closed.is_set() or left < 0:
                    break
                brought += self._bring(folder)
        except BotoCoreError as error:
            self._say(f"past runs could not be brought back: {error}")
        if brought:
            others = len(self._folders) - brought
            rest = f"; {others} more stay in their folders alone" if others else ""
            self._say(f"the page shows {brought} runs of before{rest}")

    def _bring(self, folder: Path) -> bool:
        try:
            result = read_model(folder / RESULT, RunResult)
            return restore_run(self._settings, result, folder)
        except (PlimsollError, ClientError, OSError, ValueError) as error:
            # A single bad result must not stop the others: it may be from an older version, or
            # edited.
            self._say(f"a past run is left out: {error}")
            return False

    def close(self) -> None:
        """Stop restoring."""
        self._closed.set()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def restore_run(settings: RunSettings, result: RunResult, folder: Path) -> bool:
    """Record a run that is over, with its files; return False if its id exists.

    Raises:
        UsageError: The run's id is not valid.
    """
    if not re.fullmatch(RUN_ID, result.run_id):
        raise UsageError(f"{folder}: {words.escape_controls(result.run_id)!r} is not a run's id")
    files = files_of(settings, result.run_id)
    files.put_model(REQUEST, result.request)
    for name in _FILES:
        if (folder / name).is_file():
            kind = "text/html; charset=utf-8" if name == REPORT else "application/json"
            files.put(name, (folder / name).read_bytes(), content_type=kind)
    record = rebuild_record(result).model_copy(update={"team": TEAM})
    return records_of(settings).create(record)


def _read_file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
