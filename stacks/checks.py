"""Checks: the group of their schedules, and the role that the schedules assume."""

from aws_cdk import Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_scheduler as scheduler
from constructs import Construct

from plimsoll.model.deployment.functions import FUNCTIONS
from plimsoll.model.deployment.rules import CHECKS_GROUP, RUN_ENDED
from stacks.event_bus import to_event_pattern
from stacks.names import own_name
from stacks.permissions import arn


class ChecksPart(Construct):
    """The schedule group in which the API creates checks; it is deleted with the deployment."""

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "Checks")
        stack = Stack.of(self)
        group = own_name(self, CHECKS_GROUP)
        self.group = scheduler.CfnScheduleGroup(self, "Group", name=group)
        # The ARN is built by name: functions have the role's ARN in their environment, so a
        # reference would make a cycle.
        start_check = own_name(self, FUNCTIONS["start-check"].name_on_aws)
        self.start_arn = arn(stack, "lambda", f"function:{start_check}")
        group_arn = arn(stack, "scheduler", f"schedule-group/{group}")
        self.role = iam.Role(
            self,
            "Role",
            description="Role with which Scheduler starts checks",
            assumed_by=iam.ServicePrincipal(
                "scheduler.amazonaws.com",
                # https://docs.aws.amazon.com/scheduler/latest/UserGuide/cross-service-confused-deputy-prevention.html
                conditions={
                    "StringEquals": {
                        "aws:SourceAccount": stack.account,
                        "aws:SourceArn": group_arn,
                    }
                },
            ),
        )
        self.role.add_to_policy(
            iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[self.start_arn])
        )

    def call_at_run_end(self, function: lambda_.IFunction, bus: events.IEventBus) -> None:
        """Call a function at the end of every run."""
        events.Rule(
            self,
            "RunEnded",
            description=RUN_ENDED.summary,
            event_bus=bus,
            event_pattern=to_event_pattern(RUN_ENDED.pattern),
            targets=[targets.LambdaFunction(function)],
        )
