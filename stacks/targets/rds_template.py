"""The template of a target on RDS: MySQL, MariaDB or PostgreSQL on gp2, gp3, io1 or io2."""

from aws_cdk import (
    Acknowledgment,
    Aws,
    CfnCondition,
    CfnOutput,
    Fn,
    RemovalPolicy,
    Token,
    Validations,
)
from aws_cdk import aws_rds as rds
from constructs import Construct

from stacks.targets.common import TargetStack

ENGINES = ["mysql", "mariadb", "postgres"]
STORAGE_TYPES = ["gp2", "gp3", "io1", "io2"]
USER = "plimsoll"
DELIBERATE = {  # cdk-nag rules for databases with valuable data
    "AwsSolutions-RDS3": "one zone, as its clients: what is measured is the database alone",
    "AwsSolutions-RDS10": "it must be possible to delete it, whatever happens",
    "AwsSolutions-RDS11": "only the fleet's security group reaches its port, whatever its number",
    "AwsSolutions-RDS13": "its data is generated; a backup would outlive it and disturb the volume",
}


class RdsTemplate(TargetStack):
    """One database instance and its parameter group, both deleted with the stack.

    The engine parameters are a map, which no CloudFormation parameter can hold: `Parameters` of the
    resource `ParameterGroup` is empty here, and the run writes its own into the template.
    """

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "rds", description="Plimsoll: the RDS target of one run")
        name = Fn.sub("plimsoll-${RunId}")
        group = self._parameter_group(name)
        instance = self._instance(name, group)
        instance.apply_removal_policy(RemovalPolicy.DESTROY)
        group.apply_removal_policy(RemovalPolicy.DESTROY)
        self._outputs(instance)
        Validations.of(self).acknowledge(
            *[Acknowledgment(id=rule, reason=reason) for rule, reason in DELIBERATE.items()]
        )

    def _parameter_group(self, name: str) -> rds.CfnDBParameterGroup:
        return rds.CfnDBParameterGroup(
            self,
            "ParameterGroup",
            db_parameter_group_name=name,
            description=Fn.sub("Engine parameters of Plimsoll run ${RunId}"),
            family=self.text(
                "ParameterGroupFamily", "The engine's parameter group family, such as mysql8.4."
            ),
            parameters={},
            tags=self.resource_tags,
        )

    def _instance(self, name: str, group: rds.CfnDBParameterGroup) -> rds.CfnDBInstance:
        engine = self.text("Engine", "The database engine.", allowed=ENGINES)
        return rds.CfnDBInstance(
            self,
            "Instance",
            db_instance_identifier=name,
            engine=engine,
            engine_lifecycle_support=self._lifecycle(engine),
            engine_version=self.text("EngineVersion", "The engine's version, such as 8.4.10."),
            db_instance_class=self.text(
                "InstanceClass", "The instance class.", pattern=r"db\.[a-z0-9.-]+"
            ),
            db_name=self.text("DatabaseName", "The database made at the start.", default=USER),
            db_parameter_group_name=group.ref,
            # One zone, no copies, no automatic maintenance: nothing changes during a measurement.
            availability_zone=self.availability_zone,
            multi_az=False,
            auto_minor_version_upgrade=False,
            db_subnet_group_name=self.text("SubnetGroupName", "The private subnets."),
            vpc_security_groups=[self.security_group_id],
            publicly_accessible=False,
            # The password never passes through a template, a parameter or a log.
            master_username=USER,
            manage_master_user_password=True,
            # Nothing survives the stack.
            backup_retention_period=0,
            delete_automated_backups=True,
            deletion_protection=False,
            tags=self.resource_tags,
            # RDS refuses IOPS and throughput for a volume that cannot provision them.
            storage_type=self.text("StorageType", "The volume's type.", allowed=STORAGE_TYPES),
            allocated_storage=self.text(
                "AllocatedStorageGib", "The volume's size in GiB.", pattern="[1-9][0-9]*"
            ),
            iops=self.declare_provisioned("Iops", "Provisioned IOPS."),
            storage_throughput=self.declare_provisioned(
                "StorageThroughputMibS", "Provisioned throughput in MiB/s (gp3 alone)."
            ),
            storage_encrypted=True,
        )

    def _lifecycle(self, engine: str) -> str:
        """Return the lifecycle, or no value for MariaDB, which has no Extended Support."""
        has_extended = CfnCondition(
            self,
            "HasExtendedSupport",
            expression=Fn.condition_not(Fn.condition_equals(engine, "mariadb")),
        )
        lifecycle = Fn.condition_if(has_extended.logical_id, self.lifecycle(), Aws.NO_VALUE)
        return Token.as_string(lifecycle)

    def _outputs(self, instance: rds.CfnDBInstance) -> None:
        outputs = {
            "Endpoint": (instance.attr_endpoint_address, "The host name of the database."),
            "Port": (instance.attr_endpoint_port, "The port of the database."),
            "SecretArn": (
                instance.attr_master_user_secret_secret_arn,
                "The secret that holds its user name and password.",
            ),
            "InstanceIdentifier": (instance.ref, "The instance, as its metrics name it."),
        }
        for name, (value, description) in outputs.items():
            CfnOutput(self, name, value=value, description=description)
