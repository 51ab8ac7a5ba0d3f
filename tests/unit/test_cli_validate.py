"""`plimsoll validate`: what is refused and what is told, with nothing made."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from plimsoll.cli.main import cli
from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from tests.support.requested import REQUESTED


def validated(folder: Path, *options: str, verb: str = "validate", **changes: Any) -> Result:
    path = folder / "r.yaml"
    path.write_text(yaml.safe_dump(REQUESTED | changes))
    return CliRunner().invoke(cli, [verb, str(path), *options])


def of_class(name: str) -> dict[str, Any]:
    return {**REQUESTED["target"], "instance_class": name}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"budget_usd": 0.01}, "r.yaml: budget_usd: $0.01 is less than the run costs at least"),
        ({"time_limit_s": 100}, "time_limit_s: 100 s are over before a single step can be"),
        ({"target": of_class("db.m5.huge")}, "the family m5 has no size 'huge' (allowed: db.m5.l"),
        (
            {"budget_usd": 5, "target": of_class("db.m8g.large")},
            "r.yaml: budget_usd: cannot be held, for no price is known for rds-mariadb db.m8g.",
        ),
        (
            {"runs": {"low": {}, "high": {"budget_usd": 0.02}}},
            "r.yaml: high: budget_usd: $0.02 is less",
        ),
    ],
)
def test_what_cannot_be_is_refused_by_field(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    refused = validated(tmp_path, **changes)
    assert isinstance(refused.exception, UsageError)
    assert told in str(refused.exception)


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
    as_json = json.loads(validated(tmp_path, "--json", time_limit_s=300).output)
    [warning] = as_json["warnings"]["small"]
    assert warning.startswith("on AWS: Its first step")
    assert "on AWS" not in validated(tmp_path, "--local", time_limit_s=300).output
    assert "on AWS" not in validated(tmp_path).output
