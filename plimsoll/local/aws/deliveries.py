"""Calls the targets of EventBridge and Scheduler: functions, state machines, topics, APIs."""

import json
import logging
import re
import threading
from collections.abc import Mapping
from typing import Any

from moto.stepfunctions.parser.utils import camel_to_snake_case

from plimsoll.local.account import REGION
from plimsoll.local.aws.corrections.clients import boto_client_for
from plimsoll.local.aws.corrections.integrations import to_request
from plimsoll.local.aws.lambda_invoke import Functions

LOG = logging.getLogger(__name__)
_PLACEHOLDER = re.compile(r'("?)<([A-Za-z0-9_.-]+)>("?)')


class Deliveries:
    """Delivers inputs to targets, each in a thread of its own."""

    def __init__(self, functions: Functions) -> None:
        self._functions = functions

    def deliver(self, arn: str, body: str) -> None:
        """Call a target.

        Args:
            arn: The ARN of a function, state machine or topic, or `...:aws-sdk:<service>:<action>`.
            body: The input, JSON.
        """
        threading.Thread(target=self._deliver, args=(arn, body), daemon=True).start()

    def _deliver(self, arn: str, body: str) -> None:
        try:
            if ":lambda:" in arn:
                self._functions.invoke_asynchronously(arn.split(":function:")[1], body.encode())
            elif ":stateMachine:" in arn:
                states = boto_client_for(REGION, "stepfunctions")
                states.start_execution(stateMachineArn=arn, input=body)
            elif ":sns:" in arn:
                boto_client_for(REGION, "sns").publish(TopicArn=arn, Message=body)
            elif ":aws-sdk:" in arn:
                _, service, action = arn.rsplit(":", 2)
                _call_api(service, action, json.loads(body))
            else:
                LOG.error("nothing here can be called at %s", arn)
        except Exception:
            LOG.exception("the call of %s with %s failed", arn, body)


def _call_api(service: str, action: str, members: dict[str, Any]) -> None:
    client = boto_client_for(REGION, service)
    method = camel_to_snake_case(action)
    operation = client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method])
    getattr(client, method)(**to_request(members, operation.input_shape))


def build_target_input(target: Mapping[str, Any], event: Mapping[str, Any]) -> str:
    """Build the input of a rule's target from an event.

    https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-transform-target-input.html
    """
    if "Input" in target:
        return str(target["Input"])
    if "InputTransformer" in target:
        transformer = target["InputTransformer"]
        paths = transformer.get("InputPathsMap", {})
        values = {name: _read_path(event, path) for name, path in paths.items()}

        def fill(placeholder: "re.Match[str]") -> str:
            value = values[placeholder[2]]
            quoted = bool(placeholder[1]) and isinstance(value, str)
            return (
                json.dumps(value)
                if quoted or not placeholder[1]
                else f"{placeholder[1]}{value}{placeholder[3]}"
            )

        return _PLACEHOLDER.sub(fill, transformer["InputTemplate"])
    return json.dumps(_read_path(event, target["InputPath"]) if "InputPath" in target else event)


def _read_path(event: Any, path: str) -> Any:
    for name in path.removeprefix("$").split("."):
        if name:
            event = event.get(name) if isinstance(event, Mapping) else None
    return event
