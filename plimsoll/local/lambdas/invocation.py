"""One invocation of a function, and its result in the form that Lambda gives it."""

import json
import threading
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html (read 2026-11)
MAX_SYNCHRONOUS_BYTES = 6 * 1024 * 1024
MAX_ASYNCHRONOUS_BYTES = 256 * 1024
MAX_RESPONSE_BYTES = 6_291_556  # the limit in Lambda's own error message


@dataclass(frozen=True)
class FunctionSpec:
    """What a sandbox needs to know of a function.

    Attributes:
        name: Name of the function.
        arn: ARN of the function.
        task_root: Folder with its handler's module.
        handler: `module.function`.
        timeout_s: The time-out of one invocation.
        memory_mib: The memory that the function believes to have; not enforced.
        environment: The function's own variables.
    """

    name: str
    arn: str
    task_root: Path
    handler: str
    timeout_s: float
    memory_mib: int
    environment: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class InvocationAnswer:
    """What the caller gets: the payload, and whether it is an error's."""

    payload: bytes
    failed: bool = False


@dataclass
class Invocation:
    """One invocation.

    Attributes:
        payload: The event, JSON.
        timeout_s: The time-out, from the moment at which the handler gets it.
        deadline_epoch_ms: The time at which that ends; 0 until the handler has it.
        delivered: Event that is set when the handler has it.
        done: Event that is set when there is an answer.
    """

    function_arn: str
    payload: bytes
    timeout_s: float
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    deadline_epoch_ms: int = 0
    answer: InvocationAnswer | None = None
    delivered: threading.Event = field(default_factory=threading.Event)
    done: threading.Event = field(default_factory=threading.Event)

    def deliver(self) -> None:
        """Start the time-out."""
        self.deadline_epoch_ms = int((time.time() + self.timeout_s) * 1000)
        self.delivered.set()

    @property
    def delivered_to_handler(self) -> bool:
        """Whether the handler has received it, whatever the outcome."""
        return self.deadline_epoch_ms > 0

    def finish(self, answer: InvocationAnswer) -> None:
        """Set its answer; the first one counts."""
        if self.answer is None:
            self.answer = answer
        self.delivered.set()
        self.done.set()

    def fail(self, error_type: str, message: str) -> None:
        """End it with an error of Lambda's own, not of the handler."""
        text = f"RequestId: {self.request_id} Error: {message}"
        body = json.dumps({"errorType": error_type, "errorMessage": text})
        self.finish(InvocationAnswer(body.encode(), failed=True))


def describe_exit(status: int) -> str:
    """Describe how a runtime ended, in Lambda's words.

    Args:
        status: Exit code, negative for the signal that ended it.
    """
    if status == 0:
        return "Runtime exited without providing a reason"
    if status < 0:
        names = {9: "killed", 11: "segmentation fault", 6: "aborted", 15: "terminated"}
        return f"Runtime exited with error: signal: {names.get(-status, str(-status))}"
    return f"Runtime exited with error: exit status {status}"
