"""The state machines, from `statemachines/`, and the permissions of their roles."""

from collections.abc import Mapping, Sequence

from aws_cdk import RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct, IConstruct

from plimsoll.model.deployment.functions import FUNCTIONS, Setting
from plimsoll.statemachines import (
    STATE_MACHINES,
    list_placeholders,
    name_machine_placeholder,
    read_definition,
)
from stacks.names import own_name
from stacks.permissions import arn

# Step Functions creates this rule itself
MANAGED_RULE = "StepFunctionsGetEventsForStepFunctionsExecutionRule"


def machine_name(scope: IConstruct, name: str) -> str:
    """Return the name in AWS of a state machine of `statemachines/`."""
    return own_name(scope, f"plimsoll-{name}")


class WorkflowPart(Construct):
    """Every state machine, each with a role that may call the functions it names."""

    def __init__(
        self,
        scope: Construct,
        *,
        functions: Mapping[str, lambda_.Function],
        in_other_zones: Mapping[str, Sequence[lambda_.Function]],
        settings: Mapping[Setting, str],
    ) -> None:
        super().__init__(scope, "Workflow")
        self._functions = {FUNCTIONS[name].arn_placeholder: f for name, f in functions.items()}
        self._in_other_zones = {
            FUNCTIONS[name].arn_placeholder: others for name, others in in_other_zones.items()
        }
        self._values = {
            **{name: function.function_arn for name, function in self._functions.items()},
            **{setting.value: value for setting, value in settings.items()},
            "Partition": Stack.of(self).partition,
        }
        self.machines: dict[str, sfn.StateMachine] = {}
        self.logs: dict[str, logs.LogGroup] = {}
        for name in STATE_MACHINES:
            self._make(name)

    def _make(self, name: str) -> None:
        """Create a machine, after those that it starts."""
        if name in self.machines:
            return
        for child in self._children(name):
            self._make(child)
        self.machines[name] = self._machine(name)
        self._values[name_machine_placeholder(name)] = self.machines[name].state_machine_arn

    def _children(self, name: str) -> list[str]:
        """List the machines that a machine starts and waits for."""
        used = list_placeholders(read_definition(name))
        return [other for other in STATE_MACHINES if name_machine_placeholder(other) in used]

    def _machine(self, name: str) -> sfn.StateMachine:
        # the files name the partition `aws`, which is right on one machine
        definition = read_definition(name).replace("arn:aws:", "arn:${Partition}:")
        used = list_placeholders(definition)
        place = Construct(self, name.capitalize())
        role = self._role(place, name, [f for placeholder in used for f in self._of(placeholder)])
        if '"DISTRIBUTED"' in definition:
            self._may_start_itself(role, name)
        for child in self._children(name):
            self._may_run(role, child)
        self.logs[name] = logs.LogGroup(
            place,
            "Logs",
            # With a name of this form, Step Functions may write without a policy of its own.
            log_group_name=f"/aws/vendedlogs/states/{machine_name(self, name)}",
            retention=logs.RetentionDays.ONE_MONTH,
            removal_policy=RemovalPolicy.DESTROY,
        )
        return sfn.StateMachine(
            place,
            "Machine",
            state_machine_name=machine_name(self, name),
            definition_body=sfn.DefinitionBody.from_string(definition),
            definition_substitutions={key: self._values[key] for key in used},
            role=role,
            tracing_enabled=True,
            logs=sfn.LogOptions(
                destination=self.logs[name],
                level=sfn.LogLevel.ALL,
                include_execution_data=False,
            ),
        )

    def _of(self, placeholder: str) -> list[lambda_.Function]:
        """List the functions that a placeholder stands for; for load clients, one in each zone."""
        if placeholder not in self._functions:
            return []
        return [self._functions[placeholder], *self._in_other_zones.get(placeholder, ())]

    def _role(self, place: Construct, name: str, functions: list[lambda_.Function]) -> iam.Role:
        role = iam.Role(
            place,
            "Role",
            description=f"Plimsoll's state machine {name}",
            assumed_by=iam.ServicePrincipal(
                "states.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Stack.of(self).account}},
            ),
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["lambda:InvokeFunction"],
                resources=[function.function_arn for function in functions],
            )
        )
        return role

    def _may_start_itself(self, role: iam.Role, name: str) -> None:
        """Let a Distributed Map run its children, which are executions of the same machine.

        The ARN is built by name: a reference to the machine would make a cycle with its role.
        """
        stack = Stack.of(self)
        machine = machine_name(self, name)
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["states:StartExecution"],
                resources=[arn(stack, "states", f"stateMachine:{machine}")],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=[
                    "states:DescribeExecution",
                    "states:StopExecution",
                    "states:RedriveExecution",
                ],
                resources=[
                    arn(stack, "states", f"execution:{machine}:*"),
                    arn(stack, "states", f"execution:{machine}/*:*"),
                ],
            )
        )

    def _may_run(self, role: iam.Role, child: str) -> None:
        """Let `startExecution.sync:2` start a machine and learn of its end, through a managed rule.

        https://docs.aws.amazon.com/step-functions/latest/dg/connect-stepfunctions.html
        """
        stack = Stack.of(self)
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["states:StartExecution"],
                resources=[self.machines[child].state_machine_arn],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["states:DescribeExecution", "states:StopExecution"],
                resources=[arn(stack, "states", f"execution:{machine_name(self, child)}:*")],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["events:PutTargets", "events:PutRule", "events:DescribeRule"],
                resources=[arn(stack, "events", f"rule/{MANAGED_RULE}")],
            )
        )
