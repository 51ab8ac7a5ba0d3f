"""What happens by itself in a deployment: rules on events, the janitor's schedule, topics, groups.

`stacks/` makes them on AWS and `plimsoll/local/` on one machine, both from what stands here.
"""

from typing import Any

from plimsoll.model.base import Model
from plimsoll.model.deployment.events import SOURCE, RunEnded

BUS_NAME = "plimsoll"
# groups of EventBridge Scheduler's schedules
DELETIONS_GROUP = "plimsoll-deletions"  # each deletes a target at the end of its run's time
CHECKS_GROUP = "plimsoll-checks"  # each starts a check


class Topic(Model):
    """A topic of SNS, for people and programs."""

    name: str
    display_name: str


ALARMS_TOPIC = Topic(name="alarms", display_name="Plimsoll")
EVENTS_TOPIC = Topic(name="events", display_name="Plimsoll events")


class BusRule(Model):
    """Which events of Plimsoll's own bus are passed on."""

    summary: str
    detail_types: tuple[str, ...] = ()  # empty: every event

    @property
    def pattern(self) -> dict[str, Any]:
        """The pattern of EventBridge."""
        kinds = {"detail-type": list(self.detail_types)} if self.detail_types else {}
        return {"source": [SOURCE], **kinds}


class TopicRule(BusRule):
    """Events that are published to a topic."""

    topic: Topic


class FunctionRule(BusRule):
    """Events that a function is called with."""

    function: str


EVERY_EVENT = TopicRule(summary="Every event of Plimsoll, as JSON", topic=EVENTS_TOPIC)
RUN_ENDED = FunctionRule(
    summary="A run has ended: the check that it belongs to is judged",
    detail_types=(RunEnded.detail_type,),
    function="judge-check",
)

# how an execution ends that has caught nothing: its own `Catch` sees no abort and no time-out
ENDS_WITHOUT_CATCH = ("FAILED", "ABORTED", "TIMED_OUT")


class ExecutionRule(Model):
    """Executions of one state machine whose end starts an execution of another one."""

    summary: str
    machine: str  # whose executions end
    starts: str  # the machine that is started
    identifier: str  # what its input calls the ended execution's name
    statuses: tuple[str, ...] = ENDS_WITHOUT_CATCH

    def pattern(self, machine_arn: str) -> dict[str, Any]:
        """Give the pattern of EventBridge.

        The children of a Distributed Map have another ARN there, and do not match.
        """
        return {
            "source": ["aws.states"],
            "detail-type": ["Step Functions Execution Status Change"],
            "detail": {"stateMachineArn": [machine_arn], "status": list(self.statuses)},
        }

    @property
    def input_paths(self) -> dict[str, str]:
        """The input of the machine that is started: where each field stands in the event."""
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
    """A function that is called again and again."""

    summary: str
    function: str
    every_minutes: int

    @property
    def expression(self) -> str:
        """The expression of EventBridge."""
        return f"rate({self.every_minutes} minutes)"


JANITOR = Schedule(
    summary="Deletes targets whose time has passed", function="janitor", every_minutes=15
)
