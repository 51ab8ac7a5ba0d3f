"""The twin's interpreter does what AWS did: executions of the real service, replayed."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.second_opinion.interpreters import StepFunctions, running, twin_command
from tests.second_opinion.recordings import REPOSITORY, Recording, Repository

RECORDINGS = list(Repository(Path(os.environ[REPOSITORY])).recordings())


@pytest.fixture(scope="module")
def states(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StepFunctions]:
    log = tmp_path_factory.mktemp("twin") / "twin.log"
    with running(twin_command(), log) as interpreter:
        yield StepFunctions(interpreter.url)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda recording: str(recording.name))
def test_the_twin_ends_as_aws_did(recording: Recording, states: StepFunctions) -> None:
    number = RECORDINGS.index(recording)
    machine = states.create(f"m-{number}", recording.definition)
    told = states.wait(states.start(machine, f"e-{number}", recording.given))
    output = json.loads(told["output"]) if "output" in told else None
    assert told["status"] == recording.status, told
    assert (output, told.get("error")) == (recording.output, recording.error), told
