"""One machine as AWS: the same state machines, the same functions, the same target template."""

import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
from botocore.config import Config

import plimsoll
from plimsoll.local.aws.names import NO_ACCOUNT
from plimsoll.local.aws.process import AwsProcess
from plimsoll.local.deployment import Deployment, default_settings, state_machine_arn
from plimsoll.model.functions import FUNCTIONS, Function, Setting

_ROOT = Path(plimsoll.__file__).parents[1]
_JANITOR_MINUTES = 15


class LocalTwin:
    """The stand-in for AWS, with everything that a run needs deployed.

    Attributes:
        directory: Its folder; logs are in `logs/`.
    """

    def __init__(
        self,
        directory: Path,
        *,
        functions: Mapping[str, Function] = FUNCTIONS,
        functions_directory: Path = _ROOT / "functions",
        state_machines_directory: Path = _ROOT / "statemachines",
        settings: Mapping[Setting, str] | None = None,
        retry_delay_s: float = 60.0,
    ) -> None:
        """Prepare a twin; `start` (or `with`) starts it.

        Args:
            directory: A folder of its own; emptied of what an earlier twin left.
            functions: The function table.
            functions_directory: One folder per function.
            state_machines_directory: `*.asl.json`.
            settings: Merged over `default_settings()`.
            retry_delay_s: Before a failed asynchronous invocation is repeated.
        """
        self.directory = directory.resolve()
        self._functions = functions
        self._functions_directory = functions_directory
        self._state_machines_directory = state_machines_directory
        self._settings = {**default_settings(), **(settings or {})}
        self._retry_delay_s = retry_delay_s
        self._aws: AwsProcess | None = None
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def start(self) -> Self:
        """Start the stand-in for AWS and deploy.

        Raises:
            PlimsollError: It did not start.
        """
        roots = {
            name: self._functions_directory / function.folder
            for name, function in self._functions.items()
        }
        self._aws = AwsProcess(self.directory, roots, retry_delay_s=self._retry_delay_s)
        try:
            self._deploy()
        except BaseException:
            self.close()
            raise
        return self

    def _deploy(self) -> None:
        deployment = Deployment(self.client, self._settings)
        deployment.storage()
        deployment.functions(self._functions)
        machines = deployment.state_machines(self._state_machines_directory, self._functions)
        if {"run", "teardown"} <= set(machines):
            deployment.teardown_rule(machine="run", teardown="teardown")
        if "janitor" in self._functions:
            deployment.janitor("janitor", _JANITOR_MINUTES)

    @property
    def endpoint_url(self) -> str:
        """Where AWS's APIs answer."""
        return f"http://127.0.0.1:{self._running.port}"

    @property
    def settings(self) -> Mapping[Setting, str]:
        """What the deployment tells its functions."""
        return self._settings

    def client(self, service: str) -> Any:
        """Give the boto3 client of a service; one for all threads."""
        with self._lock:
            if service not in self._clients:
                # its types know a service's name only as a literal
                session: Any = boto3.session.Session(**NO_ACCOUNT)
                self._clients[service] = session.client(
                    service,
                    endpoint_url=self.endpoint_url,
                    config=Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=1000),
                )
            return self._clients[service]

    def state_machine_arn(self, name: str) -> str:
        """Give the ARN of a state machine by its file's name."""
        return state_machine_arn(name)

    def invocations(self) -> list[dict[str, Any]]:
        """List what runs now: function, request_id, pid."""
        answer: list[dict[str, Any]] = self._running.ask("invocations")
        return answer

    def warm(self, function: str, count: int) -> None:
        """Have at least `count` sandboxes of a function; they get ready in the background."""
        self._running.ask("warm", function=function, count=count)

    def close(self) -> None:
        """End everything: databases, sandboxes, the stand-in itself."""
        if self._aws is not None:
            self._aws.close()
            self._aws = None
        self._clients.clear()

    @property
    def _running(self) -> AwsProcess:
        assert self._aws is not None, "the twin has not been started"  # noqa: S101
        return self._aws

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
