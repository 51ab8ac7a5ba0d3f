"""The commands of guides that call the service, on the service of this machine."""

from pathlib import Path

import pytest

from tests.local.service.conftest import Verb
from tests.support.guides import AT_SERVICE, DOCS, blocks, commands


@pytest.mark.parametrize("guide", sorted(AT_SERVICE))
def test_each_command_of_a_guide_is_carried_out(
    guide: str, verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("check.yaml").write_text(blocks(DOCS / f"{guide}.md", "yaml")[0])
    lines = commands(DOCS / f"{guide}.md", here=True)
    assert lines
    try:
        for line in lines:
            told = verb(*line[1:])
            assert told.return_value in {None, 0}, (line, told.output, told.exception)
    finally:
        verb("schedule", "delete", "nightly")
