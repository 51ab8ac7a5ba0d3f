"""The template of a Cassandra target on EC2: on an EBS volume or on the instance's own NVMe."""

from pathlib import Path

from aws_cdk import (
    Acknowledgment,
    CfnCondition,
    CfnOutput,
    CfnParameter,
    CfnWaitCondition,
    CfnWaitConditionHandle,
    Fn,
    RemovalPolicy,
    Validations,
)
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from plimsoll.model.request.cassandra_target import CQL_PORT, DATA_DEVICE, ROOT_GIB, VERSION
from stacks.targets.common import TargetStack

SHA512 = (
    "06b7af18c8f41dc13dbfdae186d565a5f91e71ea413c3c5373aec8a4e5074c6d"
    "ee5632a0e5e98c21665f08f7291d7ca384f61a323c02610c6bca51e074b5a0c4"
)  # from the official container image
STORAGE_TYPES = ["gp2", "gp3", "io1", "io2", "nvme"]
IMAGE = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
TIMEOUT_S = 1200
DELETED_WITH_INSTANCE = {"Encrypted": True, "DeleteOnTermination": True}
SCRIPT = Path(__file__).with_name("install_cassandra.sh")
HEADER = """\
#!/bin/bash
set -Eeuo pipefail
REGION='${AWS::Region}'
RUN_ID='${RunId}'
EXPIRES_AT='${ExpiresAt}'
STORAGE_TYPE='${StorageType}'
ARCHIVE_URL='${ArchiveUrl}'
ARCHIVE_SHA512='%(sha512)s'
ANSWER_TO='${Answer}'
NODE='${Node}'
TOKEN='${Token}'
SEED='${Seed}'
RACK='${Rack}'
"""


class CassandraTemplate(TargetStack):
    """One instance, and a condition that waits until Cassandra on it listens.

    Further nodes of a cluster are copies of it, each told its place by its user data
    (`plimsoll.targets.cluster_template`).

    It has no key pair: shells use SSM if the VPC has a way to it. Only the fleet reaches its CQL
    port, so Cassandra has no password, as in the experiment that it repeats.
    """

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "cassandra", description="Plimsoll: the Cassandra target of a run")
        self._storage_type = self.text("StorageType", "The volume's type.", allowed=STORAGE_TYPES)
        self.text(
            "ArchiveUrl",
            f"Where Cassandra {VERSION} is: s3://...",
            pattern=r"s3://[A-Za-z0-9./_-]+",
        )
        answer = CfnWaitConditionHandle(self, "Answer")
        template = self._launch_template()
        instance = self._instance(template, answer)
        listens = CfnWaitCondition(
            self, "Listens", handle=answer.ref, timeout=str(TIMEOUT_S), count=1
        )
        listens.add_resource_dependency(instance)
        for resource in (answer, template, instance, listens):
            resource.apply_removal_policy(RemovalPolicy.DESTROY)
        self._outputs(instance)
        Validations.of(self).acknowledge(
            Acknowledgment(
                id="AwsSolutions-EC26",
                reason="every volume is encrypted, in the launch template, where it does not look",
            ),
            Acknowledgment(id="AwsSolutions-EC29", reason="it must be possible to delete it"),
            Acknowledgment(
                id="CloudFormation-Validate::W3030",
                reason="`nvme` means no data volume of EBS at all: the condition `OnEbs`",
            ),
        )

    def _instance(
        self, template: ec2.CfnLaunchTemplate, answer: CfnWaitConditionHandle
    ) -> ec2.CfnInstance:
        alone = {"Node": "1", "Token": "", "Seed": "", "Rack": self.availability_zone}
        told = Fn.sub(HEADER % {"sha512": SHA512}, {"Answer": answer.ref, **alone})
        return ec2.CfnInstance(
            self,
            "Instance",
            image_id=CfnParameter(
                self,
                "ImageId",
                type="AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
                description="AWS's public parameter of an Amazon Linux 2023 image.",
                default=IMAGE,
            ).value_as_string,
            instance_type=self.text(
                "InstanceType", "The instance type.", pattern=r"[a-z0-9-]+\.[a-z0-9-]+"
            ),
            availability_zone=self.availability_zone,
            subnet_id=self.text("SubnetId", "The fleet's own subnet.", pattern="subnet-[0-9a-f]+"),
            security_group_ids=[self.security_group_id],
            iam_instance_profile=self.text("InstanceProfileName", "What the instance may do."),
            launch_template=ec2.CfnInstance.LaunchTemplateSpecificationProperty(
                launch_template_id=template.ref, version=template.attr_latest_version_number
            ),
            ebs_optimized=True,
            instance_initiated_shutdown_behavior="terminate",
            disable_api_termination=False,
            monitoring=True,  # CPU once a minute, like the metrics of its volume
            propagate_tags_to_volume_on_creation=True,
            user_data=Fn.base64(Fn.join("", [told, SCRIPT.read_text()])),
            tags=self.resource_tags,
        )

    def _launch_template(self) -> ec2.CfnLaunchTemplate:
        """Create the launch template with the volumes; an instance itself has no throughput."""
        on_ebs = CfnCondition(
            self,
            "OnEbs",
            expression=Fn.condition_not(Fn.condition_equals(self._storage_type, "nvme")),
        )
        data = {
            "DeviceName": DATA_DEVICE,
            "Ebs": {
                "VolumeType": self._storage_type,
                "VolumeSize": self.declare_provisioned("SizeGib", "The volume's size in GiB."),
                "Iops": self.declare_provisioned("Iops", "Provisioned IOPS."),
                "Throughput": self.declare_provisioned(
                    "ThroughputMibS", "Provisioned throughput in MiB/s (gp3 alone)."
                ),
                **DELETED_WITH_INSTANCE,
            },
        }
        root = {
            "DeviceName": "/dev/xvda",
            "Ebs": {"VolumeType": "gp3", "VolumeSize": ROOT_GIB, **DELETED_WITH_INSTANCE},
        }
        template = ec2.CfnLaunchTemplate(
            self,
            "LaunchTemplate",
            launch_template_name=Fn.sub("plimsoll-${RunId}"),
            launch_template_data=ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
                metadata_options=ec2.CfnLaunchTemplate.MetadataOptionsProperty(
                    http_tokens="required", http_put_response_hop_limit=1
                )
            ),
            tag_specifications=[
                ec2.CfnLaunchTemplate.LaunchTemplateTagSpecificationProperty(
                    resource_type="launch-template", tags=self.resource_tags
                )
            ],
        )
        template.add_property_override(
            "LaunchTemplateData.BlockDeviceMappings",
            Fn.condition_if(on_ebs.logical_id, [root, data], [root]),
        )
        return template

    def _outputs(self, instance: ec2.CfnInstance) -> None:
        outputs = {
            "Endpoint": (instance.attr_private_ip, "The address of the database."),
            "Port": (str(CQL_PORT), "The port of CQL."),
            "InstanceIdentifier": (instance.ref, "The instance, as its metrics name it."),
        }
        for name, (value, description) in outputs.items():
            CfnOutput(self, name, value=value, description=description)
