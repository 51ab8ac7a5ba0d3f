"""One machine as AWS: the same state machines, the same functions, the same target template."""

import os
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import boto3
import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.local.account import RDS_CA_FILE, Keys
from plimsoll.local.aws.process import AwsProcess, require_whole_answers
from plimsoll.local.deploying import Deployer, make_default_settings, state_machine_arn
from plimsoll.local.leftovers import IN_MEMORY, remove_databases
from plimsoll.machine import require_set_clock
from plimsoll.model.deployment.functions import FUNCTIONS, Function, Setting
from plimsoll.model.deployment.rules import EXECUTION_RULES, JANITOR, RUN_ENDED
from plimsoll.packaged import find_packaged_folder, require_extra
from plimsoll.process_limits import name_low_limits
from plimsoll.statemachines import FOLDER
from plimsoll.volumes import EmulatedVolume
from plimsoll.workflow.client import FILE, VARIABLE

MEMORY_SCALE = 1 / 128
# botocore's variables: no profile, and no settings of this machine's user, are read.
_NO_PROFILE: Any = {
    "profile": (None, None, None, None),
    "config_file": (None, None, os.devnull, None),
    "credentials_file": (None, None, os.devnull, None),
}

_PACKAGES = ("moto", "jsonata", "awslambdaric", "werkzeug")


def check_machine() -> None:
    """See that a twin can run here.

    Raises:
        UsageError: This is not Linux.
        MissingToolError: The packages for it are not installed.
        PlimsollError: This machine's clock was never set.
    """
    require_set_clock()
    if sys.platform != "linux":
        raise UsageError("--local needs Linux: on another system, use a Linux VM or container")
    require_extra("local", _PACKAGES, user="the stand-in for AWS")


@dataclass(frozen=True)
class RunningDatabase:
    """A running database instance, to be watched or made to fail.

    Attributes:
        identifier: The DB instance's identifier.
        host: 127.0.0.1.
        port: TCP port.
        pid: Process id of the server.
        directory: The folder under its emulated volume.
    """

    identifier: str
    host: str
    port: int
    pid: int
    directory: Path

    @property
    def volume(self) -> EmulatedVolume:
        """Open its volume, to sample it or to inject a fault; close it after use."""
        return EmulatedVolume.open(self.directory)

    def kill(self) -> None:
        """Kill the server, as a power cut would."""
        os.kill(self.pid, signal.SIGKILL)


class LocalTwin:
    """The stand-in for AWS, with everything that a run needs deployed.

    Attributes:
        directory: The twin's folder; logs are in `logs/`.
        keys: The keys with which callers sign; each twin has new ones.
    """

    def __init__(
        self,
        directory: Path,
        *,
        functions: Mapping[str, Function] = FUNCTIONS,
        functions_directory: Path | None = None,
        state_machines_directory: Path = FOLDER,
        settings: Mapping[Setting, str] | None = None,
        retry_delay_s: float = 60.0,
        memory_scale: float = MEMORY_SCALE,
        step_functions_url: str | None = None,
        metrics_late_s: float = 0,
    ) -> None:
        """Prepare a twin; `start` (or `with`) starts it.

        Args:
            directory: A folder of its own; emptied of what an earlier twin left.
            functions: The function table.
            functions_directory: One folder per function; None for those that come with Plimsoll.
            state_machines_directory: `*.asl.json`.
            settings: Merged over `make_default_settings()`.
            retry_delay_s: Before a failed asynchronous invocation is repeated.
            memory_scale: This machine's memory for one unit of an instance class's: a db.m5.large
                (8 GiB) gets 64 MiB by default, of which RDS's default gives the buffer pool 48.
            step_functions_url: Another server on this machine that answers Step Functions' API, and
                whose states call this twin; None for the twin's own. For tests.
            metrics_late_s: How long after a period's end a target's metrics are in CloudWatch.
        """
        self.directory = directory.resolve()
        # The link to the folder in memory is gone when databases are removed, if the home is.
        self._homes = (self.directory, (self.directory / IN_MEMORY).resolve())
        self.keys = Keys.random()
        self._functions = functions
        self._functions_directory = functions_directory or find_packaged_folder("functions")
        self._state_machines_directory = state_machines_directory
        ca_file = {Setting.RDS_CA_FILE: str(self.directory / RDS_CA_FILE)}
        self._settings = {**make_default_settings(), **ca_file, **(settings or {})}
        self._retry_delay_s = retry_delay_s
        self._memory_scale = memory_scale
        self._step_functions_url = step_functions_url
        self._metrics_late_s = metrics_late_s
        self._aws: AwsProcess | None = None
        self._session: Any = None  # boto3's types know a service's name only as a literal
        self._clients: dict[str, Any] = {}
        self._lock = threading.Lock()

    def start(self) -> Self:
        """Start the stand-in for AWS and deploy.

        Raises:
            UsageError: This is not Linux, or the folder is another twin's.
            MissingToolError: The packages for it are not installed.
            PlimsollError: It did not start.
        """
        check_machine()
        roots = {
            name: self._functions_directory / function.folder
            for name, function in self._functions.items()
        }
        self._aws = AwsProcess(
            self.directory,
            roots,
            self.keys,
            retry_delay_s=self._retry_delay_s,
            memory_scale=self._memory_scale,
            results_bucket=self._settings[Setting.RESULTS_BUCKET],
            step_functions_url=self._step_functions_url,
            metric_period_s=int(self._settings[Setting.METRIC_PERIOD_SECONDS]),
            metrics_late_s=self._metrics_late_s,
            environment={VARIABLE: str(self.directory / FILE)},
        )
        try:
            self._deploy()
        except BaseException as error:
            why = self._explain(error)
            self.close()
            if why is not None:
                raise PlimsollError(why) from None
            raise
        return self

    def _deploy(self) -> None:
        """Deploy what the table of functions and the folder of state machines allow."""
        deployer = Deployer(self.client, self._settings)
        deployer.storage()
        deployer.functions(self._functions)
        machines = deployer.state_machines(self._state_machines_directory, self._functions)
        for rule in EXECUTION_RULES:
            if {rule.machine, rule.starts} <= set(machines):
                deployer.execution_rule(rule)
        if RUN_ENDED.function in self._functions:
            deployer.function_rule(RUN_ENDED)
        if JANITOR.function in self._functions:
            deployer.schedule(JANITOR)

    @property
    def endpoint_url(self) -> str:
        """Where AWS's APIs answer."""
        return f"http://127.0.0.1:{self._running.port}"

    @property
    def alive(self) -> bool:
        """Whether the stand-in for AWS still runs."""
        return self._aws is not None and self._aws.alive

    @property
    def settings(self) -> Mapping[Setting, str]:
        """The settings that the deployment gives its functions."""
        return self._settings

    def client(self, service: str) -> Any:
        """Return the boto3 client of a service; one for all threads."""
        with self._lock:
            if self._session is None:  # one for all: it keeps the models that it has read
                self._session = boto3.session.Session(
                    botocore_session=botocore.session.Session(_NO_PROFILE), **self.keys.session
                )
            if service not in self._clients:
                client = self._session.client(
                    service,
                    endpoint_url=self.endpoint_url,
                    config=Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=1000),
                )
                require_whole_answers(client)
                self._clients[service] = client
            return self._clients[service]

    def state_machine_arn(self, name: str) -> str:
        """Return the ARN of a state machine by its file's name."""
        return state_machine_arn(name)

    def invocations(self) -> list[dict[str, Any]]:
        """List what runs now: function, request_id, pid."""
        answer: list[dict[str, Any]] = self._running.ask("invocations")
        return answer

    @property
    def databases(self) -> dict[str, RunningDatabase]:
        """The running database instances by identifier."""
        return {
            row["identifier"]: RunningDatabase(
                identifier=row["identifier"],
                host=row["host"],
                port=row["port"],
                pid=row["pid"],
                directory=Path(row["directory"]),
            )
            for row in self._running.ask("databases")
        }

    def protect(self, identifier: str, *, protected: bool = True) -> None:
        """Have RDS refuse to delete a running instance, or let go of it again.

        Raises:
            PlimsollError: There is none of this name.
        """
        self._running.ask("protect", identifier=identifier, protected=protected)

    def warm(self, function: str, count: int) -> None:
        """Have at least `count` sandboxes of a function; they get ready in the background."""
        self._running.ask("warm", function=function, count=count)

    def close(self) -> None:
        """End everything: databases, sandboxes, the stand-in itself."""
        if self._aws is not None:
            self._aws.close()
            self._aws = None
            for home in self._homes:
                remove_databases(home / "databases")  # left by a killed twin
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
        why = self._explain(error)
        self.close()
        if why is not None:
            raise PlimsollError(why) from None

    def _explain(self, error: BaseException | None) -> str | None:
        """Say why a call of AWS failed if the stand-in has ended, or may lack what it needs."""
        if self._aws is None or not isinstance(error, BotoCoreError | ClientError):
            return None
        if isinstance(error, BotoCoreError) and (why := self._aws.explain_end()) is not None:
            return f"the local stand-in for AWS has ended ({why}), and with it all that ran there"
        limits = name_low_limits()
        return (
            f"the local stand-in for AWS failed: low limits: {limits}: {error}" if limits else None
        )
