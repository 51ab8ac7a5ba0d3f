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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

from plimsoll.local.aws.corrections.definitions import faults

_FOLDER = "tests/aws/services/stepfunctions"
_TEMPLATES = f"{_FOLDER}/templates"
REPOSITORY = "LOCALSTACK_REPOSITORY"  # the variable that says where the clone is
PARAMETRIZE = "pytest.mark.parametrize"
_TEMPLATE_FILE = re.compile(r"_templates?\.py$")
_MASKED = ('"date"', '"timestamp"')
FUNCTION = "arn:aws:lambda:us-east-1:123456789012:function:recorded"
_PLACEHOLDER = re.compile("%LAMBDA_FUNCTION_ARN_LITERAL_PLACEHOLDER%")
_RESOURCE = re.compile(r'"Resource": "([^"]+)"')
_WITHOUT_QUERIES = {"Type", "Next", "End", "Comment"}
_INVOKES = {"arn:aws:states:::lambda:invoke"}
_ENDS = {
    "ExecutionSucceeded": "SUCCEEDED",
    "ExecutionFailed": "FAILED",
    "ExecutionTimedOut": "TIMED_OUT",
}


@dataclass(frozen=True)
class FunctionAnswer:
    """What a call of a function came to.

    Attributes:
        payload: What it answered.
        failed: Whether that is an error which it raised.
    """

    payload: Any
    failed: bool


@dataclass(frozen=True)
class Recording:
    """One execution of the real service.

    Attributes:
        name: File, test and case.
        definition: The state machine.
        given: The execution's input.
        status: How it ended.
        output: If it succeeded.
        error: If it failed.
        calls: What functions were called with, in order.
        answers: What each call came to.
    """

    name: str
    definition: str
    given: Any
    status: str
    output: Any
    error: str | None
    calls: tuple[Any, ...] = ()
    answers: tuple[FunctionAnswer, ...] = ()


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
                recording = _recording(f"{PurePosixPath(file).name}::{case}", definition, snapshot)
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


def _recording(name: str, definition: Any, snapshot: Mapping[str, Any]) -> Recording | None:
    """Make a recording of a snapshot; None where it is not one of a machine like ours."""
    written = json.dumps(_in_jsonata(definition))
    histories = [
        part["events"]
        for part in snapshot["recorded-content"].values()
        if isinstance(part, dict) and "events" in part
    ]
    written = _PLACEHOLDER.sub(FUNCTION, written)
    if faults(written) or len(histories) != 1 or not set(_RESOURCE.findall(written)) <= _INVOKES:
        return None
    called = _called(histories[0])
    if called is None:
        return None
    first, last = histories[0][0], histories[0][-1]
    given = _parsed(first["executionStartedEventDetails"]["input"])
    if any(word in json.dumps(given) for word in _MASKED):
        return None
    details: Mapping[str, Any] = next(
        (value for key, value in last.items() if key.endswith("EventDetails")), {}
    )
    return Recording(
        name,
        written,
        given,
        _ENDS[last["type"]],
        _parsed(details.get("output")),
        details.get("error"),
        *called,
    )


def _in_jsonata(definition: Any) -> Any:
    """Say once what every state says for itself: that it is in JSONata, as ours do.

    A state without any field in which a query could stand is the same in either language.
    """
    states = definition.get("States", {}) if isinstance(definition, dict) else {}
    if not states or not all(_is_jsonata(state) for state in states.values()):
        return definition
    plain = {
        name: {key: value for key, value in state.items() if key != "QueryLanguage"}
        for name, state in states.items()
    }
    return {**definition, "QueryLanguage": "JSONata", "States": plain}


def _is_jsonata(state: Mapping[str, Any]) -> bool:
    return state.get("QueryLanguage") == "JSONata" or not set(state) - _WITHOUT_QUERIES


def _called(
    events: Sequence[Mapping[str, Any]],
) -> tuple[tuple[Any, ...], tuple[FunctionAnswer, ...]] | None:
    """Give what functions were called with and what they answered; None where that is masked."""
    calls = [
        _parsed(e["taskScheduledEventDetails"]["parameters"]) for e in events if _is(e, "Scheduled")
    ]
    answers = [answer for e in events if (answer := _answer(e)) is not None]
    if len(calls) != len(answers):
        return None
    return tuple(call.get("Payload") for call in calls), tuple(answers)


def _is(event: Mapping[str, Any], what: str) -> bool:
    return bool(event["type"] == f"Task{what}")


def _answer(event: Mapping[str, Any]) -> FunctionAnswer | None:
    if _is(event, "Succeeded"):
        output = _parsed(event["taskSucceededEventDetails"]["output"])
        return FunctionAnswer(output["Payload"], failed=False)
    if _is(event, "Failed"):
        return FunctionAnswer(_parsed(event["taskFailedEventDetails"]["cause"]), failed=True)
    return None


def _parsed(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value
