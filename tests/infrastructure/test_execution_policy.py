"""What CloudFormation may do to deploy: all that the types in the templates ask for."""

import json
import subprocess
import sys
from pathlib import Path

from tests.infrastructure.template import ROOT, Template, as_list
from tools.execution_policy import POLICY_MOST, list_actions, write_policies


def test_policies_allow_each_action_once_and_fit_into_iam(templates: dict[str, Template]) -> None:
    for template in templates.values():
        actions = list_actions(template.body)
        assert {"lambda:CreateFunction", "states:CreateStateMachine", "iam:CreateRole"} <= actions
        assert not any("*" in action for action in actions)
        policies = write_policies(actions, template.name)
        assert len(policies) <= 10  # a role has no more
        assert all(len(json.dumps(p, separators=(",", ":"))) <= POLICY_MOST for p in policies)
        allowed = [a for policy in policies for s in policy["Statement"] for a in s["Action"]]
        assert sorted(allowed) == sorted(actions)


def test_only_roles_of_the_stack_can_be_made_and_passed(app_template: Template) -> None:
    for policy in write_policies(list_actions(app_template.body), "Plimsoll"):
        for statement in policy["Statement"]:
            if any(action.startswith("iam:") for action in statement["Action"]):
                for resource in as_list(statement["Resource"]):
                    assert "/Plimsoll-" in resource or "/aws-service-role/" in resource


def test_the_tool_writes_files_and_says_how_to_use_them(
    app_template: Template, tmp_path: Path
) -> None:
    given = [str(app_template.path), "--out", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tools.execution_policy", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    *creating, bootstrapping = done.stdout.splitlines()
    files = sorted(tmp_path.glob("Plimsoll-deploy-*.json"))
    assert len(creating) == len(files) > 1
    for file in files:
        assert f"/{file.stem}" in bootstrapping
        assert json.loads(file.read_text())["Version"] == "2012-10-17"
