"""What `cdk deploy` deploys. That cdk-nag's AwsSolutions pack is content is part of synthesis."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from tests.infrastructure.conftest import CONFIGURATIONS
from tests.infrastructure.template import Template, as_list, read_schemas, walk


def test_storage_is_encrypted_private_and_forgets_in_time(app_template: Template) -> None:
    bucket = app_template.only("AWS::S3::Bucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    rules = bucket["LifecycleConfiguration"]["Rules"]
    assert {rule["Prefix"] for rule in rules} == {"runs/", "experiments/"}
    assert {rule["ExpirationInDays"] for rule in rules} == {365}
    denials = [
        s
        for s in app_template.only("AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"]
        if s["Effect"] == "Deny"
    ]
    assert {"Bool": {"aws:SecureTransport": "false"}} in [s["Condition"] for s in denials]
    tables = [one["Properties"] for one in app_template.of_type("AWS::DynamoDB::Table").values()]
    for table in tables:
        assert table["TimeToLiveSpecification"]["Enabled"] is True
        assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    keys = [[key["AttributeName"] for key in table["KeySchema"]] for table in tables]
    assert sorted(keys) == [["pk", "sk"], ["run_id"]]


LOG_ROLE = ("AWS::IAM::Role", "AWS::ApiGateway::Account")  # other APIs may rely on it by then


@pytest.mark.parametrize(("name", "kept"), [("Plimsoll", False), ("Existing", True)])
def test_destroying_leaves_nothing_unless_results_are_to_be_kept(
    templates: dict[str, Template], name: str, kept: bool
) -> None:
    retained = {
        resource["Type"]
        for resource in templates[name].body["Resources"].values()
        if resource.get("DeletionPolicy", "Delete") != "Delete"
    }
    results, log_role = {"AWS::S3::Bucket", "AWS::DynamoDB::Table"}, set(LOG_ROLE)
    assert retained == (results if kept else log_role)
    # a bucket with files in it cannot be deleted without this
    assert bool(templates[name].of_type("Custom::S3AutoDeleteObjects")) != kept
    # a log group that a function makes by itself would stay
    for logical_id, resource in templates[name].of_type("AWS::Lambda::Function").items():
        assert "LoggingConfig" in resource["Properties"], logical_id


NO_TAGS = {"AWS::IAM::InstanceProfile"}  # as cdk synth's own copy of the schemas says


@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_tags_are_on_all_that_can_have_some(templates: dict[str, Template], name: str) -> None:
    own = {**CONFIGURATIONS[name].get("tags", {}), "plimsoll:deployment": name}
    tagged = 0
    for logical_id, resource in templates[name].body["Resources"].items():
        where = read_schemas().get(resource["Type"], {}).get("tagging", {}).get("tagProperty")
        if where is None or resource["Type"] in NO_TAGS:
            continue
        tags = resource.get("Properties", {}).get(where.removeprefix("/properties/"), [])
        pairs = tags if isinstance(tags, dict) else {one["Key"]: one["Value"] for one in tags}
        assert own.items() <= pairs.items(), logical_id
        tagged += 1
    assert tagged > 100


def test_the_synthesis_warns_of_nothing(templates: dict[str, Template]) -> None:
    assert {name: template.warnings for name, template in templates.items()} == dict.fromkeys(
        templates, ()
    )


def test_nothing_is_deleted_before_the_guard_has_agreed(app_template: Template) -> None:
    # CloudFormation deletes in the reverse order of dependencies
    (guard_id,) = app_template.of_type("Custom::NoTargetAlive")
    resources = app_template.body["Resources"]
    before = set(as_list(resources[guard_id]["DependsOn"]))
    pending = set(before)
    while pending:
        name = pending.pop()
        found = set(as_list(resources[name].get("DependsOn", [])))
        found |= {v["Ref"] for _, v in walk(resources[name]) if _is(v, "Ref")}
        found |= {v["Fn::GetAtt"][0] for _, v in walk(resources[name]) if _is(v, "Fn::GetAtt")}
        new = (found & set(resources)) - before
        before |= new
        pending |= new
    own = {guard_id, *(n for n in resources if n.startswith("Guard"))}
    helpers = {n for n in resources if n.startswith("CustomS3AutoDelete")}
    assert set(resources) - before - own - helpers - {"CDKMetadata"} == set()


def _is(value: Any, key: str) -> bool:
    return isinstance(value, Mapping) and set(value) == {key}


def test_idle_it_holds_one_thing_that_costs_by_the_hour(app_template: Template) -> None:
    costly = {
        "AWS::EC2::NatGateway",
        "AWS::EC2::EIP",
        "AWS::EC2::Instance",
        "AWS::RDS::DBInstance",
        "AWS::KMS::Key",
        "AWS::Timestream::InfluxDBInstance",
        "AWS::Lambda::Version",
    }
    types = [resource["Type"] for resource in app_template.body["Resources"].values()]
    assert not costly & set(types)
    endpoints = [
        r["Properties"]
        for r in app_template.of_type("AWS::EC2::VPCEndpoint").values()
        if r["Properties"]["VpcEndpointType"] == "Interface"
    ]
    assert len(endpoints) == 1
    assert len(endpoints[0]["SubnetIds"]) == 1


def test_metrics_go_where_the_configuration_says(templates: dict[str, Template]) -> None:
    assert "METRICS_SINK" not in json.dumps(templates["Plimsoll"].body)
    influx = templates["Existing"].only("AWS::Timestream::InfluxDBInstance")
    assert influx["PubliclyAccessible"] is False
    assert "resolve:secretsmanager" in json.dumps(influx["Password"])
    client = templates["Existing"].function("load-client")["Environment"]["Variables"]
    assert client["METRICS_SINK"] == "influxdb"
    table = templates["LiveAnalytics"].only("AWS::Timestream::Table")
    assert table["RetentionProperties"]["MagneticStoreRetentionPeriodInDays"] == "365"
    conclude = templates["LiveAnalytics"].function("conclude")["Environment"]["Variables"]
    assert conclude["METRICS_SINK"] == "liveanalytics"
