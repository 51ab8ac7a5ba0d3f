"""The guard that makes `cdk destroy` fail while a target is alive or a run is under way."""

from collections.abc import Sequence

from aws_cdk import CustomResource, Duration, Stack
from aws_cdk import aws_iam as iam
from constructs import Construct, IConstruct

from plimsoll.model.deployment.functions import FUNCTIONS, GUARD, Setting
from stacks.fleet import make_deployment_function
from stacks.names import own_name
from stacks.packages import Packages
from stacks.permissions import arn
from stacks.workflow import machine_name


class GuardPart(Construct):
    """A custom resource that is deleted before everything else.

    CloudFormation deletes it first, since it depends on all the rest. Its function forbids new
    targets, looks for living ones, and fails the deletion if there are any. Nothing has been
    deleted by then, so the teardown of targets still works.

    Attributes:
        function: The guard's function.
    """

    def __init__(
        self,
        scope: Construct,
        *,
        packages: Packages,
        log_level: str,
        targets_role_arn: str,
        guarded: Sequence[IConstruct],
    ) -> None:
        super().__init__(scope, "Guard")
        stack = Stack.of(self)
        run_machine = arn(stack, "states", f"stateMachine:{machine_name(self, 'run')}")
        create_target = own_name(self, FUNCTIONS["create-target"].name_on_aws)
        statements = [
            iam.PolicyStatement(
                actions=[
                    "cloudformation:DescribeStacks",
                    "rds:DescribeDBSnapshots",
                    "ec2:DescribeSnapshots",
                ],
                resources=["*"],
            ),
            iam.PolicyStatement(actions=["states:ListExecutions"], resources=[run_machine]),
            iam.PolicyStatement(
                actions=["lambda:PutFunctionConcurrency", "lambda:DeleteFunctionConcurrency"],
                resources=[arn(stack, "lambda", f"function:{create_target}")],
            ),
        ]
        self.function = make_deployment_function(
            self,
            GUARD,
            packages=packages,
            settings={
                Setting.LOG_LEVEL: log_level,
                Setting.RUN_MACHINE_ARN: run_machine,
                Setting.CREATE_TARGET_NAME: create_target,
                Setting.TARGET_SERVICE_ROLE_ARN: targets_role_arn,
            },
            statements=statements,
        )
        resource = CustomResource(
            self,
            "NoTargetAlive",
            resource_type="Custom::NoTargetAlive",
            service_token=self.function.function_arn,
            service_timeout=Duration.seconds(GUARD.timeout_s + 60),
        )
        resource.node.add_dependency(self.function, *guarded)
