"""One synthesis for all tests: it costs seconds.

The CDK starts Node.js where it is imported, so it is imported by fixtures and tests: of all the
workers that collect, only the one that synthesizes needs it.
"""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from plimsoll.model.deployment.deployment import read_deployment
from tests.infrastructure.template import ROOT, Template

if TYPE_CHECKING:
    from aws_cdk import App

KEY = "arn:aws:kms:eu-west-1:123456789012:key/11111111-2222-3333-4444-555555555555"
BOUNDARY = "arn:aws:iam::123456789012:policy/boundary"
CONFIGURATIONS: Mapping[str, Mapping[str, Any]] = {
    "Plimsoll": {},
    "Existing": {
        "network": {
            "existing": {
                "vpc_id": "vpc-0a1b2c3d",
                "subnet_ids": ["subnet-0a1b2c3d", "subnet-1a2b3c4d"],
                "availability_zones": ["eu-west-1a", "eu-west-1b"],
                "s3_prefix_list_id": "pl-0a1b2c3d",
            }
        },
        "allowed_endpoints": [
            {
                "host": "db.example.internal",
                "port": 3307,
                "cidr": "10.20.0.0/16",
                "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf",
            }
        ],
        "metrics": {"kind": "influxdb"},
        "alarm_addresses": ["dba@example.org"],
        "spend_alarms": True,
        "reserved_load_clients": 200,
        "tags": {"cost-center": "42"},
        "kms_key_arn": KEY,
        "permissions_boundary_arn": BOUNDARY,
        "keep_results": True,
        "api": {"organization_id": "o-exampleorgid", "makes_log_role": False},
        "cassandra": {"archive": "cdk.json"},  # any file will do where nothing is deployed
    },
    "LiveAnalytics": {
        "metrics": {"kind": "liveanalytics"},
        "api": {"accounts": ["210987654321"]},
        "kms_key_arn": "new",
        "cassandra": {"archive": "cdk.json"},
    },
    "Second": {
        "name": "plimsoll-second",
        "network": {"availability_zones": ["eu-west-1b", "eu-west-1c"]},
        "metrics": {"kind": "cloudwatch"},
        "grafana": "https://grafana.example.org/d/plimsoll-run-cloudwatch",
        "teams": {"payments": {}, "search": {}},
    },
}


def _synthesize(app: "App", folder: Path) -> dict[str, Template]:
    from aws_cdk import Validations
    from aws_cdk.cx_api import SynthesisMessageLevel
    from cdk_nag import AwsSolutionsChecks

    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    try:
        stacks = app.synth().stacks
    except RuntimeError:
        pytest.fail(_open_violations(folder / "validation-report.json"), pytrace=False)
    return {
        stack.stack_name: Template(
            stack.stack_name,
            Path(stack.template_full_path),
            stack.template,
            tuple(
                str(message.entry.data)
                for message in stack.messages
                if message.level == SynthesisMessageLevel.WARNING
            ),
        )
        for stack in stacks
    }


def _open_violations(report: Path) -> str:
    return "\n".join(
        f"{violation['ruleName']} {place['constructPath']}: {violation['description']}"
        for plugin in json.loads(report.read_text())["pluginReports"]
        for violation in plugin["violations"]
        if "acknowledgedId" not in violation
        for place in violation["violatingConstructs"]
    )


@pytest.fixture(scope="session")
def templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Template]:
    """The app, once in each configuration, checked by cdk-nag and the CDK's own rules."""
    from aws_cdk import App

    from stacks.plimsoll import PlimsollStack

    if shutil.which("node") is None:
        pytest.fail("the CDK needs Node.js (on Debian or Ubuntu: apt-get install nodejs npm)")
    folder = tmp_path_factory.mktemp("app")
    context = json.loads((ROOT / "cdk.json").read_text())["context"]
    app = App(
        outdir=str(folder),
        analytics_reporting=False,
        context={**context, "aws:cdk:bundling-stacks": []},
    )
    for name, configuration in CONFIGURATIONS.items():
        PlimsollStack(app, name, read_deployment(configuration))
    return _synthesize(app, folder)


@pytest.fixture(scope="session")
def app_template(templates: dict[str, Template]) -> Template:
    """What `cdk deploy` deploys without any configuration."""
    return templates["Plimsoll"]


@pytest.fixture(scope="session")
def target_templates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Template]:
    """The targets, checked by cdk-nag and the CDK's own rules."""
    from stacks.targets.synthesis import define_stacks

    folder = tmp_path_factory.mktemp("targets")
    return _synthesize(define_stacks(folder), folder)
