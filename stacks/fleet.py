"""The functions: one Lambda and one role for each row of the function table."""

from collections.abc import Iterable, Mapping
from typing import Any

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from plimsoll.model.deployment.deployment import DEFAULT_NAME
from plimsoll.model.deployment.functions import FUNCTIONS, Function, Setting
from stacks.names import own_name
from stacks.network import NetworkPart
from stacks.packages import Packages
from stacks.permissions import Grants, arn, make_role, write_statements

LOAD_CLIENT = "load-client"
INTERFACE_ACTIONS = [
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:AssignPrivateIpAddresses",
    "ec2:UnassignPrivateIpAddresses",
]


class FleetPart(Construct):
    """All functions, each with exactly the permissions of its row."""

    def __init__(
        self,
        scope: Construct,
        *,
        network: NetworkPart,
        grants: Grants,
        settings: Mapping[Setting, str],
        reserved_load_clients: int | None,
        packages: Packages,
    ) -> None:
        super().__init__(scope, "Fleet")
        self._network = network
        self._grants = grants
        self._settings = settings
        self._packages = packages
        self.functions = {
            row.name: self._function(
                row, reserved=reserved_load_clients if row.name == LOAD_CLIENT else None
            )
            for row in FUNCTIONS.values()
        }
        self.in_other_zones = {
            row.name: [
                self._function(row, zone=zone, reserved=None)
                for zone in range(1, len(network.subnets))
            ]
            for row in FUNCTIONS.values()
            if row.in_each_zone
        }

    def _function(self, row: Function, *, reserved: int | None, zone: int = 0) -> lambda_.Function:
        end = zone_suffix(zone)
        place = Construct(self, row.arn_placeholder.removesuffix("FunctionArn") + end)
        log_group = make_function_logs(place, row, end)
        return lambda_.Function(
            place,
            "Function",
            function_name=own_name(self, row.name_on_aws) + end,
            description=row.summary,
            runtime=self._packages.runtime,
            architecture=self._packages.architecture,
            code=self._packages.code(row),
            handler=f"functions/{row.folder}/handler.handler",
            role=self._role(place, row, log_group, end),
            timeout=Duration.seconds(row.timeout_s),
            memory_size=row.memory_mib,
            reserved_concurrent_executions=reserved,
            retry_attempts=row.retries,
            environment=row.variables_on_aws(self._settings),
            log_group=log_group,
            **self._placement(row, zone),
        )

    def _placement(self, row: Function, zone: int) -> dict[str, Any]:
        if not row.in_vpc:
            return {}
        return {
            "vpc": self._network.vpc,
            "vpc_subnets": ec2.SubnetSelection(subnets=[self._network.subnets[zone]]),
            "security_groups": [self._network.fleet],
        }

    def _role(
        self, place: Construct, row: Function, log_group: logs.LogGroup, end: str
    ) -> iam.Role:
        made = make_function_role(place, row.name + end, log_group)
        for statement in write_statements(row.permissions, self._grants):
            made.add_to_policy(statement)
        if row.in_vpc:
            self._attach_to_vpc(made, row.name_on_aws + end)
        return made

    def _attach_to_vpc(self, made: iam.Role, name: str) -> None:
        """Let the Lambda service, but not the function's code, manage its network interfaces."""
        own = arn(Stack.of(self), "lambda", f"function:{own_name(self, name)}")
        made.add_to_policy(iam.PolicyStatement(actions=INTERFACE_ACTIONS, resources=["*"]))
        made.add_to_policy(
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                actions=INTERFACE_ACTIONS,
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": own}},
            )
        )


def zone_suffix(zone: int) -> str:
    """Return the name suffix for a zone, counted from 0; empty for the first.

    The workflow appends it to the ARN of the load client function.
    """
    return f"-{zone + 1}" if zone else ""


def make_function_logs(scope: Construct, row: Function, end: str = "") -> logs.LogGroup:
    """Create a function's log group, which is deleted with the deployment."""
    return logs.LogGroup(
        scope,
        "Logs",
        log_group_name=f"/{own_name(scope, DEFAULT_NAME)}/{row.name}{end}",
        retention=logs.RetentionDays.ONE_MONTH,
        removal_policy=RemovalPolicy.DESTROY,
    )


def make_function_role(scope: Construct, name: str, log_group: logs.LogGroup) -> iam.Role:
    """Create a function's role, which may write its own log."""
    made = make_role(
        scope, "Role", service="lambda.amazonaws.com", description=f"Plimsoll's function {name}"
    )
    made.add_to_policy(
        iam.PolicyStatement(
            actions=["logs:CreateLogStream", "logs:PutLogEvents"],
            resources=[log_group.log_group_arn],
        )
    )
    return made


def make_deployment_function(
    scope: Construct,
    row: Function,
    *,
    packages: Packages,
    settings: Mapping[Setting, str],
    statements: Iterable[iam.PolicyStatement],
) -> lambda_.Function:
    """Create a function that CloudFormation calls for a custom resource, with its role."""
    log_group = make_function_logs(scope, row)
    role = make_function_role(scope, row.name, log_group)
    for statement in statements:
        role.add_to_policy(statement)
    return lambda_.Function(
        scope,
        "Function",
        function_name=own_name(scope, row.name_on_aws),
        description=row.summary,
        runtime=packages.runtime,
        architecture=packages.architecture,
        code=packages.code(row),
        handler=f"functions/{row.folder}/handler.handler",
        role=role,
        timeout=Duration.seconds(row.timeout_s),
        memory_size=row.memory_mib,
        log_group=log_group,
        environment=row.variables_on_aws(settings),
    )
