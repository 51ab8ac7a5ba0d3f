"""The deployment's page in CloudWatch: it asks for what functions tell, and for nothing else."""

import json
from typing import Any

import pytest

from plimsoll.metrics.panels import PANELS
from plimsoll.model.deployment.functions import FUNCTIONS
from tests.infrastructure.template import Template, walk


def text(value: Any, names: dict[str, str]) -> str:
    """A value of a template as text, with names in place of references."""
    if isinstance(value, str):
        return value
    if "Ref" in value:
        return names.get(value["Ref"], f"<{value['Ref']}>")
    if "Fn::GetAtt" in value:
        return f"<{value['Fn::GetAtt'][0]}>"
    joined: list[Any] = value["Fn::Join"][1]
    return "".join(text(part, names) for part in joined)


def widgets(template: Template) -> list[dict[str, Any]]:
    page = template.only("AWS::CloudWatch::Dashboard")["DashboardBody"]
    body = json.loads(text(page, {"AWS::Region": "eu-west-1"}))
    found: list[dict[str, Any]] = body["widgets"]
    return found


def titled(template: Template, words: str) -> dict[str, Any]:
    (found,) = [
        w["properties"] for w in widgets(template) if words in w["properties"].get("title", "")
    ]
    properties: dict[str, Any] = found
    return properties


def metrics(widget: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = widget["metrics"]
    return found


def test_what_the_janitor_counts_is_shown(app_template: Template) -> None:
    shown = metrics(titled(app_template, "Targets alive"))
    ((namespace, metric, dimension, value, options),) = shown
    assert (namespace, metric) == ("Plimsoll", "targets_alive")
    assert (dimension, value) == ("deployment", "Plimsoll")
    assert options["stat"] == "Maximum"
    assert options["period"] == 900  # the janitor comes as often
    janitor = app_template.function("janitor")["Environment"]["Variables"]
    assert janitor["METRICS_NAMESPACE"] == namespace


@pytest.mark.parametrize(
    ("words", "name"), [("Runs under way", "runs_under_way"), ("Spend this month", "spend_usd")]
)
def test_every_team_that_is_counted_has_its_own_line(
    templates: dict[str, Template], words: str, name: str
) -> None:
    ((line,),) = metrics(titled(templates["Second"], words))
    wanted = f'{{"Second",team}} MetricName="{name}"'
    assert line["expression"] == f"SEARCH('{wanted}', 'Maximum', 900)"
    assert line["label"] == "${PROP('Dim.team')}"


def test_all_of_a_run_is_found_in_the_logs_of_all_that_works_for_it(
    app_template: Template,
) -> None:
    query = titled(app_template, "All of a run")["query"]
    groups = app_template.of_type("AWS::Logs::LogGroup")
    asked = {name for name in groups if f"'<{name}>'" in query}
    names = {groups[name]["Properties"]["LogGroupName"] for name in asked}
    assert {f"/plimsoll/{name}" for name in FUNCTIONS} <= names
    assert "/plimsoll/load-client-2" in names
    assert "/aws/vendedlogs/states/plimsoll-run" in names
    page = app_template.only("AWS::CloudWatch::Dashboard")["DashboardBody"]
    body = json.loads(text(page, {"AWS::Region": "eu-west-1"}))
    (variable,) = body["variables"]
    assert (variable["type"], variable["inputType"]) == ("pattern", "input")
    assert f"correlation_id like '{variable['pattern']}'" in query


def test_the_runs_that_ended_are_listed_from_the_log_of_their_end(app_template: Template) -> None:
    query = titled(app_template, "Runs that ended")["query"]
    (log,) = [
        name
        for name, group in app_template.of_type("AWS::Logs::LogGroup").items()
        if group["Properties"]["LogGroupName"] == "/plimsoll/end-run"
    ]
    assert query.startswith(f"SOURCE '<{log}>' | filter ispresent(run_ended)")
    assert ", usd" in query


def expressions(template: Template) -> list[str]:
    return [
        line["expression"]
        for widget in widgets(template)
        for metric in widget["properties"].get("metrics", [])
        for line in metric
        if isinstance(line, dict) and ",team}" not in line.get("expression", ",team}")
    ]


def test_targets_are_found_by_what_every_panel_asks_of_rds(app_template: Template) -> None:
    wanted = {m.name for panel in PANELS for m in panel.cloudwatch if m.namespace == "AWS/RDS"}
    found = expressions(app_template)
    assert len(found) == len(wanted)
    for name in wanted:
        asked = f'{{AWS/RDS,DBInstanceIdentifier}} MetricName="{name}"'
        assert sum(asked in expression for expression in found) == 1


def test_runs_are_shown_where_cloudwatch_is_told_of_them(templates: dict[str, Template]) -> None:
    told = [one for one in expressions(templates["Second"]) if "AWS/RDS" not in one]
    panels = [m for panel in PANELS for m in panel.cloudwatch if m.namespace != "AWS/RDS"]
    assert len(told) == len(panels) > 3
    assert any('{"Second",run,operation} MetricName="p99_us"' in one for one in told)
    of_functions = templates["Second"].of_type("AWS::Lambda::Function").values()
    writers = {
        made["Properties"]["FunctionName"]: made["Properties"]["Environment"]["Variables"]
        for made in of_functions
        if "METRICS_SINK" in made["Properties"].get("Environment", {}).get("Variables", {})
    }
    assert set(writers) == {"plimsoll-second-judge-step", "plimsoll-second-publish-target"}
    for variables in writers.values():
        assert (variables["METRICS_SINK"], variables["METRICS_NAMESPACE"]) == (
            "cloudwatch", "Second",
        )  # fmt: skip


def test_printed_metrics_need_no_permission(templates: dict[str, Template]) -> None:
    actions = [value for _, value in walk(templates["Second"].body) if isinstance(value, str)]
    assert not any(value.startswith("cloudwatch:Put") for value in actions)


@pytest.mark.parametrize("function", ["api", "end-run"])
def test_functions_know_the_pages_of_a_run(templates: dict[str, Template], function: str) -> None:
    given = templates["Plimsoll"].function(function)["Environment"]["Variables"]["DASHBOARDS"]
    pages = json.loads(text(given, {"AWS::Region": "eu-west-1"}))
    assert pages == {
        "cloudwatch": "https://eu-west-1.console.aws.amazon.com/cloudwatch/home?region=eu-west-1"
        "#dashboards/dashboard/Plimsoll"
    }
    (second,) = [
        made["Properties"]["Environment"]["Variables"]["DASHBOARDS"]
        for made in templates["Second"].of_type("AWS::Lambda::Function").values()
        if made["Properties"].get("FunctionName") == f"plimsoll-second-{function}"
    ]
    asked = json.loads(text(second, {}))
    assert asked["grafana"] == "https://grafana.example.org/d/plimsoll-run-cloudwatch"
    assert asked["cloudwatch"].endswith("/dashboard/Second")
