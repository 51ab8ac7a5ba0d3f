"""`plimsoll run` as a user meets it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from plimsoll.model.run.results import RunResult
from tests.local.workflow.conftest import ANSWERED, PATIENCE_S, tiny

ROOT = Path(__file__).parents[3]
# tests that run in the background ignore Ctrl-C, and so would what they start
MAIN = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from plimsoll.cli.main import main
main()
"""
# whoever interrupts again does so before the run has stopped, however long this test stands still
IMPATIENT = f"""
import os, signal
from plimsoll.local.runner import LocalRun
stop = LocalRun.stop
def stop_and_interrupt_again(run):
    stop(run)
    os.kill(os.getpid(), signal.SIGINT)
LocalRun.stop = stop_and_interrupt_again
{MAIN}"""


def plimsoll(folder: Path, *arguments: str, main: str = MAIN) -> "subprocess.Popen[str]":
    """Start the command with temporary files in a folder of the test's."""
    (folder / "tmp").mkdir(exist_ok=True)
    return subprocess.Popen(
        [sys.executable, "-c", main, *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(folder / "tmp")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def request_file(folder: Path, **changes: object) -> Path:
    path = folder / "request.yaml"
    path.write_text(tiny("verb", **changes).model_dump_json())  # JSON is YAML
    return path


def run_here(
    folder: Path, request: Path, out: Path, *more: str, main: str = MAIN
) -> "subprocess.Popen[str]":
    """Start a run whose databases lie in the folder, too."""
    here = ("--local", "--data-dir", str(folder / "tmp"))
    return plimsoll(folder, "run", str(request), *here, "--out", str(out), *more, main=main)


def left_of(folder: Path) -> list[str]:
    """Processes that know the folder, and what is in its temporary directory."""
    processes = [
        " ".join(process.info["cmdline"] or [])
        for process in psutil.process_iter(["cmdline"])
        if any(str(folder) in word for word in process.info["cmdline"] or [])
    ]
    return processes + [path.name for path in (folder / "tmp").iterdir()]


def test_a_run_prints_its_result_and_leaves_its_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    request = request_file(tmp_path, expect=["capacity >= 0.5"], **ANSWERED)
    rule = ("--expect", "not worse than nothing.json by 5 %")
    refused = run_here(tmp_path, request, out, *rule)
    assert "baseline nothing.json: there is no such file" in refused.communicate()[1]
    assert refused.returncode == 2
    process = run_here(tmp_path, request, out, "--json")
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, stderr
    printed = RunResult.model_validate(json.loads(stdout))
    assert printed == RunResult.model_validate_json((out / "result.json").read_bytes())
    assert [one.rule for one in printed.expect] == ["capacity >= 0.5"]
    assert (out / "report.html").is_file()
    assert "step 1: 1 client, 1 connection" in stderr
    assert "the target is gone" in stderr
    assert left_of(tmp_path) == []


@pytest.mark.whole  # test_verbs.py watches one that fails
def test_a_failed_run_says_so_and_exits_with_1(tmp_path: Path) -> None:
    request = request_file(tmp_path, target__parameters={"no_such_parameter": 1})
    out = tmp_path / "out"
    process = run_here(tmp_path, request, out)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert "FAILED in its provision phase" in stdout
    assert "unknown variable 'no_such_parameter=1'" in stdout
    assert "Traceback" not in stdout + stderr
    assert left_of(tmp_path) == []


def await_line(process: "subprocess.Popen[str]", words: str) -> None:
    assert process.stderr is not None
    assert any(words in line for line in process.stderr)


@pytest.mark.whole
def test_a_second_interrupt_ends_it_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    request = request_file(tmp_path, load__duration_s=60, load__warmup_s=1)
    process = run_here(tmp_path, request, tmp_path / "out", main=IMPATIENT)
    await_line(process, "step 1: 1 client")
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130
    assert "interrupted: stopping the run" in stderr
    assert "Traceback" not in stderr
    assert left_of(tmp_path) == []
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "number",
    # the first of two interrupts stops a run, too
    [pytest.param(signal.SIGINT, marks=pytest.mark.whole), signal.SIGTERM],
)
def test_an_interrupt_stops_the_run_and_leaves_nothing(tmp_path: Path, number: int) -> None:
    request = request_file(tmp_path, load__duration_s=60, load__warmup_s=1)
    out = tmp_path / "out"
    process = run_here(tmp_path, request, out)
    await_line(process, "step 1: 1 client")
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, stderr
    assert "the target is gone" in stderr
    assert "STOPPED" in stdout
    assert left_of(tmp_path) == []


@pytest.mark.parametrize(
    ("out", "told"),
    [
        (".", "this folder holds something already"),
        ("request.yaml/folder", "cannot be written: Not a directory"),
    ],
)
def test_a_folder_that_cannot_take_the_results_is_refused_before_anything_is_made(
    tmp_path: Path, out: str, told: str
) -> None:
    request = request_file(tmp_path)
    process = run_here(tmp_path, request, tmp_path / out)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert told in stderr
    assert "starting" not in stderr
