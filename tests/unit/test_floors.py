"""The contracts in pyproject.toml hold, and see an import that breaks them."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("plimsoll", "stacks", "functions")


def checked(checkout: Path) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--no-cache"], cwd=checkout, capture_output=True, text=True, check=False
    )


def test_every_import_points_down_and_none_goes_in_a_circle() -> None:
    answer = checked(ROOT)
    assert answer.returncode == 0, answer.stdout
    assert "0 broken" in answer.stdout


UPWARD = {
    (
        "plimsoll/model/request/request.py",
        "plimsoll.workflow.submit",
    ): "plimsoll.model is not allowed",
    ("plimsoll/targets/janitor.py", "plimsoll.quoting.quotes"): "plimsoll.targets is not",
    ("plimsoll/workflow/submit.py", "stacks.fleet"): "plimsoll is not allowed to import stacks",
}
CIRCLE = {("plimsoll/fleet/fold.py", "plimsoll.fleet.step"): "No cycles are allowed"}


@pytest.mark.parametrize("planted", [UPWARD, CIRCLE], ids=["upward", "in a circle"])
def test_an_import_that_must_not_be_is_seen(
    tmp_path: Path, planted: dict[tuple[str, str], str]
) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", "assets", "native")
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for file, imported in planted:
        module = tmp_path / file
        module.write_text(f"import {imported}\n{module.read_text()}")
    answer = checked(tmp_path)
    assert answer.returncode == 1, answer.stdout
    for broken in planted.values():
        assert broken in answer.stdout
