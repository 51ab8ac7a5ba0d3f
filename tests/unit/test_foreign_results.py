"""A result that somebody else sends: shown, it neither controls a terminal nor a spreadsheet."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from plimsoll.cli.main import cli, main
from plimsoll.errors import UsageError
from plimsoll.model.run.results import RunResult
from plimsoll.report.tables import write_steps_csv
from plimsoll.words import escape_controls
from tests.support.little_memory import little_memory
from tests.support.synthetic_run import synthetic_run

CONTROLS = "\x1b]0;title\x07\x1b[2J\x9b31m\x7f\r\b"


def spoilt(value: Any, path: str = "") -> Any:
    """Put control characters and markup into every text of a result that may hold any."""
    match value:
        case dict():
            return {name: spoilt(part, name) for name, part in value.items()}
        case list():
            return [spoilt(part, path) for part in value]
        case str() if path in {"notes", "problems", "cause", "summary", "evidence", "explanations"}:
            return f"[/bold] [link=x] {CONTROLS}{value}"
        case _:
            return value


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    result = json.loads(synthetic_run()[0].model_dump_json())
    result["notes"] = ["a note"]
    result["failure"] = {"phase": "provision", "error": "StepError", "cause": "it broke"}
    (tmp_path / "result.json").write_text(json.dumps(spoilt(result)))
    return tmp_path


def test_show_prints_no_control_characters(
    foreign: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["show", str(foreign)])
    shown, told = capsys.readouterr()
    assert (ended.value.code, told) == (0, "")
    assert "\\x1b]0;title\\x07" in shown
    assert "[/bold]" in shown
    assert not {character for character in CONTROLS if not character.isprintable()} & set(shown)


def test_an_error_shows_no_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "result.json").write_text('{"\\u001b[2J": 1}')
    with pytest.raises(SystemExit) as ended:
        main(["show", str(tmp_path)])
    assert ended.value.code == 2
    assert "\x1b" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "text", ['{"a": "\\u001b"', "[" * 50_000 + '"\\u001b"', '{"a":"\xff\\u001b"}']
)
def test_a_broken_file_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    (tmp_path / "result.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(SystemExit) as ended:
        main(["show", str(tmp_path)])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") == 1


def result_with(wrong: str) -> dict[str, Any]:
    """A result with hundreds of thousands of entries of one kind, all of them wrong."""
    result: dict[str, Any] = json.loads(synthetic_run()[0].model_dump_json())
    names = [f"a{number}" for number in range(200_000)]
    match wrong:
        case "steps":
            return {**result, "steps": [{}] * 300_000}
        case "unknown":
            return {**result, **dict.fromkeys(names, 1)}
        case "operations":
            result["steps"][0]["operations"] = {name: {} for name in names}
        case "counts":
            result["steps"][0]["step"]["operation_counts"] = dict.fromkeys(names, "")
        case _:
            return {**result, "notes": "x" * 10_000_000}
    return result


@pytest.mark.parametrize(
    ("wrong", "verb", "told"),
    [
        ("steps", "show", "steps.0."),
        pytest.param("steps", "report", "steps.0.", marks=pytest.mark.whole),
        pytest.param("steps", "size --want 5", "steps.0.", marks=pytest.mark.whole),
        ("unknown", "show", "the file: more than 1,000 fields are unknown"),
        ("operations", "show", "steps.0.operations.a0."),
        ("counts", "show", "steps.0.step.operation_counts.a0: "),
        ("text", "show", "notes: "),
    ],
)
def test_of_many_wrong_entries_no_more_is_kept_than_the_first(
    tmp_path: Path, wrong: str, verb: str, told: str
) -> None:
    (tmp_path / "result.json").write_text(json.dumps(result_with(wrong)))
    name, *options = verb.split()
    call = [name, str(tmp_path), *options]
    CliRunner().invoke(cli, call)  # what is imported does not count
    with little_memory():
        refused = CliRunner().invoke(cli, call)
    assert isinstance(refused.exception, UsageError)
    assert f"result.json: {told}" in str(refused.exception)


@pytest.mark.parametrize("begins", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_a_csv_begins_a_formula(begins: str) -> None:
    result, _ = synthetic_run()
    value = result.model_dump(mode="json")
    for done in value["steps"]:
        step = done["step"]
        for part in ("latency_us", "operation_counts"):
            step[part] = {f"{begins}cmd|' /C calc'!A0{n}": one for n, one in step[part].items()}
    for judged in value["capacity"]["steps"]:
        judged["explanations"] = [f"{begins}1+1"]
    table = list(
        csv.reader(io.StringIO(write_steps_csv(RunResult.model_validate(value)), newline=""))
    )
    cells = [cell for row in table for cell in row]
    assert not [cell for cell in cells if cell.startswith(begins)]
    assert [cell for cell in cells if cell.startswith(f"'{begins}")]


def test_what_controls_a_terminal_is_shown_as_what_it_is() -> None:
    assert (
        escape_controls("a\x1b[2J\n\tb\x9f\x7fé\udcff\ud83d")
        == "a\\x1b[2J\n\tb\\x9f\\x7fé\\xff\\ud83d"
    )
