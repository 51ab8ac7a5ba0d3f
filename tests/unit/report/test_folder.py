"""Folders of finished runs: which are found, and by which id."""

from pathlib import Path

import pytest

from plimsoll.report import folder as folders
from plimsoll.report.folder import find_newest_runs, read_run_id
from tests.support.synthetic_run import synthetic_run


def folder_of(directory: Path, name: str) -> Path:
    folder = directory / name
    folder.mkdir(parents=True)
    result, _ = synthetic_run(run_id=name.rpartition("/")[2])
    (folder / "result.json").write_text(result.model_dump_json())
    return folder


def test_folders_are_found_two_deep_and_hidden_ones_too(tmp_path: Path) -> None:
    names = ("one", "serve-1/two", ".three")
    made = [folder_of(tmp_path, name) for name in names]
    folder_of(tmp_path, "too/deep/four")
    assert set(find_newest_runs(tmp_path)) == set(made)
    assert find_newest_runs(tmp_path / "nowhere") == []


def test_a_folder_that_is_removed_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = folder_of(tmp_path, "kept")
    monkeypatch.setattr(folders, "glob", lambda *_, **__: ["gone/result.json", "kept/result.json"])
    assert find_newest_runs(tmp_path) == [kept]


def test_a_run_is_known_by_the_id_in_its_result_and_not_by_its_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, "20261123-a1")
    assert read_run_id(folder.rename(tmp_path / "mine")) == "20261123-a1"
    assert read_run_id(tmp_path) is None
    (tmp_path / "result.json").write_text("{}")
    assert read_run_id(tmp_path) is None
