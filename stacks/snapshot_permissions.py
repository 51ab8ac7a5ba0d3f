"""Permissions to take, restore and delete snapshots of datasets, but nobody else's."""

from collections.abc import Iterable

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from plimsoll.model.datasets import PREFIX
from plimsoll.model.deployment.functions import Resource
from stacks.permissions import Grant, Grants, arn

_TAGGED = {"Null": {"aws:ResourceTag/plimsoll:run-id": "false"}}
_BEING_TAGGED = {"Null": {"aws:RequestTag/plimsoll:run-id": "false"}}
_WHILE_MADE = {"StringEquals": {"ec2:CreateAction": "CreateSnapshot"}}


def snapshot_arn(stack: Stack) -> str:
    """Return the ARN pattern of RDS snapshots of Plimsoll's own datasets."""
    return arn(stack, "rds", f"snapshot:{PREFIX}*")


def volume_snapshot_arn(stack: Stack) -> str:
    """Return the ARN pattern of EBS snapshots; their ids are random, and no account is in it."""
    return f"arn:{stack.partition}:ec2:{stack.region}::snapshot/*"


def snapshot_grants(stack: Stack) -> Grants:
    """Return the function table's snapshots and volumes in this deployment."""
    volumes = arn(stack, "ec2", "volume/*")
    of_ebs = volume_snapshot_arn(stack)
    return {
        Resource.DATASET_SNAPSHOTS: (Grant(snapshot_arn(stack)),),
        Resource.DATASET_VOLUME_SNAPSHOTS: (Grant(of_ebs, conditions=_TAGGED),),
        Resource.NEW_VOLUME_SNAPSHOTS: (
            Grant(of_ebs, conditions=_BEING_TAGGED, of_action={"ec2:CreateTags": _WHILE_MADE}),
        ),
        Resource.TARGET_VOLUMES: (Grant(volumes, conditions=_TAGGED),),
    }


def allow_restoring(
    stack: Stack, subnet_group: str, allowed: Iterable[str]
) -> list[iam.PolicyStatement]:
    """Let CloudFormation restore targets from snapshots: Plimsoll's own, and allowed ones.

    Args:
        stack: The deployment's stack.
        subnet_group: The subnet group of its targets.
        allowed: The ARNs of the users' own snapshots.
    """
    return [
        iam.PolicyStatement(
            actions=["rds:RestoreDBInstanceFromDBSnapshot"],
            resources=[
                *(arn(stack, "rds", f"{kind}:plimsoll-*") for kind in ("db", "pg")),
                arn(stack, "rds", f"subgrp:{subnet_group}"),
                arn(stack, "rds", "og:default:*"),
                snapshot_arn(stack),
                *allowed,
            ],
        ),
        iam.PolicyStatement(
            actions=["rds:DescribeDBSnapshots"], resources=[snapshot_arn(stack), *allowed]
        ),
    ]


def allow_deleting(stack: Stack) -> list[iam.PolicyStatement]:
    """Let EventBridge Scheduler delete snapshots of datasets when their time is up."""
    return [
        iam.PolicyStatement(actions=["rds:DeleteDBSnapshot"], resources=[snapshot_arn(stack)]),
        iam.PolicyStatement(
            actions=["ec2:DeleteSnapshot"],
            resources=[volume_snapshot_arn(stack)],
            conditions=_TAGGED,
        ),
    ]
