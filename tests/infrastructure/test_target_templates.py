"""The templates that runs give to CloudFormation."""

import pytest

from stacks.targets.synthesis import TEMPLATES, synthesize


@pytest.fixture(scope="module")
def synthesized() -> dict[str, str]:
    return dict(synthesize())


def test_what_is_committed_is_what_the_sources_say(synthesized: dict[str, str]) -> None:
    committed = {path.name: path.read_text() for path in TEMPLATES.iterdir()}
    assert committed == synthesized, "run `make synth` and commit what it writes"
