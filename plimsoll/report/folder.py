"""Reading the folder of a finished run: `result.json`, and `seconds.json` if it is there."""

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from plimsoll.errors import UsageError
from plimsoll.model.base import Model
from plimsoll.model.results import RunResult, Seconds

AnyModel = TypeVar("AnyModel", bound=Model)


def read_run(folder: Path) -> tuple[RunResult, Seconds]:
    """Read a run's result and its series; a run without series has empty ones.

    Raises:
        UsageError: There is no run in the folder, or its files are not Plimsoll's.
    """
    if not folder.is_dir():
        raise UsageError(f"{folder}: there is no such folder")
    path = folder / "result.json"
    if not path.is_file():
        raise UsageError(f"{folder}: no run is in it (it has no result.json)")
    result = _read(path, RunResult)
    series = folder / "seconds.json"
    if not series.is_file():
        return result, Seconds(run_id=result.run_id, operations=(), target=())
    return result, _read(series, Seconds)


def _read(path: Path, model: type[AnyModel]) -> AnyModel:
    try:
        return model.model_validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"{path}: {where or 'the file'}: {first['msg']}") from None
