"""Other people's rules: CloudFormation's schemas (cfn-lint) and Amazon's States Language.

cdk-nag's AwsSolutions pack and the CDK's own checks are part of every synthesis (conftest).
"""

import json
import subprocess
from pathlib import Path

import cfnlint.api  # type: ignore[import-untyped]  # it has no types
import pytest
from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

from plimsoll.statemachines import FOLDER, STATE_MACHINES
from stacks.targets.synthesis import TEMPLATES
from tests.infrastructure.conftest import CONFIGURATIONS, ROOT
from tests.infrastructure.template import Template

# W3005: the CDK writes dependencies that a reference implies already
# E3601: cfn-lint 1 takes a Map's MaxConcurrency for a number even where JSONata gives it;
#   asl-validator, which knows JSONata, checks the definitions below
# W3697: LiveAnalytics is in maintenance, and only there for those who have it
IGNORED = ["W3005", "E3601", "W3697"]
VALIDATOR = ROOT / "node_modules" / ".bin" / "asl-validator"


def lint(path: Path) -> str:
    found = cfnlint.api.lint(path.read_text(), config=ManualArgs(ignore_checks=IGNORED))
    return "\n".join(str(match) for match in found)


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_cfn_lint_has_nothing_to_say_of_the_app(templates: dict[str, Template], name: str) -> None:
    assert lint(templates[name].path) == ""


@pytest.mark.parametrize("path", sorted(TEMPLATES.iterdir()), ids=lambda path: str(path.name))
def test_cfn_lint_has_nothing_to_say_of_a_target(path: Path) -> None:
    assert lint(path) == ""


def test_cfn_lint_would_find_a_reference_to_nothing(tmp_path: Path) -> None:
    body = json.loads((TEMPLATES / "rds.template.json").read_text())
    body["Resources"]["Instance"]["Properties"]["DBName"] = {"Ref": "NoSuchParameter"}
    broken = tmp_path / "broken.template.json"
    broken.write_text(json.dumps(body))
    assert "NoSuchParameter" in lint(broken)


def validate(path: Path) -> "subprocess.CompletedProcess[str]":
    if not VALIDATOR.exists():
        pytest.fail("asl-validator is not installed: make check-infra does it (it needs Node.js)")
    return subprocess.run(
        [VALIDATOR, "--json-path", str(path)], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", STATE_MACHINES)
def test_a_state_machine_is_valid(name: str) -> None:
    done = validate(FOLDER / f"{name}.asl.json")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_validator_would_find_a_state_that_is_not_there(tmp_path: Path) -> None:
    definition = json.loads((FOLDER / "teardown.asl.json").read_text())
    definition["StartAt"] = "NoSuchState"
    broken = tmp_path / "broken.asl.json"
    broken.write_text(json.dumps(definition))
    assert validate(broken).returncode != 0
