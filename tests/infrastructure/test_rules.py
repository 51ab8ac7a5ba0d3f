"""Other people's rules: CloudFormation's schemas (cfn-lint) and Amazon's States Language.

cdk-nag's AwsSolutions pack and the CDK's own checks are part of every synthesis (conftest).
"""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from plimsoll.statemachines import FOLDER, STATE_MACHINES
from tests.infrastructure.conftest import CONFIGURATIONS
from tests.infrastructure.template import ROOT, TEMPLATES, Template

# W3005: the CDK writes dependencies that a reference implies already
# E3601: cfn-lint 1 takes a Map's MaxConcurrency for a number even where JSONata gives it;
#   asl-validator, which knows JSONata, checks the definitions below
# W3010: zones that the configuration names
# W3697: LiveAnalytics is in maintenance, and only there for those who have it
IGNORED = ["W3005", "E3601", "W3010", "W3697"]
# cfn-lint takes 5 s for each configuration: `make test` lints those that have every property of the
# others, which a test below checks.
LINTED_ALWAYS = {"Existing", "LiveAnalytics"}
VALIDATOR = ROOT / "node_modules" / ".bin" / "asl-validator"


def lint(path: Path) -> str:
    import cfnlint.api  # type: ignore[import-untyped]  # it has no types
    from cfnlint.config import ManualArgs  # type: ignore[import-untyped]

    found = cfnlint.api.lint(path.read_text(), config=ManualArgs(ignore_checks=IGNORED))
    return "\n".join(str(match) for match in found)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in LINTED_ALWAYS else pytest.mark.whole)
        for name in CONFIGURATIONS
    ],
)
def test_cfn_lint_has_nothing_to_say_of_the_app(templates: dict[str, Template], name: str) -> None:
    assert lint(templates[name].path) == ""


def properties(template: Template) -> set[tuple[str, ...]]:
    """Each property that a template sets, with its resource's type, down to the third level."""
    return {
        (resource["Type"], *path[:3])
        for resource in template.body["Resources"].values()
        for path in ((), *paths(resource.get("Properties", {})))
    }


def paths(value: Any) -> Iterator[tuple[str, ...]]:
    match value:
        case dict():
            for key, held in value.items():
                yield from ((key,), *((key, *path) for path in paths(held)))
        case list():
            for held in value:
                yield from (("*", *path) for path in paths(held))


def test_what_is_linted_always_has_every_property_of_the_others(
    templates: dict[str, Template],
) -> None:
    linted = set().union(*(properties(templates[name]) for name in LINTED_ALWAYS))
    everything = set().union(*map(properties, templates.values()))
    assert len(everything) > 400
    assert sorted(everything - linted) == []


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
