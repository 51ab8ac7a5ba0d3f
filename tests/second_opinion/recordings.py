"""AWS's own answers: executions of the real service that LocalStack's repository has recorded.

They are read from a clone of that repository (Apache-2.0), and nothing of it is kept here. A
recording is a test's snapshot: the history of an execution. Its definition is in the template that
the test names. Those count that use what this project's machines use: JSONata throughout, and of
Tasks `lambda:invoke`, whose answers the history holds; what was masked when it was recorded is left
out, and so are definitions that a test has edited.
"""

import ast
import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from tests.second_opinion.recorded_execution import Recording, recording_of

_FOLDER = "tests/aws/services/stepfunctions"
_TEMPLATES = f"{_FOLDER}/templates"
REPOSITORY = "LOCALSTACK_REPOSITORY"  # the variable that says where the clone is
PARAMETRIZE = "pytest.mark.parametrize"
_TEMPLATE_FILE = re.compile(r"_templates?\.py$")


class Repository:
    """A clone of LocalStack's repository, with a work tree or without."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._files = self._git("ls-tree", "-r", "--name-only", "HEAD", _FOLDER).splitlines()

    def _git(self, *arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(self._path), *arguments], capture_output=True, text=True, check=True
        ).stdout

    def _read(self, file: str) -> str:
        return self._git("show", f"HEAD:{file}")

    def recordings(self) -> Iterator[Recording]:
        """Give the recordings of definitions that this project's machines could be."""
        templates = self._templates()
        for file in self._files:
            if not file.endswith(".snapshot.json"):
                continue
            tests = _templates_of_tests(self._read(file.replace(".snapshot.json", ".py")))
            for name, snapshot in json.loads(self._read(file)).items():
                case = name.split("::")[-1]
                named = tests.get(case) or tests.get(case.split("[")[0]) or ""
                place = templates.get(named)
                if place is None:
                    continue
                definition = _definition(self._read(place))
                recording = recording_of(
                    f"{PurePosixPath(file).name}::{case}", definition, snapshot
                )
                if recording is not None:
                    yield recording

    def _templates(self) -> dict[str, str]:
        """The file of each template by its name in the tests: `Class.CONSTANT`."""
        found: dict[str, str] = {}
        for file in self._files:
            if not (file.startswith(_TEMPLATES) and _TEMPLATE_FILE.search(file)):
                continue
            folder = PurePosixPath(file).parent
            for group in ast.parse(self._read(file)).body:
                if not isinstance(group, ast.ClassDef):
                    continue
                for name, relative in _constants(group):
                    found[f"{group.name}.{name}"] = str(folder / relative)
        return {name: place for name, place in found.items() if place in self._files}


def _constants(group: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for statement in group.body:
        name = _assigned(statement)
        if name is not None:
            texts = [
                node.value
                for node in ast.walk(statement)
                if isinstance(node, ast.Constant) and isinstance(node.value, str)
            ]
            if texts:
                yield name, texts[-1]


def _assigned(statement: ast.stmt) -> str | None:
    """The name that a statement gives a value, with a type or without."""
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return None


def _templates_of_tests(source: str) -> dict[str, str]:
    """The template of each test, and of each case of one, as the test's code names it."""
    tree = ast.parse(source)
    aliases = {
        alias.asname: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname
    }
    found: dict[str, str] = {}
    for test in ast.walk(tree):
        if isinstance(test, ast.FunctionDef) and test.name.startswith("test_"):
            found.update(_cases(test, aliases))
    return found


def _cases(test: ast.FunctionDef, aliases: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each case of a test that stands for one template, by the case's name."""
    if _edits(test):
        return
    for decorator in test.decorator_list:
        if not (isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == PARAMETRIZE):
            continue
        given = {keyword.arg: keyword.value for keyword in decorator.keywords}
        values, ids = decorator.args[1], given.get("ids")
        if isinstance(values, ast.List) and isinstance(ids, ast.List):
            for value, name in zip(values.elts, ids.elts, strict=False):
                if (
                    isinstance(name, ast.Constant)
                    and isinstance(name.value, str)
                    and len(set(_named(value, aliases))) == 1
                ):
                    yield f"{test.name}[{name.value}]", _named(value, aliases)[0]
    loaded = [
        name
        for node in ast.walk(test)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("load_sfn_template")
        for argument in node.args
        for name in _named(argument, aliases)
    ]
    if len(set(loaded)) == 1:
        yield test.name, loaded[0]


def _edits(test: ast.FunctionDef) -> bool:
    """Whether a test changes the template that it has loaded, so that this is not what was run."""
    return any(
        (isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.Attribute) and node.attr == "update")
        for node in ast.walk(test)
    )


def _named(value: ast.AST, aliases: Mapping[str, str]) -> list[str]:
    """The templates that an expression names."""
    return [
        f"{aliases.get(node.value.id, node.value.id)}.{node.attr}"
        for node in ast.walk(value)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.attr.isupper()
    ]


def _definition(text: str) -> Any:
    """Read JSON5, or give nothing: YAML reads it, but for comments and names beside their value."""
    text = re.sub(r'^(\s*"[^"]*"):(?=\S)', r"\1: ", text, flags=re.MULTILINE)
    try:
        return _yaml(text)
    except yaml.YAMLError:
        return None


def _yaml(text: str) -> Any:
    return yaml.safe_load(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE).replace("\t", " "))
