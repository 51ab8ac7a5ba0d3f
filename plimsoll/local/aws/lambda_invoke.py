"""Lambda's Invoke, carried out by sandboxes.

https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html; asynchronous retries:
https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
"""

import base64
import json
import logging
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from moto.awslambda.exceptions import LambdaClientError
from moto.awslambda.models import LambdaFunction, lambda_backends

from plimsoll.local.account import ACCOUNT, REGION
from plimsoll.local.lambdas.invocation import (
    MAX_ASYNCHRONOUS_BYTES,
    MAX_RESPONSE_BYTES,
    MAX_SYNCHRONOUS_BYTES,
    FunctionSpec,
    InvocationAnswer,
)
from plimsoll.local.lambdas.sandboxes import SandboxPool
from plimsoll.local.leftovers import IN_MEMORY
from plimsoll.local.replacing import replace_members
from plimsoll.local.room import read_free_disk_bytes
from plimsoll.process_limits import name_low_limits

LOG = logging.getLogger(__name__)
_FULL_BYTES = 2**20
_TOO_LARGE = json.dumps(
    {
        "errorType": "Function.ResponseSizeTooLarge",
        "errorMessage": "Response payload size exceeded maximum allowed payload size"
        f" ({MAX_RESPONSE_BYTES} bytes).",
    }
).encode()


class RequestTooLargeError(LambdaClientError):
    """The payload exceeds the limit of its kind of invocation."""

    code = 413

    def __init__(self, limit_bytes: int) -> None:
        message = f"Request must be smaller than {limit_bytes} bytes"
        super().__init__("RequestTooLargeException", message)


class Functions:
    """Runs moto's functions in sandboxes."""

    def __init__(
        self,
        pool: SandboxPool,
        task_roots: Mapping[str, Path],
        retry_delay_s: float = 60.0,
        home: Path | None = None,
    ) -> None:
        """Replace moto's containers.

        Args:
            pool: The sandboxes that run invocations.
            task_roots: Folder of each function's handler, by function name.
            retry_delay_s: Seconds before the first retry of a failed asynchronous invocation; the
                second waits twice as long, as on AWS.
            home: The twin's folder, whose full disk failures mention; None to skip that check.
        """
        self._pool = pool
        self._task_roots = dict(task_roots)
        self._retry_delay_s = retry_delay_s
        self._homes = [path for path in (home, home and home / IN_MEMORY) if path]
        self._closed = threading.Event()

        def invoke(function: LambdaFunction, body: Any, request: Any, response: Any) -> bytes:
            return self._respond(function, body, request, response)

        replace_members(LambdaFunction, invoke=invoke)

    def spec(self, name: str) -> FunctionSpec:
        """Describe a deployed function."""
        return self._find_spec(lambda_backends[ACCOUNT][REGION].get_function(name))

    def invoke_asynchronously(self, name: str, payload: bytes) -> None:
        """Invoke as EventBridge and Scheduler do, with retries."""
        function = lambda_backends[ACCOUNT][REGION].get_function(name)
        threading.Thread(target=self._attempt, args=(function, payload), daemon=True).start()

    def close(self) -> None:
        """Stop retrying."""
        self._closed.set()

    def _respond(
        self,
        function: LambdaFunction,
        body: Any,
        request: Mapping[str, str],
        response: dict[str, str],
    ) -> bytes:
        payload = (body.encode() if isinstance(body, str) else body) or b"{}"
        kind = request.get("X-Amz-Invocation-Type", "RequestResponse")
        limit = MAX_ASYNCHRONOUS_BYTES if kind == "Event" else MAX_SYNCHRONOUS_BYTES
        if len(payload) > limit:
            raise RequestTooLargeError(limit)
        if kind == "Event":
            threading.Thread(target=self._attempt, args=(function, payload), daemon=True).start()
            return b""
        answer = self._with_cause(self._pool.invoke(self._find_spec(function), payload))
        if len(answer.payload) > MAX_RESPONSE_BYTES:
            answer = InvocationAnswer(_TOO_LARGE, failed=True)
        if answer.failed:
            response["x-amz-function-error"] = "Unhandled"
        response["x-amz-log-result"] = base64.b64encode(b"").decode()
        return answer.payload

    def _with_cause(self, answer: InvocationAnswer) -> InvocationAnswer:
        """Add to a failure that this machine's disk is full, or that limits are low."""
        if not answer.failed:
            return answer
        for home in self._homes:
            if home.is_dir() and read_free_disk_bytes(home) < _FULL_BYTES:
                return _add_cause(
                    answer, f"no space left in {home.resolve()} for databases and logs"
                )
        limits = name_low_limits()
        return _add_cause(answer, f"low limits: {limits}") if limits else answer

    def _attempt(self, function: LambdaFunction, payload: bytes) -> None:
        retries = _count_retries(function)
        for attempt in range(retries + 1):
            answer: InvocationAnswer = self._pool.invoke(self._find_spec(function), payload)
            if not answer.failed:
                return
            LOG.warning("%s failed: %s", function.function_name, answer.payload.decode())
            if attempt < retries and self._closed.wait(self._retry_delay_s * (attempt + 1)):
                return

    def _find_spec(self, function: LambdaFunction) -> FunctionSpec:
        name = function.function_name
        return FunctionSpec(
            name=name,
            arn=function.function_arn,
            task_root=self._task_roots[name],
            handler=str(function.handler),
            timeout_s=float(function.timeout),
            memory_mib=int(function.memory_size),
            environment=tuple(sorted(function.environment_vars.items())),
        )


def _count_retries(function: LambdaFunction) -> int:
    """Return how often a failed asynchronous invocation is retried: twice by AWS's default."""
    for configuration in function.event_invoke_config:
        if "MaximumRetryAttempts" in configuration.config:
            return int(configuration.config["MaximumRetryAttempts"])
    return 2


def _add_cause(answer: InvocationAnswer, told: str) -> InvocationAnswer:
    error = json.loads(answer.payload)
    error["errorMessage"] = f"{told}: {error.get('errorMessage')}"
    return InvocationAnswer(json.dumps(error).encode(), failed=True)
