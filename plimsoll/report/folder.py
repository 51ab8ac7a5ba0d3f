"""Reads the folder of a finished run, or one that holds the folders of several."""

import json
import re
from glob import glob
from pathlib import Path

from pydantic import ValidationError

from plimsoll import words
from plimsoll.documents import is_deeper
from plimsoll.errors import UsageError
from plimsoll.files import read_limited
from plimsoll.model.base import AnyModel
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.model.validation import read_foreign_json
from plimsoll.sizing.answer import Sizing

RESULT = "result.json"
REQUEST = "request.json"
SECONDS = "seconds.json"
SIZING = "sizing"  # folder within a run's folder: predictions made from it, and their confirmations
ANSWER = "answer.json"
MAX_BYTES = 256 * 1024 * 1024  # largest result or series
# Terminal control characters as they appear in JSON: escapes, or C1 in UTF-8.
_CONTROLS = re.compile(rb"\\u00[0189]|\\u007[fF]|\x7f|\xc2[\x80-\x9f]|\\[bf]")
_RUN_ID = re.compile(rb'"run_id":\s*"([a-z0-9-]{1,60})"')
_BEGINNING_BYTES = 1024


def list_run_folders(folder: Path) -> list[Path]:
    """Return the folder itself if it holds a run, else the folders in it that do, by name."""
    if (folder / RESULT).is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob(f"*/{RESULT}"))


def find_newest_runs(folder: Path) -> list[Path]:
    """Find finished runs in a folder and its subfolders, the newest first.

    A folder that is removed meanwhile is skipped.
    """
    # Path.glob fails if a folder disappears while it runs.
    patterns = (f"*/{RESULT}", f"*/*/{RESULT}")
    found = {
        (folder / path).parent
        for pattern in patterns
        for path in glob(pattern, root_dir=folder, include_hidden=True)  # noqa: PTH207 - see above
    }
    times = [(time, run) for run in found if (time := _read_mtime(run)) is not None]
    return [run for _, run in sorted(times, reverse=True)]


def _read_mtime(folder: Path) -> float | None:
    try:
        return (folder / RESULT).stat().st_mtime
    except OSError:
        return None


def read_run_id(folder: Path) -> str | None:
    """Read a run's id from the beginning of its result; None if there is no result."""
    try:
        with (folder / RESULT).open("rb") as file:
            found = _RUN_ID.search(file.read(_BEGINNING_BYTES))
    except OSError:
        return None
    return found[1].decode() if found else None


def read_run(folder: Path) -> tuple[RunResult, Seconds]:
    """Read a run's result and its series; empty series if it has none.

    Raises:
        UsageError: There is no run in the folder, or its files are not Plimsoll's.
    """
    if not folder.is_dir():
        if folder.exists():
            raise UsageError(f"{folder}: is a file: give the folder of a run")
        raise UsageError(f"{folder}: there is no such folder")
    path = folder / RESULT
    if not path.is_file():
        raise UsageError(f"{folder}: no run is in it (it has no {RESULT})")
    result = read_model(path, RunResult)
    series = folder / SECONDS
    if not series.is_file():
        return result, Seconds(run_id=result.run_id, operations=(), target=())
    return result, read_model(series, Seconds)


def read_sizing(folder: Path) -> Sizing | None:
    """Read the newest answer of `plimsoll size` from the run in a folder; None if there is none.

    Raises:
        UsageError: The file does not hold such an answer.
    """
    path = folder / SIZING / ANSWER
    return read_model(path, Sizing) if path.is_file() else None


def read_model(path: Path, model: type[AnyModel], *, bytes_max: int = MAX_BYTES) -> AnyModel:
    """Read a JSON file into a model; controls of a terminal are made visible in its texts.

    Raises:
        UsageError: The file does not hold such a model; the message names the first wrong field.
    """
    raw = read_limited(path, bytes_max=bytes_max)
    try:
        deeper = is_deeper(raw.decode())
        if _CONTROLS.search(raw) and not deeper:
            raw = json.dumps(words.escape_values(json.loads(raw))).encode()
    except ValueError as error:  # no UTF-8, no JSON, or a number of thousands of digits
        raise UsageError(f"{path}: the file: no JSON: {error}") from None
    if deeper:
        raise UsageError(f"{path}: the file: nested too deeply")
    try:
        return read_foreign_json(model, raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {where or 'the file'}: {first['msg']}") from None
