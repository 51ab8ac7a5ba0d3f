"""The template of a target on Aurora: a cluster, and the one instance that writes to it."""

from aws_cdk import Acknowledgment, CfnOutput, Fn, RemovalPolicy, Validations
from aws_cdk import aws_rds as rds
from constructs import Construct

from plimsoll.model.request.rds_target import STORAGE_TYPES
from stacks.targets.common import TargetStack

ENGINES = ["aurora-mysql", "aurora-postgresql"]
USER = "plimsoll"
LEAST_BACKUP_DAYS = 1  # Aurora requires backups; they are deleted with the cluster
DELIBERATE = {  # cdk-nag rules for databases with valuable data
    "AwsSolutions-RDS3": "one zone, as its clients: what is measured is the database alone",
    "AwsSolutions-RDS6": "its load logs in by password, as on any other database",
    "AwsSolutions-RDS10": "it must be possible to delete it, whatever happens",
    "AwsSolutions-RDS11": "only the fleet's security group reaches its port, whatever its number",
    "AwsSolutions-RDS14": "its data is generated; nothing of it is worth turning back for",
    "AwsSolutions-RDS16": "logs that are exported outlive it and cost what they do not tell",
}


class AuroraTemplate(TargetStack):
    """A cluster, its parameter group and its writer, all deleted with the stack.

    As on RDS, the run writes its engine parameters into `Parameters` of the `ParameterGroup`.
    """

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "aurora", description="Plimsoll: the Aurora target of one run")
        name = Fn.sub("plimsoll-${RunId}")
        engine = self.text("Engine", "The database engine.", allowed=ENGINES)
        group = self._parameter_group(name)
        cluster = self._cluster(name, engine, group)
        writer = self._writer(name, engine, cluster)
        for resource in (group, cluster, writer):
            resource.apply_removal_policy(RemovalPolicy.DESTROY)
        self._outputs(cluster, writer)
        Validations.of(writer).acknowledge(
            Acknowledgment(id="AwsSolutions-RDS2", reason="its storage is the cluster's: encrypted")
        )
        Validations.of(self).acknowledge(
            *[Acknowledgment(id=rule, reason=reason) for rule, reason in DELIBERATE.items()]
        )

    def _parameter_group(self, name: str) -> rds.CfnDBClusterParameterGroup:
        return rds.CfnDBClusterParameterGroup(
            self,
            "ParameterGroup",
            db_cluster_parameter_group_name=name,
            description=Fn.sub("Engine parameters of Plimsoll run ${RunId}"),
            family=self.text(
                "ParameterGroupFamily",
                "The engine's parameter group family, such as aurora-mysql8.0.",
            ),
            parameters={},
            tags=self.resource_tags,
        )

    def _cluster(
        self, name: str, engine: str, group: rds.CfnDBClusterParameterGroup
    ) -> rds.CfnDBCluster:
        return rds.CfnDBCluster(
            self,
            "Cluster",
            db_cluster_identifier=name,
            engine=engine,
            engine_version=self.text("EngineVersion", "The engine's version, such as 17.7."),
            engine_lifecycle_support=self.lifecycle(),
            database_name=self.text(
                "DatabaseName", "The database made at the start.", default=USER
            ),
            db_cluster_parameter_group_name=group.ref,
            db_subnet_group_name=self.text("SubnetGroupName", "The private subnets."),
            vpc_security_group_ids=[self.security_group_id],
            storage_type=self.text(
                "StorageType",
                "Its storage: aurora is charged by the I/O, aurora-iopt1 is not.",
                allowed=[*STORAGE_TYPES.values()],
            ),
            storage_encrypted=True,
            # The password never passes through a template, a parameter or a log.
            master_username=USER,
            manage_master_user_password=True,
            # Nothing survives the stack.
            backup_retention_period=LEAST_BACKUP_DAYS,
            delete_automated_backups=True,
            copy_tags_to_snapshot=True,  # to those that Aurora takes by itself
            deletion_protection=False,
            tags=self.resource_tags,
        )

    def _writer(self, name: str, engine: str, cluster: rds.CfnDBCluster) -> rds.CfnDBInstance:
        """Create the only instance, in its clients' zone, which makes it the writer."""
        return rds.CfnDBInstance(
            self,
            "Writer",
            db_instance_identifier=name,
            db_cluster_identifier=cluster.ref,
            engine=engine,
            db_instance_class=self.text(
                "InstanceClass", "The writer's class.", pattern=r"db\.[a-z0-9.-]+"
            ),
            availability_zone=self.availability_zone,
            auto_minor_version_upgrade=False,
            publicly_accessible=False,
            tags=self.resource_tags,
        )

    def _outputs(self, cluster: rds.CfnDBCluster, writer: rds.CfnDBInstance) -> None:
        outputs = {
            "Endpoint": (cluster.attr_endpoint_address, "The host name of the cluster's writer."),
            "Port": (cluster.attr_endpoint_port, "The port of the database."),
            "SecretArn": (
                cluster.attr_master_user_secret_secret_arn,
                "The secret that holds its user name and password.",
            ),
            "InstanceIdentifier": (
                writer.ref,
                "The writer and its cluster, as their metrics name them.",
            ),
        }
        for name, (value, description) in outputs.items():
            CfnOutput(self, name, value=value, description=description)
