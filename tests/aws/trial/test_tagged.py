"""What is left under a tag is found, and each thing comes with the command that deletes it."""

import json

import boto3
import pytest

from plimsoll.trial.on_aws import build_resource_deletion_command, find_tagged, find_target_remains

TEMPLATE = json.dumps({"Resources": {"Topic": {"Type": "AWS::SNS::Topic"}}})
HERE = "eu-west-1:123456789012"


def make_bucket(name: str, tags: dict[str, str]) -> None:
    client = boto3.client("s3")
    client.create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
    pairs = [{"Key": key, "Value": value} for key, value in tags.items()]
    client.put_bucket_tagging(Bucket=name, Tagging={"TagSet": pairs})  # type: ignore[typeddict-item]


def make_database(identifier: str, run_id: str) -> None:
    boto3.client("rds").create_db_instance(
        DBInstanceIdentifier=identifier,
        Engine="mariadb",
        EngineVersion="11.4.8",
        DBInstanceClass="db.t4g.small",
        Tags=[{"Key": "plimsoll:run-id", "Value": run_id}],
    )


@pytest.mark.usefixtures("account")
def test_nothing_is_left_in_an_account_with_nothing_in_it() -> None:
    assert find_target_remains("r1") == []


@pytest.mark.usefixtures("account")
def test_a_target_left_behind_is_found_by_its_runs_tag_and_only_that_one() -> None:
    make_database("plimsoll-r1", "r1")
    make_database("plimsoll-r2", "r2")
    (left,) = find_target_remains("r1")
    assert left.what == f"arn:aws:rds:{HERE}:db:plimsoll-r1"
    assert left.command.startswith(
        "aws rds delete-db-instance --db-instance-identifier plimsoll-r1 "
    )


@pytest.mark.usefixtures("account")
def test_a_stack_that_bears_no_tag_is_seen_as_the_janitor_sees_it() -> None:
    for name in ("plimsoll-run-r1", "plimsoll-run-r2"):
        boto3.client("cloudformation").create_stack(StackName=name, TemplateBody=TEMPLATE)
    (left,) = find_target_remains("r1")
    assert left.what == "the stack plimsoll-run-r1"
    assert left.command == "aws cloudformation delete-stack --stack-name plimsoll-run-r1"


@pytest.mark.usefixtures("account")
def test_a_tag_has_to_have_the_value() -> None:
    make_bucket("ours", {"plimsoll:deployment": "plimsoll-canary"})
    make_bucket("theirs", {"plimsoll:deployment": "Plimsoll"})
    (left,) = find_tagged("plimsoll:deployment", "plimsoll-canary")
    assert (left.what, left.command) == ("arn:aws:s3:::ours", "aws s3 rb --force s3://ours")


@pytest.mark.parametrize(
    ("resource", "command"),
    [
        (f"cloudformation:{HERE}:stack/plimsoll-run-r1/0a", "aws cloudformation delete-stack"),
        (f"rds:{HERE}:db:plimsoll-r1", "aws rds delete-db-instance"),
        (f"rds:{HERE}:cluster:plimsoll-r1", "aws rds delete-db-cluster"),
        (f"ec2:{HERE}:instance/i-0a", "aws ec2 terminate-instances --instance-ids i-0a"),
        (f"ec2:{HERE}:volume/vol-0a", "aws ec2 delete-volume --volume-id vol-0a"),
        (f"secretsmanager:{HERE}:secret:rds!db-0a", "aws secretsmanager delete-secret"),
        (f"dynamodb:{HERE}:table/Runs", "aws dynamodb delete-table --table-name Runs"),
        (
            f"logs:{HERE}:log-group:/plimsoll-canary/api",
            "aws logs delete-log-group --log-group-name /plimsoll-canary/api",
        ),
        (f"sqs:{HERE}:Undelivered", "aws resourcegroupstaggingapi get-resources"),
    ],
)
def test_each_kind_of_thing_has_its_command(resource: str, command: str) -> None:
    assert build_resource_deletion_command(f"arn:aws:{resource}").startswith(command)
