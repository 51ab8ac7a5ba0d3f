"""`plimsoll validate`: what is refused and what is told, with nothing made."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from plimsoll.cli.main import cli, main
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from tests.support.requested import REQUESTED

ROOT = Path(__file__).parents[2]


def validated(folder: Path, *options: str, verb: str = "validate", **changes: Any) -> Result:
    path = folder / "r.yaml"
    path.write_text(yaml.safe_dump(REQUESTED | changes))
    return CliRunner().invoke(cli, [verb, str(path), *options])


def of_class(name: str) -> dict[str, Any]:
    return {**REQUESTED["target"], "instance_class": name}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"budget_usd": 0.01}, "r.yaml: budget_usd: $0.01 does not pay for a run of a single step"),
        ({"time_limit_s": 100}, "time_limit_s: 100 s are too short for a single step"),
        ({"target": of_class("db.m5.huge")}, "the family m5 has no size 'huge' (allowed: db.m5.l"),
        (
            {"budget_usd": 5, "target": of_class("db.m8g.large")},
            "r.yaml: budget_usd: cannot be enforced: no price is known for rds-mariadb db.m8g.",
        ),
        (
            {"runs": {"low": {}, "high": {"budget_usd": 0.02}}},
            "r.yaml: high: budget_usd: $0.02 does not pay",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_field(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    refused = validated(tmp_path, **changes)
    assert isinstance(refused.exception, UsageError)
    assert told in str(refused.exception)


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("11.4.5", "RDS's support of MariaDB 11.4.5 ended on 2026-05-31 (allowed: 11.4, 11.4.10)"),
        ("11.4.99", "MariaDB 11.4.99 is none of the versions that RDS was known to offer on"),
    ],
)
@pytest.mark.parametrize("verb", ["validate", "quote"])
def test_a_version_that_rds_does_not_offer_is_refused_for_aws_and_not_for_this_machine(
    tmp_path: Path, verb: str, version: str, told: str
) -> None:
    asked: dict[str, Any] = {"target": {**REQUESTED["target"], "engine_version": version}}
    refused = validated(tmp_path, verb=verb, **asked)
    assert isinstance(refused.exception, UsageError)
    assert f"target.engine_version: {told}" in str(refused.exception)
    assert validated(tmp_path, "--local", **asked).exit_code == 0


def test_a_major_version_that_there_never_was_is_refused_everywhere(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"target": {**REQUESTED["target"], "engine_version": "99.1"}}
    refused = validated(tmp_path, "--local", **asked)
    assert "one machine cannot stand in for MariaDB 99.1" in str(refused.exception)
    assert "99.1 is none of the versions" in str(validated(tmp_path, **asked).exception)


@pytest.mark.parametrize("verb", ["validate", "quote"])
def test_extended_support_has_to_be_asked_for(tmp_path: Path, verb: str) -> None:
    target = {**REQUESTED["target"], "engine": "mysql", "engine_version": "8.0"}
    refused = validated(tmp_path, verb=verb, target=target)
    assert "target.engine_version: RDS's standard support of MySQL 8.0 ended on 2026-07-31" in str(
        refused.exception
    )
    assert "ask for it by target.extended_support" in str(refused.exception)
    assert validated(tmp_path, "--local", target=target).exit_code == 0
    found = validated(tmp_path, verb=verb, target={**target, "extended_support": True})
    assert found.exit_code == 0
    assert "MySQL 8.0 has been in RDS Extended Support since 2026-08-01" in found.output


def test_what_is_wrong_is_told_as_data_whatever_its_sentences_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def errors() -> list[dict[str, Any]]:
        volume = {"type": "io1", "size_gib": 100, "iops": 9}
        target = {**REQUESTED["target"], "volume": volume, "engine_versio": "1"}
        refused = validated(tmp_path, "--json", target=target, time_limit_s="soon")
        assert isinstance(refused.exception, UsageError)
        told = json.loads(refused.output)
        assert told["valid"] is False
        return [
            {name: error[name] for name in ("place", "field", "value", "allowed")}
            for error in told["errors"]
        ]

    before = errors()
    monkeypatch.setattr(Complaint, "sentence", "something: else (allowed: nothing)")
    assert errors() == before
    by_field = {error["field"]: error for error in before}
    assert set(by_field) == {"target.engine_versio", "time_limit_s"}
    assert by_field["time_limit_s"]["value"] == "soon"
    assert "engine_version" in by_field["target.engine_versio"]["allowed"]


def test_a_class_that_only_aws_may_have_is_told_and_refused_for_this_machine(
    tmp_path: Path,
) -> None:
    newer: dict[str, Any] = {"target": of_class("db.m99.large")}
    found = validated(tmp_path, **newer)
    assert found.exit_code == 0
    assert "on AWS: No price is known for rds-mariadb db.m99.large." in found.output
    for verb, options in (("validate", ["--local"]), ("run", ["--local"])):
        refused = validated(tmp_path, *options, verb=verb, **newer)
        assert isinstance(refused.exception, UsageError)
        assert "target.instance_class: one machine cannot stand in for db.m99.large" in str(
            refused.exception
        )
    assert [one.name for one in tmp_path.iterdir()] == ["r.yaml"]


def test_a_time_limit_within_which_aws_will_hardly_measure_is_told(tmp_path: Path) -> None:
    short = validated(tmp_path, time_limit_s=300)
    assert short.exit_code == 0
    assert "on AWS: Its first step is expected to end after 15 min 10 s, later than" in short.output
    assert "on AWS: Its first step" in validated(tmp_path, "--json", time_limit_s=300).stderr
    assert "on AWS" not in validated(tmp_path, "--local", time_limit_s=300).output
    assert "on AWS" not in validated(tmp_path).output


def test_it_says_how_many_steps_a_search_takes_and_for_how_long(
    tmp_path: Path,
) -> None:
    ramp = {"strategy": "ramp", "connections_max": 64}
    told = validated(tmp_path, "--local", search=ramp)
    assert told.exit_code == 0, told.output
    assert "steps without noise, 30 at most" in told.output
    as_json = validated(tmp_path, "--local", "--json", search=ramp)
    assert as_json.stderr == told.stdout


def test_it_says_how_much_each_phase_is(tmp_path: Path) -> None:
    phases = [
        {"name": "job", "to_completion": {"records": 4000, "connections": [1, 4], "longest_s": 20}},
        {"name": "ask", "workload": {"name": "ycsb-c"}, "search": {"strategy": "steps"}},
    ]
    told = validated(tmp_path, "--local", phases=phases)
    assert told.exit_code == 0, told.output
    assert "  phase job: 6 passes of 4,000 records, each 20 s at most\n" in told.output
    assert "  phase ask: about " in told.output


def test_as_json_it_is_what_the_service_takes_with_every_default_but_the_team(
    tmp_path: Path,
) -> None:
    body = json.loads(validated(tmp_path, "--json").stdout)
    assert Request.model_validate(body) == Request.model_validate(REQUESTED)
    assert "team" not in body
    assert body["load"]["recovery_max_s"] == 300
    assert json.loads(validated(tmp_path, "--json", team="payments").stdout)["team"] == "payments"


def test_several_runs_are_several_bodies_and_an_experiment_is_one(tmp_path: Path) -> None:
    changes: dict[str, Any] = {"low": {}, "high": {"time_limit_s": 7000}}
    runs = json.loads(validated(tmp_path, "--json", runs=changes).stdout)["runs"]
    assert {name: run["time_limit_s"] for name, run in runs.items()} == {
        "low": 7200,
        "high": 7000,
    }
    asked = CliRunner().invoke(cli, ["validate", str(ROOT / "scenarios/r1.yaml"), "--json"])
    assert Experiment.model_validate_json(asked.stdout).name == "r1"


def test_a_file_of_a_workload_is_named_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was one error for each field that requests have and workloads have not."""
    file = tmp_path / "orders.yaml"
    file.write_text("about: reads\ntables: {}\noperations: {}\n")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(file)])
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith(f"plimsoll: {file}: is the file of a workload, and no request: ")


def test_a_search_without_a_workload_says_where_workloads_come_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["find", "mysql://u@127.0.0.1/d"])
    assert ended.value.code == 2
    assert "Missing option '--workload'. `plimsoll workload list`" in capsys.readouterr().err
