"""A phase reads its input from a file: columns by name, in the order of the lines."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from plimsoll.errors import UsageError
from plimsoll.model.engine.values import ColumnValue
from plimsoll.model.request.phases import PhaseInput
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import CheckedRequest, validate_request
from plimsoll.requests.experiment_file import read_file
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
