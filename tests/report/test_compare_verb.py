"""`plimsoll compare` as it is called."""

import json
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from tests.support.synthetic_run import synthetic_run

REFERENCE = Path(__file__).parents[2] / "reference/r1.csv"


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    found = []
    for run_id, knee, iops, seed in (("slow", 3.2, 1000, 5), ("fast", 6.3, 2000, 6)):
        folder = tmp_path_factory.mktemp(run_id)
        result, _ = synthetic_run(knee=knee, iops=iops, run_id=run_id, seed=seed)
        (folder / "result.json").write_text(result.model_dump_json())
        found.append(str(folder))
    return found


def ended(arguments: list[str]) -> int | str | None:
    with pytest.raises(SystemExit) as end:
        main(["compare", *arguments])
    return end.value.code


def test_it_prints_both_capacities_and_says_whether_they_differ(
    folders: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(folders) == 0
    printed = capsys.readouterr().out
    assert "1,000 IOPS" in printed
    assert "the difference is larger than the noise." in printed
    assert "Latency at equal load" in printed


def test_json_holds_the_ratio_and_the_page_is_written(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "compare.html"
    assert ended([*folders, "--json", "-o", str(page)]) == 0
    ratio = json.loads(capsys.readouterr().out)["runs"][1]["ratio"]
    assert ratio["low"] < ratio["value"] < ratio["high"]
    assert page.read_text().startswith("<!doctype html>")


def test_a_folder_of_runs_stands_for_all_of_them(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As `plimsoll run` writes an experiment."""
    for folder in map(Path, folders):
        (tmp_path / folder.name).symlink_to(folder)
    assert ended([str(tmp_path), "--json"]) == 0
    assert {run["run_id"] for run in json.loads(capsys.readouterr().out)["runs"]} == {
        "slow",
        "fast",
    }


def test_one_run_suffices_to_lay_it_over_published_figures(
    folders: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "laid.html"
    assert ended([folders[0], "--with", str(REFERENCE), "-o", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "Knee with 1,000 IOPS: published at 3 clients" in printed
    assert "Doubts about the published figures" in printed
    assert "Beside what was published" in page.read_text()


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (["--usd-per-hour", "1"], "1 given for 2 runs"),
        (["-o", "x.png"], "must end in .html"),
        (["--with", "/nowhere.csv"], "--with /nowhere.csv: No such file or directory"),
    ],
)
def test_bad_usage_is_one_line(
    folders: list[str],
    extra: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert ended([*folders, *extra]) == 2
    assert message in capsys.readouterr().err


def test_one_run_is_not_compared(folders: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(folders[:1]) == 2
    assert "at least two" in capsys.readouterr().err
