"""docs/requests.md says what the models say."""

import re
from pathlib import Path
from typing import get_args

from plimsoll.model.request.request import TargetKind
from plimsoll.requests.experiment_file import read_file
from tools.request_reference import PAGE, reference


def test_the_page_is_what_the_models_give() -> None:
    assert PAGE.read_text() == reference(), "run: make docs"


def test_every_field_of_a_request_says_what_it_means() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| `")]
    assert len(rows) > 60
    silent = [row for row in rows if row.endswith("|  |")]
    assert silent == []


def test_it_begins_with_a_valid_request_for_each_kind_of_target(tmp_path: Path) -> None:
    examples = re.findall(r"```yaml\n(name: .*?)```", PAGE.read_text(), re.DOTALL)
    file = tmp_path / "example.yaml"
    kinds = []
    for example in examples:
        file.write_text(example)
        asked = read_file(file)
        assert isinstance(asked, dict)
        kinds += [one.request.target.kind for one in asked.values()]
    assert sorted(kinds) == sorted(get_args(TargetKind))
