"""What Cassandra targets need besides their template: an archive, a role, EC2 permissions."""

from pathlib import Path

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3_assets as s3_assets
from constructs import Construct

from plimsoll.errors import UsageError
from plimsoll.model.deployment.deployment import Cassandra
from stacks.imports import ROOT
from stacks.network import NetworkPart
from stacks.permissions import arn, make_role
from stacks.snapshot_permissions import volume_snapshot_arn


class CassandraPart(Construct):
    """Resources for Cassandra targets, created only if the configuration has them.

    Attributes:
        place: The settings of `create-target`: the fields of `CassandraPlace`.
    """

    def __init__(
        self, scope: Construct, *, cassandra: Cassandra, network: NetworkPart, service: iam.Role
    ) -> None:
        super().__init__(scope, "Cassandra")
        assert network.cassandra_target  # noqa: S101 - made where `cassandra` is configured
        self._security_group_id = network.cassandra_target.security_group_id
        archive = _find_archive(cassandra)
        self.instance = make_role(
            self,
            "InstanceRole",
            service="ec2.amazonaws.com",
            description="Role of a Cassandra target: reads its archive; allows a shell through"
            " SSM, not SSH",
        )
        self.instance.add_managed_policy(
            iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")
        )
        profile = iam.InstanceProfile(self, "InstanceProfile", role=self.instance)
        asset = s3_assets.Asset(self, "Archive", path=str(archive))
        self.instance.add_to_policy(
            iam.PolicyStatement(
                actions=["s3:GetObject"],
                resources=[asset.bucket.arn_for_objects(asset.s3_object_key)],
            )
        )
        for statement in self._may(network):
            service.add_to_policy(statement)
        self.place = {
            "archive_url": asset.s3_object_url,
            "instance_profile": profile.instance_profile_name,
            "security_group_id": self._security_group_id,
        }

    def _may(self, network: NetworkPart) -> list[iam.PolicyStatement]:
        """Return what CloudFormation may do to create and delete an instance with a run's tag."""
        stack = Stack.of(self)
        made = [arn(stack, "ec2", f"{kind}/*") for kind in ("instance", "volume")]
        template = [arn(stack, "ec2", "launch-template/*")]
        used = [
            *[arn(stack, "ec2", f"subnet/{subnet.subnet_id}") for subnet in network.subnets],
            arn(stack, "ec2", f"security-group/{self._security_group_id}"),
            arn(stack, "ec2", "network-interface/*"),
        ]
        asked = {"Null": {"aws:RequestTag/plimsoll:run-id": "false"}}
        tagged = {"Null": {"aws:ResourceTag/plimsoll:run-id": "false"}}
        created = {"StringEquals": {"ec2:CreateAction": ["RunInstances", "CreateLaunchTemplate"]}}
        amazons = {"StringEquals": {"ec2:Owner": "amazon"}}
        to_ec2 = {"StringEquals": {"iam:PassedToService": "ec2.amazonaws.com"}}
        images = [f"arn:{stack.partition}:ec2:{stack.region}::image/*"]
        # The image's id is a public parameter of AWS, which CloudFormation resolves.
        parameters = [
            (
                f"arn:{stack.partition}:ssm:{stack.region}::"
                "parameter/aws/service/ami-amazon-linux-latest/*"
            )
        ]
        rules = [
            (["ec2:RunInstances"], made, asked),
            (["ec2:CreateLaunchTemplate"], template, asked),
            (["ec2:RunInstances"], used, None),
            (["ec2:RunInstances"], images, amazons),
            (["ec2:RunInstances"], template, tagged),
            (["ec2:RunInstances"], [volume_snapshot_arn(stack)], tagged),
            (["ec2:DeleteLaunchTemplate", "ec2:DeleteTags"], template, tagged),
            (["ec2:TerminateInstances"], made[:1], tagged),
            (["ec2:CreateTags"], [*made, *template], created),
            (["iam:PassRole"], [self.instance.role_arn], to_ec2),
            (["ssm:GetParameters"], parameters, None),
            (
                [
                    "ec2:DescribeInstances",
                    "ec2:DescribeInstanceAttribute",
                    "ec2:DescribeInstanceCreditSpecifications",
                    "ec2:DescribeIamInstanceProfileAssociations",
                    "ec2:DescribeKeyPairs",
                    "ec2:DescribeLaunchTemplates",
                    "ec2:DescribeLaunchTemplateVersions",
                    "ec2:DescribeNetworkInterfaces",
                    "ec2:DescribeTags",
                    "ec2:DescribeVolumes",
                ],
                ["*"],
                None,
            ),
        ]
        return [
            iam.PolicyStatement(actions=actions, resources=resources, conditions=conditions)
            for actions, resources, conditions in rules
        ]


def _find_archive(cassandra: Cassandra) -> Path:
    path = ROOT / cassandra.archive
    if not path.is_file():
        raise UsageError(
            f"cdk.json: plimsoll.cassandra.archive: there is no {cassandra.archive};"
            " `make cassandra` brings it"
        )
    return path
