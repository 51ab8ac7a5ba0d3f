"""Pictures, tables, and the bundle that pages carry."""

import csv
import io
import json
from pathlib import Path

import pytest

from plimsoll.cli.main import main
from plimsoll.model.results import Seconds
from plimsoll.report.csv_table import steps_csv
from plimsoll.report.pictures import picture
from plimsoll.report.theme import COLORS, Theme
from tests.support.synthetic_run import synthetic_run
from tools.vega_bundle import BUNDLE, bundle

RESULT, SECONDS = synthetic_run()
EMPTY = Seconds(run_id="r", operations=(), target=())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "result.json").write_text(RESULT.model_dump_json())
    (tmp_path / "seconds.json").write_text(SECONDS.model_dump_json())
    return tmp_path


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_picture_tells_the_answer_in_the_themes_colors(look: Theme) -> None:
    drawn = picture(RESULT, SECONDS, "svg", look=look).decode()
    assert RESULT.capacity is not None
    figure = RESULT.capacity.max_sustainable_throughput_ops_per_second
    assert f"r1-demo: {figure:,.0f} ops/s (knee found)" in drawn
    assert COLORS[look]["surface"] in drawn
    assert "var(--" not in drawn


def test_a_run_without_figures_gives_a_picture_that_says_so() -> None:
    nothing = RESULT.model_copy(update={"capacity": None, "steps": (), "limiting": None})
    assert "Nothing was measured." in picture(nothing, EMPTY, "svg").decode()


@pytest.mark.parametrize(
    ("ending", "begins"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!doctype html>")]
)
def test_the_ending_names_the_format(
    folder: Path, ending: str, begins: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "-o", str(folder / f"out.{ending}"), "--json"])
    assert ended.value.code == 0
    content = (folder / f"out.{ending}").read_bytes()
    assert content.startswith(begins)
    assert json.loads(capsys.readouterr().out)["bytes"] == len(content)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere"], "/nowhere: there is no such folder"),
        (["{folder}", "-o", "x.doc"], "must end in .html, .png, .svg, .pdf or .csv"),
    ],
)
def test_bad_usage_is_one_line(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", *(argument.format(folder=folder) for argument in arguments)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_damaged_result_names_the_field(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = json.loads((folder / "result.json").read_text()) | {"rows": "many"}
    (folder / "result.json").write_text(json.dumps(broken))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])
    assert ended.value.code == 2
    assert "result.json: rows:" in capsys.readouterr().err


def test_the_table_has_every_step_and_leaves_unknown_cells_empty() -> None:
    rows = list(csv.DictReader(io.StringIO(steps_csv(RESULT))))
    assert len(rows) == len(RESULT.steps)
    for row, done in zip(rows, RESULT.steps, strict=True):
        assert int(row["clients"]) == done.plan.clients
        assert float(row["throughput_ops_per_second"]) == done.step.throughput_ops_per_second
        assert float(row["update_p99_us"]) == done.step.latency_us["update"]["p99"]
        assert row["burst_balance_percent"] == ""
        assert row["rate_ops_per_second"] == ""


def test_the_committed_bundle_is_the_generated_one() -> None:
    assert BUNDLE.read_text() == bundle(), "run: .venv/bin/python tools/vega_bundle.py"
