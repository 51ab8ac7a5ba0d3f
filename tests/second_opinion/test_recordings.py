"""The twin's interpreter does what AWS did: executions of the real service, replayed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.second_opinion.interpreters import StepFunctions, running, twin_command
from tests.second_opinion.recorded_execution import FunctionAnswer, Recording
from tests.second_opinion.recordings import REPOSITORY, Repository
from tests.second_opinion.scripted_aws import Raised, ScriptedAws

RECORDINGS = list(Repository(Path(os.environ[REPOSITORY])).recordings())
OF_A_SERVER = ("SdkHttpMetadata", "SdkResponseMetadata")  # of one call to one server of AWS


class RecordedFunctions(ScriptedAws):
    """Answers every call as AWS's own function did, in order."""

    def __init__(self) -> None:
        super().__init__({})
        self.called_with: list[Any] = []
        self._answers: list[FunctionAnswer] = []

    def expect(self, recording: Recording) -> None:
        """Answer the calls of an execution from here on."""
        self.called_with, self._answers = [], list(recording.answers)

    def call(self, name: str, payload: Any, run_id: str) -> Any:
        """Give the next answer."""
        del name, run_id
        self.called_with.append(payload)
        answer = self._answers.pop(0)
        return Raised(answer.payload) if answer.failed else answer.payload


@pytest.fixture(scope="module")
def functions() -> Iterator[RecordedFunctions]:
    with RecordedFunctions() as recorded:
        yield recorded


@pytest.fixture(scope="module")
def states(
    functions: RecordedFunctions, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StepFunctions]:
    log = tmp_path_factory.mktemp("twin") / "twin.log"
    with running(twin_command(), log) as interpreter:
        interpreter.call_aws_at(functions.url)
        yield StepFunctions(interpreter.url)


def comparable(value: Any) -> Any:
    """Give a value as recordings show it: JSON in text is read, a server's own is left out."""
    if isinstance(value, dict):
        return {key: comparable(inner) for key, inner in value.items() if key not in OF_A_SERVER}
    if isinstance(value, list):
        return [comparable(inner) for inner in value]
    if isinstance(value, str) and value.startswith(("{", "[")):
        try:
            return comparable(json.loads(value))
        except json.JSONDecodeError:
            return value
    return value


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: str(recording.name))
def test_the_twin_ends_as_aws_did(
    recording: Recording, states: StepFunctions, functions: RecordedFunctions
) -> None:
    number = RECORDINGS.index(recording)
    functions.expect(recording)
    machine = states.create(f"m-{number}", recording.definition)
    told = states.wait(states.start(machine, f"e-{number}", recording.given))
    output = json.loads(told["output"]) if "output" in told else None
    assert told["status"] == recording.status, told
    assert comparable(output) == comparable(recording.output), told
    assert told.get("error") == recording.error, told
    assert functions.called_with == list(recording.calls)
