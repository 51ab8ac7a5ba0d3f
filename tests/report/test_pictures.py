"""Pictures, tables and paper, as `plimsoll report` writes them."""

import csv
import io
import json
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from plimsoll.cli.main import main
from plimsoll.errors import PlimsollError
from plimsoll.model.run.results import Seconds
from plimsoll.report import chromium
from plimsoll.report.charts.theme import COLORS, Theme
from plimsoll.report.pictures import draw_run
from plimsoll.report.tables import write_steps_csv
from tests.support.synthetic_run import synthetic_run

RESULT, SECONDS = synthetic_run()
EMPTY = Seconds(run_id="r", operations=(), target=())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "result.json").write_text(RESULT.model_dump_json())
    (tmp_path / "seconds.json").write_text(SECONDS.model_dump_json())
    return tmp_path


@pytest.mark.parametrize("look", ["light", "dark"])
def test_the_picture_tells_the_answer_in_the_themes_colors(look: Theme) -> None:
    drawn = draw_run(RESULT, SECONDS, look=look).svg
    assert RESULT.capacity is not None
    figure = RESULT.capacity.max_sustainable_throughput_ops_per_second
    assert f"r1-demo: {figure:,.0f} ops/s (knee found)" in drawn
    assert COLORS[look]["surface"] in drawn
    assert "var(--" not in drawn


def test_a_run_without_figures_gives_a_picture_that_says_so() -> None:
    nothing = RESULT.model_copy(update={"capacity": None, "steps": (), "limiting": None})
    assert "Nothing was measured." in draw_run(nothing, EMPTY).svg


@pytest.mark.parametrize(
    ("ending", "begins"),
    [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg "), ("html", b"<!doctype html>")],
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
        (["{folder}", "--pdf", "-o", "x.png"], "must end in .pdf with --pdf"),
        (["{folder}", "-o", "x.doc"], "must end in .html, .pdf, .png, .svg or .csv"),
    ],
)
def test_bad_usage_is_one_line(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", *(argument.format(folder=folder) for argument in arguments)])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_the_page_on_paper(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Into the run's folder, and Chromium leaves nothing of its own behind."""
    with tempfile.TemporaryDirectory() as scratch:  # pytest's own would be too long for its sockets
        monkeypatch.setattr(tempfile, "tempdir", scratch)
        with pytest.raises(SystemExit) as ended:
            main(["report", str(folder), "--pdf"])
        assert ended.value.code == 0
        assert list(Path(scratch).iterdir()) == []
    assert (folder / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("named", ["", "/nowhere/chromium"])
def test_without_chromium_paper_says_what_is_missing(
    folder: Path,
    named: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CHROMIUM", named)
    monkeypatch.setenv("PATH", str(folder))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--pdf"])
    assert ended.value.code == 1
    assert "apt-get install chromium" in capsys.readouterr().err
    assert not (folder / "report.pdf").exists()


def test_a_browser_that_makes_nothing_is_an_error_with_its_last_words(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = folder / "broken"
    broken.write_text("#!/bin/sh\necho 'no display' >&2\n")
    broken.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(broken))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder), "--pdf"])
    assert ended.value.code == 1
    assert "made no PDF: no display" in capsys.readouterr().err


def test_a_browser_that_hangs_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = folder / "hanging"
    hanging.write_text(
        "#!/bin/sh\nsleep 600 & echo $! > pid; wait\n".replace("pid", str(folder / "pid"))
    )
    hanging.chmod(0o755)
    monkeypatch.setenv("CHROMIUM", str(hanging))
    pid = folder / "pid"

    class Impatient(subprocess.Popen[bytes]):
        """Times out as soon as the helper process runs."""

        def wait(self, timeout: float | None = None) -> int:
            if timeout is None:
                return super().wait()
            while not (pid.exists() and pid.read_text().endswith("\n")):
                time.sleep(0.01)
            raise subprocess.TimeoutExpired(self.args, timeout)

    monkeypatch.setattr(subprocess, "Popen", Impatient)
    with pytest.raises(PlimsollError, match="took longer than"):
        chromium.print_pdf("<!doctype html>")
    helper = int(pid.read_text())
    with suppress(psutil.NoSuchProcess):
        psutil.Process(helper).wait(timeout=10)
    assert not psutil.pid_exists(helper)


def test_a_damaged_result_names_the_field(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = json.loads((folder / "result.json").read_text()) | {"rows": "many"}
    (folder / "result.json").write_text(json.dumps(broken))
    with pytest.raises(SystemExit) as ended:
        main(["report", str(folder)])
    assert ended.value.code == 2
    assert "result.json: rows:" in capsys.readouterr().err


def test_the_table_has_every_step_and_leaves_unknown_cells_empty() -> None:
    rows = list(csv.DictReader(io.StringIO(write_steps_csv(RESULT))))
    assert len(rows) == len(RESULT.steps)
    for row, done in zip(rows, RESULT.steps, strict=True):
        assert int(row["clients"]) == done.plan.clients
        assert float(row["throughput_ops_per_second"]) == done.step.throughput_ops_per_second
        assert float(row["update_p99_us"]) == done.step.latency_us["update"]["p99"]
        assert row["burst_balance_percent"] == ""
        assert row["rate_ops_per_second"] == ""
