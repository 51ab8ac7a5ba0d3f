"""Automatic actions of a deployment: rules on events, schedules, topics and schedule groups.

`stacks/` creates them on AWS and `plimsoll/local/` on one machine, both from these definitions.
"""

from typing import Any

from plimsoll.model.base import Model
from plimsoll.model.deployment.events import SOURCE, RunEnded

BUS_NAME = "plimsoll"
# Schedule groups of EventBridge Scheduler
# Each schedule deletes a target at the time limit of its run
DELETIONS_GROUP = "plimsoll-deletions"
CHECKS_GROUP = "plimsoll-checks"  # each schedule starts a check


class Topic(Model):
    """An SNS topic for people and programs."""

    name: str
    display_name: str


ALARMS_TOPIC = Topic(name="alarms", display_name="Plimsoll")
EVENTS_TOPIC = Topic(name="events", display_name="Plimsoll events")


class BusRule(Model):
    """Selects events from Plimsoll's own bus by their detail type."""

    summary: str
    detail_types: tuple[str, ...] = ()  # empty for every event

    @property
    def pattern(self) -> dict[str, Any]:
        """The EventBridge pattern."""
        kinds = {"detail-type": list(self.detail_types)} if self.detail_types else {}
        return {"source": [SOURCE], **kinds}


class TopicRule(BusRule):
    """Events that are published to a topic."""

    topic: Topic


class FunctionRule(BusRule):
    """Events that invoke a function."""

    function: str


EVERY_EVENT = TopicRule(summary="Every event of Plimsoll, as JSON", topic=EVENTS_TOPIC)
RUN_ENDED = FunctionRule(
    summary="A run has ended: the check that it belongs to is judged",
    detail_types=(RunEnded.detail_type,),
    function="judge-check",
)

# Final states of an execution whose `Catch` did not run: it catches no abort and no time-out.
ENDS_WITHOUT_CATCH = ("FAILED", "ABORTED", "TIMED_OUT")


class ExecutionRule(Model):
    """Starts an execution of one state machine when an execution of another one has ended."""

    summary: str
    machine: str  # the machine whose executions end
    starts: str  # the machine to start
    identifier: str  # field of the input that holds the name of the ended execution
    statuses: tuple[str, ...] = ENDS_WITHOUT_CATCH

    def pattern(self, machine_arn: str) -> dict[str, Any]:
        """Return the EventBridge pattern.

        Child executions of a Distributed Map have a different ARN and do not match.
        """
        return {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"stateMachineArn": [machine_arn], "status": list(self.statuses)},
        }

    @property
    def input_paths(self) -> dict[str, str]:
        """The input of the started machine: {field: JSON path in the event}."""
        return {self.identifier: "$.detail.name", "ended": "$.detail.status"}


EXECUTION_RULES = (
    ExecutionRule(
        summary="A run that failed, was stopped or timed out: its target is deleted",
        machine="run",
        starts="teardown",
        identifier="run_id",
    ),
    ExecutionRule(
        summary="An experiment that failed, was stopped or timed out: its runs are stopped",
        machine="experiment",
        starts="experiment-end",
        identifier="experiment_id",
    ),
)


class Schedule(Model):
    """A function that is invoked at regular intervals."""

    summary: str
    function: str
    every_minutes: int

    @property
    def expression(self) -> str:
        """The EventBridge schedule expression."""
        return f"rate({self.every_minutes} minutes)"


JANITOR = Schedule(
    summary="Deletes targets whose time has passed", function="janitor", every_minutes=15
)
