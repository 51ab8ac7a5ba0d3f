"""EventBridge: AWS's own events, and those put on a bus, go to the targets of matching rules.

The event of an execution:
https://docs.aws.amazon.com/step-functions/latest/dg/eventbridge-integration.html
"""

import datetime as dt
import json
import uuid
from typing import Any

from moto.events.models import Rule, events_backends
from moto.stepfunctions.parser.backend.execution import Execution

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.aws.deliveries import Deliveries, build_target_input
from plimsoll.local.replacing import replace_members


def build_status_event(execution: Execution) -> dict[str, Any]:
    """Describe an execution's change of state as EventBridge does."""
    now = dt.datetime.now(dt.UTC)
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": "Step Functions Execution Status Change",
        "source": "aws.states",
        "account": ACCOUNT,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "region": REGION,
        "resources": [execution.exec_arn],
        "detail": {
            "executionArn": execution.exec_arn,
            "stateMachineArn": execution.state_machine_arn,
            "name": execution.name,
            "status": execution.status,
            "startDate": int(execution.start_date.timestamp() * 1000),
            "stopDate": execution.stop_date and int(execution.stop_date.timestamp() * 1000),
            "input": json.dumps(execution.input_data),
            "output": execution.output,
            "error": execution.error,
            "cause": execution.cause,
        },
    }


class EventRules:
    """Matches events with rules; moto by itself knows neither functions nor topics as targets."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries

        def send_to_targets(rule: Rule, event: Any, transform_input: bool = True) -> None:
            del transform_input  # used by archives, which the twin does not have
            self._tell(rule, {**event, "time": _format_time(event["time"])})

        replace_members(Rule, send_to_targets=send_to_targets)

    def on_status_change(self, execution: Execution) -> None:
        """Send an execution's change of state to the targets of matching rules."""
        event: Any = build_status_event(execution)
        bus = events_backends[ACCOUNT][REGION].event_buses["default"]
        for rule in list(bus.rules.values()):
            self._tell(rule, event)

    def _tell(self, rule: Rule, event: Any) -> None:
        pattern = rule.event_pattern.get_pattern()
        if rule.state == "ENABLED" and pattern and rule.event_pattern.matches_event(event):
            for target in rule.targets:
                self._deliveries.deliver(target["Arn"], build_target_input(target, event))


def _format_time(given: Any) -> str:
    """Write an event's time as AWS does."""
    if isinstance(given, int | float):
        given = dt.datetime.fromtimestamp(given, dt.UTC)
    return given.strftime("%Y-%m-%dT%H:%M:%SZ") if isinstance(given, dt.datetime) else str(given)
