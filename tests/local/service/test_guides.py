"""The commands of guides that call the service, on the service of this machine."""

from pathlib import Path

import pytest

from tests.local.service.conftest import Verb
from tests.support.guides import AT_SERVICE, CODES, DOCS, ELSEWHERE, Scene, blocks, commands, files


@pytest.mark.parametrize("guide", sorted(AT_SERVICE))
def test_each_command_of_a_guide_is_carried_out(
    guide: str, verb: Verb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = DOCS / f"{guide}.md"
    saved = {"check.yaml": blocks(page, "yaml")[0]} if guide == "checks" else files(page)
    for name, text in saved.items():
        Path(name).write_text(text)
    lines = [line for line in commands(page, here=True) if line[1] not in ELSEWHERE]
    assert lines
    try:
        for line in lines:
            told = verb(*Scene().play(line))
            allowed = {None, *CODES.get(line[1], {0})}
            assert told.return_value in allowed, (line, told.output, told.exception)
    finally:
        verb("schedule", "delete", "nightly")
