"""The configuration that functions read from the service table, written by CloudFormation."""

from aws_cdk import CustomResource, Duration
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from constructs import Construct

from plimsoll.aws.configuration import name_configuration
from plimsoll.model.deployment.deployment import DeploymentConfig
from plimsoll.model.deployment.functions import CONFIGURE, Setting
from stacks.fleet import make_deployment_function
from stacks.packages import Packages


class ConfigurationPart(Construct):
    """A custom resource that is there before the functions that read it, and deleted after them.

    Attributes:
        function: The function that writes them.
        name: The name of the configuration's item in the table.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        packages: Packages,
        table: dynamodb.ITable,
        config: DeploymentConfig,
    ) -> None:
        super().__init__(scope, "Configuration")
        writes = iam.PolicyStatement(
            actions=["dynamodb:PutItem", "dynamodb:DeleteItem"], resources=[table.table_arn]
        )
        self.function = make_deployment_function(
            self,
            CONFIGURE,
            packages=packages,
            settings={
                Setting.SERVICE_TABLE: table.table_name,
                Setting.LOG_LEVEL: config.log_level,
            },
            statements=[writes],
        )
        resource = CustomResource(
            self,
            "Values",
            resource_type="Custom::Configuration",
            service_token=self.function.function_arn,
            service_timeout=Duration.seconds(CONFIGURE.timeout_s + 60),
            properties={"Name": name_configuration(config.stored), "Values": config.stored},
        )
        # the function may write until the resource is deleted
        resource.node.add_dependency(self.function)
        self.name = resource.ref
