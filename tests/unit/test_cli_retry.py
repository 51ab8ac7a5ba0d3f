"""The last line of a measurement that a busy machine spoiled: the command that tries again."""

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from plimsoll.cli.expecting import Results
from plimsoll.cli.retry import format_retry, tell_retry
from plimsoll.model.judging.capacity import Capacity
from tests.support.synthetic_run import synthetic_run


@pytest.mark.parametrize(
    ("given", "command"),
    [
        (["run", "a b.yaml", "--local"], "plimsoll run 'a b.yaml' --local"),
        (
            ["find", "mysql://me:s3cret@db:3306/shop", "--workload", "ycsb-a", "--out", "here"],
            "plimsoll find mysql://me@db:3306/shop --workload ycsb-a --out here-3",
        ),
        (
            ["find", "mysql://me@db/shop", "--out=at/"],
            "plimsoll find mysql://me@db/shop --out=at-2",
        ),
    ],
)
def test_a_command_is_repeated_without_password_and_into_a_free_folder(
    given: list[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for used in ("here", "here-2"):
        (tmp_path / used).mkdir()
    assert format_retry(given) == command


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({}, ""),
        ({"verdict": "DISTURBED"}, "Try again on a calm machine: plimsoll run x.yaml\n"),
        (
            {"verdict": "LOWER_BOUND", "cause": "audit:undisturbed"},
            "Try again on a calm machine: plimsoll run x.yaml\n",
        ),
    ],
)
def test_only_what_other_programs_disturbed_is_to_be_tried_again(
    changes: dict[str, object], told: str
) -> None:
    result, _ = synthetic_run()
    assert isinstance(result.capacity, Capacity)
    capacity = result.capacity.model_copy(update=changes)
    results: Results = {"x": (None, result.model_copy(update={"capacity": capacity}))}

    @click.command()
    def command() -> None:
        tell_retry(results, as_json=False)

    assert CliRunner().invoke(command, [], obj=["run", "x.yaml"]).output == told
