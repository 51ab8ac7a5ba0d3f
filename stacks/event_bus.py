"""The event bus, and a topic that receives every event on it."""

from collections.abc import Mapping
from typing import Any

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from plimsoll.model.deployment.rules import BUS_NAME, EVERY_EVENT
from stacks.names import own_name


class EventsPart(Construct):
    """The bus serves programs with rules of their own, the topic those without."""

    def __init__(self, scope: Construct) -> None:
        super().__init__(scope, "Events")
        self.bus = events.EventBus(self, "Bus", event_bus_name=own_name(self, BUS_NAME))
        self.topic = sns.Topic(
            self, "Topic", display_name=EVERY_EVENT.topic.display_name, enforce_ssl=True
        )
        Validations.of(self.topic).acknowledge(
            Acknowledgment(
                id="AwsSolutions-SNS2",
                reason="events name runs and figures, no data; EventBridge cannot publish to a"
                " topic under AWS's own key, and a key of our own costs by the month",
            )
        )
        events.Rule(
            self,
            "ToTopic",
            description=EVERY_EVENT.summary,
            event_bus=self.bus,
            event_pattern=to_event_pattern(EVERY_EVENT.pattern),
            targets=[targets.SnsTopic(self.topic)],
        )

    def allow_events_from(self, role: iam.IRole) -> None:
        """Let a state machine put events on the bus."""
        role.add_to_principal_policy(
            iam.PolicyStatement(actions=["events:PutEvents"], resources=[self.bus.event_bus_arn])
        )


def to_event_pattern(pattern: Mapping[str, Any]) -> events.EventPattern:
    """Convert a pattern of EventBridge for the CDK."""
    return events.EventPattern(
        source=pattern["source"],
        detail_type=pattern.get("detail-type"),
        detail=pattern.get("detail"),
    )
