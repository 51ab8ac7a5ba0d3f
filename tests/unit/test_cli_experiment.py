"""An experiment on the command line: checked, and shown again from its folder."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from plimsoll.cli.main import cli
from plimsoll.model.run.experiment_record import ExperimentResult
from plimsoll.sizing.cheapest import summarize_boundary
from tests.unit.report.experiment.test_experiment_summary import WHOLE, result_of
from tests.unit.sizing.test_survey import sought, survey

ROOT = Path(__file__).parents[2]


def test_a_finished_experiment_is_shown_with_its_decision(tmp_path: Path) -> None:
    result = result_of(WHOLE)
    (tmp_path / "experiment.json").write_text(result.model_dump_json())
    shown = CliRunner().invoke(cli, ["show", str(tmp_path)])
    assert shown.exit_code == 0
    for told in (
        result.answer,
        "high-both: FAILED in its step phase: the target does not answer",
        "high or mid: they differ by too little to matter",
    ):
        assert told in shown.output
    as_json = CliRunner().invoke(cli, ["show", str(tmp_path), "--json"])
    assert ExperimentResult.model_validate(json.loads(as_json.output)) == result


@pytest.mark.parametrize(
    ("want", "exit_code"), [(20_000, 0), (200_000, 1), (None, 3)], ids=["decided", "none", "open"]
)
def test_a_search_for_the_boundary_marks_what_was_predicted_and_says_how_it_ended(
    tmp_path: Path, want: float | None, exit_code: int
) -> None:
    boundary = summarize_boundary(survey({}), "p99") if want is None else sought(want)[1]
    result = result_of(WHOLE).model_copy(
        update={"boundary": boundary, "decisions": (), "gains": (), "answer": boundary.sentence}
    )
    (tmp_path / "experiment.json").write_text(result.model_dump_json())
    shown = CliRunner().invoke(cli, ["show", str(tmp_path)], standalone_mode=False)
    assert shown.return_value == exit_code
    assert boundary.sentence in shown.output
    assert "~ is predicted, not measured" in shown.output
    as_json = json.loads(CliRunner().invoke(cli, ["show", str(tmp_path), "--json"]).output)
    told = {cell["name"]: cell for cell in as_json["boundary"]["cells"]}
    for cell in boundary.cells:
        assert (told[cell.name]["measured_ops_per_second"] is None) == (cell.status != "measured")


def test_every_run_of_an_experiment_is_checked() -> None:
    checked = CliRunner().invoke(cli, ["validate", str(ROOT / "scenarios/r1.yaml")])
    assert checked.exit_code == 0
    assert "iops-1000: MySQL 8.4 on db.m6i.large, io1 100 GiB, 1,000 IOPS; ycsb-a" in (
        checked.output
    )
    assert checked.output.endswith("r1.yaml is valid: 2 runs\n")
