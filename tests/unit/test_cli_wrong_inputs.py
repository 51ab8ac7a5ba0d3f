"""Wrong options, files and streams: one error that names the field and its cure, and its code."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plimsoll.cli.find_shown import Terminal
from plimsoll.cli.main import main
from plimsoll.errors import PlimsollError
from tests.support.synthetic_run import synthetic_run

CLOSED = "mysql://u:p@127.0.0.1:1/db"  # nobody listens there
ROOT = Path(__file__).parents[2]
TABLE = "clients,throughput_ops_per_second,latency_us.read.p99\n1,700,830\n2,1300,1190\n"
FILES = {
    "table.csv": TABLE,
    "date.yaml": "about: 2026-11-27\n",
    "bytes.yaml": "about: !!binary aGk=\n",
    "tag.yaml": "about: !!set {a}\n",
}
OLD_LOCALE = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
FIND = ("find", CLOSED, "--workload", "ycsb-a")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((*FIND, "--limit", "read=5"), "--limit"),
        ((*FIND, "--limit", "rad=5ms"), "unknown operation 'rad'; did you mean 'read'?"),
        ((*FIND, "--limit", "read=-5ms"), "--limit"),
        ((*FIND, "--stop-if", "p98 > 5ms"), "'p98 > 5ms' is not a rule"),
        ((*FIND, "--volume", "gp9"), "--volume"),
        ((*FIND, "--records", "1e6"), "'1e6' is not a valid whole number"),
        ((*FIND, "--duration", "5s"), "'5s' is not a valid number"),
        (("find", CLOSED, "--workload", "date.yaml"), "not a date: put it in quotes"),
        (("find", CLOSED, "--workload", "bytes.yaml"), "not binary data"),
        (("find", CLOSED, "--workload", "tag.yaml"), "not a tag:yaml.org,2002:set"),
        (("find", CLOSED, "--workload", "utf16.yaml"), "is not UTF-8 text: save it as UTF-8"),
        (("compare", "table.csv", "table.csv"), "table.csv: is a file: give the folder of a run"),
        (("report", "table.csv"), "table.csv: is a file: give the folder of a run"),
        (("workload", "derive", "table.csv"), "give a log of statements as --log table.csv"),
        (
            ("capacity", "table.csv", "./table.csv"),
            "table.csv: is given twice: its steps would count",
        ),
        (("serve", "--port", "x"), "'x' is not a valid whole number"),
        (("derive", "table.csv"), "No such command 'derive'. Did you mean 'workload derive'?"),
    ],
)
def test_a_wrong_input_is_named_before_any_login(
    arguments: tuple[str, ...],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "utf16.yaml").write_text("about: Reads.\n", encoding="utf-16")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    with pytest.raises(SystemExit) as ended:
        main([*arguments])
    assert told in capsys.readouterr().err
    assert ended.value.code == 2


@pytest.mark.parametrize(
    ("shell", "variables", "code"),
    [
        ("{} capacity table.csv >&-", {}, 0),
        pytest.param("{} capacity table.csv 2>&-", {}, 0, marks=pytest.mark.whole),
        ("{} capacity nowhere.csv 2>&-", {}, 2),
        pytest.param(
            "{} capacity table.csv", {"PYTHONIOENCODING": "ascii"}, 0, marks=pytest.mark.whole
        ),
        pytest.param("{} capacity table.csv", OLD_LOCALE, 0, marks=pytest.mark.whole),
        ("{} find x --workload \u00e9", OLD_LOCALE, 2),
        ("{} capacity table.csv >/dev/full", {}, 1),
        ("{} capacity table.csv | head -1", {"COLUMNS": "40", "NO_COLOR": "1"}, 0),
    ],
)
def test_a_stream_that_cannot_take_what_is_written_is_no_stack_trace(
    shell: str, variables: dict[str, str], code: int, tmp_path: Path
) -> None:
    (tmp_path / "table.csv").write_text(TABLE)
    (tmp_path / "run.py").write_text("from plimsoll.cli.main import main; main()")
    done = subprocess.run(
        shell.format(f"{sys.executable} run.py"),
        shell=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_aws_without_a_region_says_where_it_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SystemExit) as ended:
        main(["advise", "rds://shop"])
    assert ended.value.code == 1
    assert "AWS: You must specify a region. (AWS_PROFILE and AWS_REGION" in capsys.readouterr().err


def test_an_answer_that_cannot_be_written_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").mkdir()
    result, seconds = synthetic_run()
    assert result.capacity is not None
    with pytest.raises(PlimsollError, match=r"cannot write .*result\.json"):
        Terminal(tmp_path).keep(result, seconds)
    assert result.capacity.sentence in capsys.readouterr().err
