"""The roles with which CloudFormation creates and deletes targets, and Scheduler deletes them."""

from collections.abc import Iterable

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from stacks.network import NetworkPart
from stacks.permissions import arn, make_role
from stacks.snapshot_permissions import allow_deleting, allow_restoring

STACKS = "stack/plimsoll-run-*/*"


class TargetRolesPart(Construct):
    """The roles that act on targets, limited to names that begin with `plimsoll-`."""

    def __init__(
        self, scope: Construct, network: NetworkPart, allowed_snapshots: Iterable[str] = ()
    ) -> None:
        super().__init__(scope, "Targets")
        self._stack = Stack.of(self)
        self.service = make_role(
            self,
            "ServiceRole",
            service="cloudformation.amazonaws.com",
            description="Role with which CloudFormation creates and deletes the targets of"
            " Plimsoll's runs",
        )
        restored = allow_restoring(self._stack, network.subnet_group.ref, allowed_snapshots)
        for statement in (*self._rds(network), *restored):
            self.service.add_to_policy(statement)
        self.deletion = make_role(
            self,
            "DeletionRole",
            service="scheduler.amazonaws.com",
            description="Role with which Scheduler deletes a target's stack at the end of the"
            " run's time limit",
        )
        self.deletion.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudformation:DeleteStack"],
                resources=[arn(self._stack, "cloudformation", STACKS)],
            )
        )
        for statement in allow_deleting(self._stack):
            self.deletion.add_to_policy(statement)

    def _rds(self, network: NetworkPart) -> list[iam.PolicyStatement]:
        stack = self._stack
        mine = [arn(stack, "rds", f"{kind}:plimsoll-*") for kind in ("db", "pg")]
        clusters = [arn(stack, "rds", f"{kind}:plimsoll-*") for kind in ("cluster", "cluster-pg")]
        return [
            iam.PolicyStatement(
                actions=[
                    "rds:CreateDBInstance",
                    "rds:DeleteDBInstance",
                    "rds:ModifyDBInstance",
                    "rds:RebootDBInstance",
                    "rds:DescribeDBInstances",
                    "rds:CreateDBParameterGroup",
                    "rds:DeleteDBParameterGroup",
                    "rds:ModifyDBParameterGroup",
                    "rds:DescribeDBParameterGroups",
                    "rds:DescribeDBParameters",
                    "rds:AddTagsToResource",
                    "rds:RemoveTagsFromResource",
                    "rds:ListTagsForResource",
                ],
                resources=mine,
            ),
            iam.PolicyStatement(
                actions=[
                    "rds:CreateDBCluster",
                    "rds:CreateDBInstance",
                    "rds:DeleteDBCluster",
                    "rds:ModifyDBCluster",
                    "rds:DescribeDBClusters",
                    "rds:CreateDBClusterParameterGroup",
                    "rds:DeleteDBClusterParameterGroup",
                    "rds:ModifyDBClusterParameterGroup",
                    "rds:DescribeDBClusterParameterGroups",
                    "rds:DescribeDBClusterParameters",
                    "rds:AddTagsToResource",
                    "rds:RemoveTagsFromResource",
                    "rds:ListTagsForResource",
                ],
                resources=clusters,
            ),
            iam.PolicyStatement(
                actions=["rds:CreateDBCluster", "rds:CreateDBInstance"],
                resources=[
                    arn(stack, "rds", f"subgrp:{network.subnet_group.ref}"),
                    arn(stack, "rds", "og:default:*"),
                    arn(stack, "rds", "pg:default.*"),
                ],
            ),
            iam.PolicyStatement(
                actions=[
                    "rds:DescribeDBInstances",
                    "rds:DescribeDBClusters",
                    "rds:DescribeEngineDefaultClusterParameters",
                    "rds:DescribeEngineDefaultParameters",
                    "rds:DescribeEvents",
                    "rds:DescribeGlobalClusters",
                    "ec2:DescribeAccountAttributes",
                    "ec2:DescribeAvailabilityZones",
                    "ec2:DescribeInternetGateways",
                    "ec2:DescribeSecurityGroups",
                    "ec2:DescribeSubnets",
                    "ec2:DescribeVpcAttribute",
                    "ec2:DescribeVpcs",
                ],
                resources=["*"],
            ),
            # RDS creates the master secret in the name of its caller.
            iam.PolicyStatement(
                actions=["secretsmanager:CreateSecret", "secretsmanager:TagResource"],
                resources=[
                    arn(stack, "secretsmanager", f"secret:rds!{kind}-*")
                    for kind in ("db", "cluster")
                ],
            ),
            iam.PolicyStatement(
                actions=[
                    "kms:CreateGrant",
                    "kms:Decrypt",
                    "kms:DescribeKey",
                    "kms:GenerateDataKey",
                ],
                resources=[arn(stack, "kms", "key/*")],
                conditions={
                    "StringEquals": {
                        "kms:ViaService": [
                            f"{service}.{stack.region}.{stack.url_suffix}"
                            for service in ("rds", "secretsmanager", "ec2")
                        ]
                    }
                },
            ),
            iam.PolicyStatement(
                actions=["iam:CreateServiceLinkedRole"],
                resources=[
                    (
                        f"arn:{stack.partition}:iam::{stack.account}:role/aws-service-role/"
                        "rds.amazonaws.com/AWSServiceRoleForRDS"
                    )
                ],
                conditions={"StringEquals": {"iam:AWSServiceName": "rds.amazonaws.com"}},
            ),
        ]
