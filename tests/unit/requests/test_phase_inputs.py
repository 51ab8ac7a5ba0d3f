"""A phase reads its input from a file: columns by name, in the order of the lines."""

import re
import resource
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from plimsoll.cli.main import cli
from plimsoll.documents import MAX_CHARACTERS
from plimsoll.errors import UsageError
from plimsoll.model.engine.values import ColumnValue
from plimsoll.model.request.phases import PhaseInput
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import CheckedRequest, validate_request
from plimsoll.requests.experiment_file import read_file
from tests.support.command import COMMAND
from tests.support.little_memory import little_memory
from tests.unit.fleet.test_phase_plan import JOB

PAGE = (Path(__file__).parents[3] / "docs" / "phases.md").read_text()
USAGE = 'account,at,units,details\n7,100,5,"a, b"\n8,101,6,c\n9,102,-7,d\n'


def example() -> dict[str, Any]:
    """The phase that docs/phases.md shows."""
    *_, last = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
    (phase,) = yaml.safe_load(last)
    return dict(phase)


def with_input(text: str, **changes: Any) -> dict[str, Any]:
    phase = example()
    workload = {**phase["workload"], "input": {"csv": text}, **changes}
    return {**JOB, "phases": [{**phase, "workload": workload}]}


def job_with(folder: Path, file: str) -> Path:
    """A request's file whose phase has its input from `file`, in a folder of its own."""
    phase = example()
    phase["workload"]["input"] = {"file": file}
    folder.mkdir()
    (folder / "job.yaml").write_text(yaml.safe_dump({**JOB, "phases": [phase]}))
    return folder / "job.yaml"


def columns_of(checked: CheckedRequest) -> list[tuple[int | str, ...]]:
    (operation,) = checked.phases["load"].engine.operations
    binds = operation.statements[0].binds
    return [bind.values for bind in binds if isinstance(bind, ColumnValue)]


def test_a_file_beside_the_request_goes_with_it(tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text(USAGE)
    (tmp_path / "job.yaml").write_text(yaml.safe_dump({**JOB, "phases": [example()]}))
    asked = read_file(tmp_path / "job.yaml")
    assert isinstance(asked, dict)
    (checked,) = asked.values()
    request = checked.request
    workload = request.phases[0].workload
    assert workload is not None
    given = workload.input
    assert given is not None
    assert given.csv == USAGE
    assert columns_of(checked) == [(7, 8, 9), (100, 101, 102), (5, 6, -7), ("a, b", "c", "d")]
    assert Request.model_validate_json(request.model_dump_json()) == request


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(yaml.safe_dump({**JOB, "phases": [example()]}))
    with pytest.raises(UsageError, match=r"usage\.csv: .*No such file"):
        read_file(tmp_path / "job.yaml")


def test_a_column_is_numbers_only_where_all_of_its_cells_are() -> None:
    given = PhaseInput(csv="a,b,c\n1,1,9223372036854775808\n-2,x,1\n\n")
    assert given.columns() == {
        "a": [1, -2], "b": ["1", "x"], "c": ["9223372036854775808", "1"]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("account,at\n", "at least one record"),
        ("a,a\n1,2\n", "different names"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells for 2 columns"),
        ('a,b\n"1,2\n', "no CSV"),
    ],
)
def test_what_is_no_table_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as raised:
        validate_request(with_input(text))
    (complaint,) = raised.value.complaints
    assert complaint.path == ("phases", 0, "workload", "input", "csv")
    assert problem in str(complaint)


def test_a_column_that_the_file_does_not_have_is_named() -> None:
    with pytest.raises(UsageError) as raised:
        validate_request(with_input("account,at,units\n1,2,3\n"))
    (complaint,) = raised.value.complaints
    assert complaint.path == ("phases", 0, "workload", "definition")
    assert "details" in str(complaint)


def test_only_a_definition_takes_an_input() -> None:
    with pytest.raises(UsageError, match="which names its columns"):
        validate_request(with_input(USAGE, definition=None, name="batch-3-charges"))


def test_an_input_may_lie_below_the_folder_of_its_request(tmp_path: Path) -> None:
    job = job_with(tmp_path / "job", "../job/inputs/usage.csv")
    (job.parent / "inputs").mkdir()
    (job.parent / "inputs" / "usage.csv").write_text(USAGE)
    assert read_file(job)


@pytest.mark.parametrize("file", ["../usage.csv", "{folder}/usage.csv", "link.csv", "inputs/u.csv"])
def test_an_input_that_lies_elsewhere_is_refused_unless_its_folder_is_allowed(
    tmp_path: Path, file: str
) -> None:
    """So a request of somebody else brings no other file of this machine into a report."""
    (tmp_path / "usage.csv").write_text(USAGE)
    (tmp_path / "u.csv").write_text(USAGE)
    named = file.format(folder=tmp_path)
    job = job_with(tmp_path / "job", named)
    (job.parent / "link.csv").symlink_to("../usage.csv")
    (job.parent / "inputs").symlink_to("..")
    line = 1 + [f"file: {named}" in line for line in job.read_text().splitlines()].index(True)
    with pytest.raises(UsageError) as error:
        read_file(job)
    assert str(error.value) == (
        f"{job}:{line}: {named!r} lies outside of the folder of this file; --allow-files DIR"
        " allows it"
    )
    assert read_file(job, [tmp_path])
    for verb in ("validate", "quote"):
        refused = CliRunner().invoke(cli, [verb, str(job)])
        assert isinstance(refused.exception, UsageError)
        allowed = CliRunner().invoke(cli, [verb, str(job), "--allow-files", str(tmp_path)])
        assert allowed.exit_code == 0, allowed.exception


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ("a\0b", "'a\\x00b' is not a file name"),
        ("\ud800", "'\\ud800' is not a file name"),
        ("loop", "Too many levels of symbolic links"),
        ("pipe/x", "Not a directory"),
        (".", "is a folder: allowed are files and pipes"),
    ],
)
def test_an_input_that_is_no_file_is_one_line(tmp_path: Path, file: str, problem: str) -> None:
    job = job_with(tmp_path / "job", file)
    (job.parent / "loop").symlink_to("loop")
    (job.parent / "pipe").touch()
    with pytest.raises(UsageError) as error:
        read_file(job)
    assert str(error.value).endswith(problem)
    assert "\n" not in str(error.value)


def test_inputs_that_are_too_long_together_are_read_no_further(tmp_path: Path) -> None:
    (tmp_path / "long.csv").write_text("a\n" + "1\n" * (MAX_CHARACTERS // 3))
    inputs = "\n".join("- input: {file: long.csv}" for _ in range(5000))
    (tmp_path / "job.yaml").write_text(f"many:\n{inputs}\n")
    with little_memory(), pytest.raises(UsageError) as error:
        read_file(tmp_path / "job.yaml")
    assert str(error.value).endswith(f"inputs are longer than {MAX_CHARACTERS} characters together")


@pytest.mark.parametrize("depth", [7, 9, 30])
def test_aliases_that_grow_are_refused_before_anything_goes_through_them(
    tmp_path: Path, depth: int
) -> None:
    lines = ["i: {input: {file: usage.csv}}", "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, depth)]
    refused = validated_within_seconds(tmp_path, "\n".join(lines))
    assert refused.startswith("plimsoll: job.yaml:")
    assert refused.endswith("more than 50000 parts, aliases counted out\n")


def test_an_alias_of_itself_is_a_complaint(tmp_path: Path) -> None:
    told = validated_within_seconds(tmp_path, "input: &a {file: *a, phases: [*a, *a]}")
    assert told == "plimsoll: job.yaml:1: nested too deeply\n"


def validated_within_seconds(folder: Path, text: str) -> str:
    """Validate a request, with ten seconds of processor time; return what the command says."""
    (folder / "usage.csv").write_text(USAGE)
    (folder / "job.yaml").write_text(text)
    ran = subprocess.run(
        [*COMMAND, "validate", "job.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (10, 10)),
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    return ran.stderr
