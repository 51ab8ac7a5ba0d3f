"""The published schemas are those of the models, and take what this project's own files hold."""

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # its types are a package of their own
import pytest
import yaml

from tests.support.synthetic_run import synthetic_run
from tools.json_schemas import FOLDER, schemas

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "scenarios").glob("*.yaml"))
WORKLOADS = sorted((ROOT / "workloads").glob("*.yaml"))


def complaints(schema: str, document: object) -> list[str]:
    """What a schema says against a document."""
    validator = jsonschema.Draft202012Validator(json.loads((FOLDER / f"{schema}.json").read_text()))
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(document)]


def of_file(path: Path) -> dict[str, Any]:
    """A YAML file's values."""
    values: dict[str, Any] = yaml.safe_load(path.read_text())
    return values


def test_the_schemas_are_those_of_the_models() -> None:
    assert {path.name: path.read_text() for path in FOLDER.glob("*.json")} == schemas()


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_every_scenario_is_taken(path: Path) -> None:
    document = of_file(path)
    assert complaints("experiment" if "axes" in document else "request", document) == []


@pytest.mark.parametrize("path", WORKLOADS, ids=lambda path: path.stem)
def test_every_workload_is_taken(path: Path) -> None:
    assert complaints("workload", of_file(path)) == []


def test_a_result_is_taken() -> None:
    result, _ = synthetic_run()
    assert complaints("result", result.model_dump(mode="json")) == []


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"serach": {}}, "'serach' was unexpected"),
        ({"target": None}, "$.target"),
        ({"load": {"duration_s": 6000}}, "6000 is greater than the maximum of 600"),
    ],
)
def test_what_cannot_be_is_found(change: dict[str, Any], complaint: str) -> None:
    request = {**of_file(ROOT / "scenarios/canary.yaml"), **change}
    assert any(complaint in said for said in complaints("request", request))


def test_a_file_of_one_run_needs_what_one_of_several_may_leave_to_them() -> None:
    request = of_file(ROOT / "scenarios/canary.yaml")
    del request["target"]
    assert any("'target' is a required property" in said for said in complaints("request", request))
    assert complaints("request", {**request, "runs": {"a": {"target": {}}}}) == []
