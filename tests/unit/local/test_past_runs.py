"""Runs of before a service was started: which folders are found, and what stops which."""

from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from plimsoll.local import past_runs
from plimsoll.local.past_runs import PastRuns
from tests.support.synthetic_run import synthetic_run


def folder_of(directory: Path, name: str) -> Path:
    folder = directory / name
    folder.mkdir(parents=True)
    result, _ = synthetic_run(run_id=name.rpartition("/")[2])
    (folder / "result.json").write_text(result.model_dump_json())
    return folder


@pytest.mark.parametrize(
    "odd", [ValueError("a date of 1600"), ClientError({"Error": {"Code": "TooLarge"}}, "PutItem")]
)
def test_one_odd_run_is_left_out_alone_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, odd: Exception
) -> None:
    folders = [folder_of(tmp_path, name) for name in ("a", "odd", "z")]
    brought: list[Path] = []

    def bring(_: object, __: object, folder: Path) -> bool:
        if folder.name == "odd":
            raise odd
        brought.append(folder)
        return True

    monkeypatch.setattr(past_runs, "make_twin_settings", lambda _: None)
    monkeypatch.setattr(past_runs, "restore_run", bring)
    said: list[str] = []
    nothing: Any = None
    with PastRuns(nothing, folders, said.append) as bringing:
        bringing._thread.join()
    assert brought == [folders[0], folders[2]]
    assert said[0] == f"a past run is left out: {odd}"
    assert said[1].startswith("the page shows 2 runs of before")
