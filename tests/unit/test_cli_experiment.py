"""An experiment on the command line: checked, and shown again from its folder."""

import json
from pathlib import Path

from click.testing import CliRunner

from plimsoll.cli.main import cli
from plimsoll.model.experiment_record import ExperimentResult
from tests.unit.report.test_experiment_summary import WHOLE, result_of

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


def test_every_run_of_an_experiment_is_checked() -> None:
    checked = CliRunner().invoke(cli, ["validate", str(ROOT / "scenarios/r1.yaml")])
    assert checked.exit_code == 0
    assert "iops-1000: MySQL 8.4 on db.m6i.large, io1 100 GiB, 1,000 IOPS; ycsb-a" in (
        checked.output
    )
    assert checked.output.endswith("r1.yaml is valid: 2 runs\n")
