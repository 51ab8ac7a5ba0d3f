"""Who may make and delete targets: CloudFormation and Scheduler, each with a role of its own."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from stacks.network import NetworkPart
from stacks.permissions import arn, role

STACKS = "stack/plimsoll-run-*/*"
SOFTWARE = "software/*"  # where instances find what they install


class TargetRolesPart(Construct):
    """The roles that act on targets, and on nothing that is not named `plimsoll-*`."""

    def __init__(self, scope: Construct, *, network: NetworkPart, results: s3.IBucket) -> None:
        super().__init__(scope, "Targets")
        self._stack = Stack.of(self)
        self.instance = role(
            self,
            "InstanceRole",
            service="ec2.amazonaws.com",
            description="An EC2 target: reads what it installs; a shell through SSM, no SSH",
        )
        self.instance.add_managed_policy(
            iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")
        )
        self.instance.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject"], resources=[results.arn_for_objects(SOFTWARE)]
            )
        )
        self.instance_profile = iam.InstanceProfile(self, "InstanceProfile", role=self.instance)
        self.service = role(
            self,
            "ServiceRole",
            service="cloudformation.amazonaws.com",
            description="CloudFormation makes and deletes the targets of Plimsoll's runs with it",
        )
        for statement in (*self._rds(network), *self._ec2(network)):
            self.service.add_to_policy(statement)
        self.deletion = role(
            self,
            "DeletionRole",
            service="scheduler.amazonaws.com",
            description="Scheduler deletes a target's stack with it when the run's time is up",
        )
        self.deletion.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudformation:DeleteStack"],
                resources=[arn(self._stack, "cloudformation", STACKS)],
            )
        )

    def _rds(self, network: NetworkPart) -> list[iam.PolicyStatement]:
        stack = self._stack
        mine = [arn(stack, "rds", "db:plimsoll-*"), arn(stack, "rds", "pg:plimsoll-*")]
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
                actions=["rds:CreateDBInstance"],
                resources=[
                    arn(stack, "rds", f"subgrp:{network.subnet_group.ref}"),
                    arn(stack, "rds", "og:default:*"),
                ],
            ),
            iam.PolicyStatement(
                actions=[
                    "rds:DescribeDBInstances",
                    "rds:DescribeEngineDefaultParameters",
                    "rds:DescribeEvents",
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
            # RDS makes the master secret in the name of its caller
            iam.PolicyStatement(
                actions=["secretsmanager:CreateSecret", "secretsmanager:TagResource"],
                resources=[arn(stack, "secretsmanager", "secret:rds!db-*")],
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

    def _ec2(self, network: NetworkPart) -> list[iam.PolicyStatement]:
        stack = self._stack
        made = [arn(stack, "ec2", f"{kind}/*") for kind in ("instance", "volume")]
        used = [
            arn(stack, "ec2", f"subnet/{network.fleet_subnet.subnet_id}"),
            arn(stack, "ec2", f"security-group/{network.target.security_group_id}"),
            arn(stack, "ec2", "network-interface/*"),
        ]
        run_tag = {"Null": {"aws:RequestTag/plimsoll:run-id": "false"}}
        return [
            iam.PolicyStatement(actions=["ec2:RunInstances"], resources=made, conditions=run_tag),
            iam.PolicyStatement(actions=["ec2:RunInstances"], resources=used),
            iam.PolicyStatement(
                actions=["ec2:RunInstances"],
                resources=[f"arn:{stack.partition}:ec2:{stack.region}::image/*"],
                conditions={"StringEquals": {"ec2:Owner": "amazon"}},
            ),
            iam.PolicyStatement(
                actions=["ec2:CreateTags"],
                resources=made,
                conditions={"StringEquals": {"ec2:CreateAction": "RunInstances"}},
            ),
            iam.PolicyStatement(
                actions=["ec2:TerminateInstances"],
                resources=made[:1],
                conditions={"Null": {"aws:ResourceTag/plimsoll:run-id": "false"}},
            ),
            iam.PolicyStatement(
                actions=[
                    "ec2:DescribeInstances",
                    "ec2:DescribeInstanceAttribute",
                    "ec2:DescribeInstanceCreditSpecifications",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeVolumes",
                    "ec2:DescribeIamInstanceProfileAssociations",
                    "ec2:DescribeKeyPairs",
                    "ec2:DescribeLaunchTemplates",
                    "ec2:DescribeLaunchTemplateVersions",
                ],
                resources=["*"],
            ),
            iam.PolicyStatement(
                actions=["iam:PassRole"],
                resources=[self.instance.role_arn],
                conditions={"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}},
            ),
            # the image's id is a public parameter of AWS, which CloudFormation resolves
            iam.PolicyStatement(
                actions=["ssm:GetParameters"],
                resources=[
                    (
                        f"arn:{stack.partition}:ssm:{stack.region}::parameter/aws/service/"
                        "ami-amazon-linux-latest/*"
                    )
                ],
            ),
        ]
