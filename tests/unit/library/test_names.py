"""`import plimsoll`: its names, what they say of themselves, and what they cost."""

import ast
import doctest
import inspect
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from typing import cast

import pytest

import plimsoll
from plimsoll.load_line.outcome import write_result
from tests.support.synthetic_run import synthetic_run

STUB = Path(plimsoll.__file__).with_suffix(".pyi")
NAMES = [name for name in dir(plimsoll) if name != "__version__"]
CHECK = """
import sys
import plimsoll
heavy = ("plimsoll", "pydantic", "boto3", "numpy")
loaded = [name for name in sys.modules if name.startswith(heavy)]
sys.exit(0 if loaded == ["plimsoll"] else f"it loads {loaded}")
"""


def test_it_has_a_dozen_names_and_three() -> None:
    assert len(NAMES) == 15
    assert {"find", "load", "judge", "Request", "Result", "read_result", "compare"} <= set(NAMES)


def test_type_checkers_see_the_same_names_from_the_same_modules() -> None:
    stub = ast.parse(STUB.read_text()).body
    imports = [node for node in stub if isinstance(node, ast.ImportFrom)]
    stubbed = {
        alias.asname: node.module for node in imports for alias in node.names if alias.asname
    }
    written = {node.name for node in stub if isinstance(node, ast.FunctionDef)}
    assert written == {"find", "load", "prepare"}
    face = vars(plimsoll)["_FACE"]
    assert stubbed == {name: module for name, module in face.items() if name not in written}


@pytest.mark.parametrize("name", ["find", "load", "prepare"])
def test_type_checkers_see_the_keywords_that_the_tables_have(name: str) -> None:
    stub = ast.parse(STUB.read_text()).body
    known: dict[str, object] = {}
    for node in stub:
        if isinstance(node, ast.ImportFrom):
            exec(ast.unparse(node), known)
    [written] = [node for node in stub if isinstance(node, ast.FunctionDef) and node.name == name]
    exec(ast.unparse(written), known)
    stubbed = inspect.signature(cast("FunctionType", known[name]))
    called = inspect.signature(getattr(plimsoll, name))
    assert stubbed.return_annotation == called.return_annotation
    assert stubbed.parameters.keys() == called.parameters.keys()
    for key, parameter in stubbed.parameters.items():
        assert parameter.annotation == called.parameters[key].annotation, key
        assert parameter.default in {called.parameters[key].default, ...}, key


@pytest.mark.parametrize("name", NAMES)
def test_each_says_what_it_is_and_each_argument_what_it_means(name: str) -> None:
    named = getattr(plimsoll, name)
    text = inspect.getdoc(named) or ""
    assert text
    if inspect.isfunction(named):
        for argument in inspect.signature(named).parameters:
            assert f"{argument}:" in text, argument
        assert "Raises:" in text
        assert inspect.signature(named).return_annotation is not inspect.Signature.empty


def test_to_import_it_loads_nothing() -> None:
    told = subprocess.run(
        [sys.executable, "-c", CHECK], capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr


def test_an_unknown_name_is_an_ordinary_error() -> None:
    with pytest.raises(AttributeError, match="module 'plimsoll' has no attribute 'fnid'"):
        plimsoll.fnid  # type: ignore[attr-defined]  # noqa: B018


@pytest.fixture
def finished_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder in which the examples are called: two runs have finished there."""
    for iops, knee in ((1000, 3.2), (2000, 6.4)):
        run_id = f"r1-demo-{iops}-iops"
        result, seconds = synthetic_run(iops=iops, knee=knee, run_id=run_id)
        write_result(tmp_path / "plimsoll-results" / run_id, result, seconds)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("finished_runs")
@pytest.mark.parametrize("name", ["judge", "compare", "read_result", "read_request"])
def test_its_examples_are_true(name: str) -> None:
    [found] = doctest.DocTestFinder(recurse=False).find(getattr(plimsoll, name), name)
    assert found.examples
    told: list[str] = []
    doctest.DocTestRunner().run(found, out=told.append)
    assert told == []
