"""Each function as the table of functions says, in its zone, with what it carries."""

import ast
import json
from typing import Any

from plimsoll.model.deployment.functions import FUNCTIONS, OF_DEPLOYMENT
from stacks.imports import ROOT, find_module_files, handler_path
from stacks.packaging import AWS_LAMBDA, find_need
from tests.infrastructure.template import Template
from tests.second_opinion.lives import LIVES


def test_the_load_client_is_what_the_design_says(app_template: Template) -> None:
    client = app_template.function("load-client")
    assert client["Architectures"] == ["arm64"]
    assert (client["MemorySize"], client["Timeout"]) == (1769, 900)
    assert "ReservedConcurrentExecutions" not in client
    for resource in app_template.of_type("AWS::Lambda::EventInvokeConfig").values():
        assert resource["Properties"]["MaximumRetryAttempts"] in {0, 2}


def test_the_fleet_can_be_bounded(templates: dict[str, Template]) -> None:
    assert templates["Existing"].function("load-client")["ReservedConcurrentExecutions"] == 200


def test_every_row_of_the_table_is_a_function_as_the_row_says(app_template: Template) -> None:
    invoked = {
        json.dumps(r["Properties"]["FunctionName"]): r["Properties"]["MaximumRetryAttempts"]
        for r in app_template.of_type("AWS::Lambda::EventInvokeConfig").values()
    }
    ids = {
        r["Properties"]["FunctionName"]: logical_id
        for logical_id, r in app_template.of_type("AWS::Lambda::Function").items()
        if "FunctionName" in r["Properties"]
    }
    for row in FUNCTIONS.values():
        made = app_template.function(row.name)
        assert (made["MemorySize"], made["Timeout"]) == (row.memory_mib, row.timeout_s)
        assert made["Handler"] == f"functions/{row.folder}/handler.handler"
        assert ("VpcConfig" in made) == row.in_vpc
        given = made.get("Environment", {}).get("Variables", {})
        assert set(given) == set(row.environment_on_aws)
        assert invoked[json.dumps({"Ref": ids[f"plimsoll-{row.name}"]})] == row.retries


def test_each_function_has_a_role_of_its_own(app_template: Template) -> None:
    roles = [
        json.dumps(r["Properties"]["Role"])
        for r in app_template.of_type("AWS::Lambda::Function").values()
    ]
    assert len(set(roles)) == len(roles)


def test_each_zone_in_which_targets_may_stand_has_load_clients(app_template: Template) -> None:
    """What the workflow appends to the function's ARN leads to the clients of the target's zone."""
    resources = app_template.body["Resources"]
    placed = {
        made["Properties"]["FunctionName"]: made["Properties"]["VpcConfig"]["SubnetIds"]
        for made in app_template.of_type("AWS::Lambda::Function").values()
        if "VpcConfig" in made["Properties"]
    }
    zones = _zones(app_template.function("create-target")["Environment"]["Variables"]["ZONES"])
    assert [zone["clients"] for zone in zones] == ["", "-2"]
    for zone in zones:
        (subnet,) = placed.pop(f"plimsoll-load-client{zone['clients']}")
        assert subnet == {"Ref": zone["subnet_id"]}
        of_subnet = resources[subnet["Ref"]]["Properties"]["AvailabilityZone"]
        assert json.dumps(of_subnet["Fn::Select"]) == zone["name"]
    first = [{"Ref": zones[0]["subnet_id"]}]
    assert all(subnets == first for subnets in placed.values()), "all others are in the first zone"


def _zones(setting: dict[str, Any]) -> list[dict[str, str]]:
    """Read the setting as deployed: of a subnet its logical id, of a zone its selection."""
    parts = setting["Fn::Join"][1]
    words = [
        part
        if isinstance(part, str)
        else part.get("Ref") or json.dumps(part["Fn::Select"]).replace('"', '\\"')
        for part in parts
    ]
    zones: list[dict[str, str]] = json.loads("".join(words))
    return zones


def test_packages_carry_what_the_logins_of_mysql_8_4_need() -> None:
    """PyMySQL encrypts their password with a library that no import names."""
    for row in FUNCTIONS.values():
        carried = find_need(row, AWS_LAMBDA).needs
        assert ("pymysql" in carried) == ("cryptography" in carried), row.name


def test_every_function_is_called_where_permissions_are_simulated() -> None:
    called = [name for names in LIVES.values() for name in names]
    assert sorted(called) == sorted(FUNCTIONS), "tests/second_opinion/lives.py calls each once"


# Modules that print lines of JSON in a form of their own; the watchdog is on one machine alone
WRITES_LINES = {
    "plimsoll/aws/function_log.py",
    "plimsoll/fleet/watchdog.py",
    "plimsoll/metrics/cloudwatch.py",
    "plimsoll/workflow/deployment_figures.py",
    "plimsoll/workflow/end.py",
}


def test_functions_log_lines_of_json_alone() -> None:
    rows = (*FUNCTIONS.values(), *OF_DEPLOYMENT)
    packaged = {file for row in rows for file in find_module_files(handler_path(row))}
    printing = {
        str(file.relative_to(ROOT))
        for file in packaged
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    }
    assert printing == WRITES_LINES
