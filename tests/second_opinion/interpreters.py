"""Two interpreters of the States Language, each a process that ends with the check."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import boto3
from botocore.config import Config

from plimsoll.local.account import ACCOUNT, REGION, Keys
from plimsoll.local.databases.cassandra_program import find_java
from tests.second_opinion import environment_of_its_own as environment

ROOT = Path(__file__).parents[2]
_TIMEOUT_S = 400


def localstack_command() -> list[str]:
    """How LocalStack's interpreter is started."""
    options = {
        "account": ACCOUNT,
        "region": REGION,
        "java": find_java(),
        "jars": environment.jars(),
    }
    program = environment.PINNED / "localstack_states.py"
    given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [str(environment.python()), str(program), *given]


def twin_command() -> list[str]:
    """How the twin's interpreter is started."""
    return [sys.executable, "-m", "tests.second_opinion.twin_states"]


INTERPRETERS = {"twin": twin_command, "LocalStack": localstack_command}


class Interpreter:
    """A running interpreter.

    Attributes:
        url: Where it answers.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", url: str) -> None:
        self._process = process
        self.url = url

    def call_aws_at(self, url: str, keys: Keys | None = None) -> None:
        """Say where its states call AWS, and what they sign with; once, before all executions."""
        assert self._process.stdin is not None
        given = {"url": url, "keys": asdict(keys or Keys.random())}
        self._process.stdin.write(json.dumps(given).encode() + b"\n")
        self._process.stdin.flush()


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[Interpreter]:
    """Run an interpreter, and end it."""
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink, cwd=ROOT
        )
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line, f"it did not start:\n{log.read_text()[-2000:]}"
        yield Interpreter(process, f"http://127.0.0.1:{json.loads(line)['port']}")
    finally:
        process.kill()
        process.communicate()


class StepFunctions:
    """Step Functions' API at a URL."""

    def __init__(self, url: str) -> None:
        session: Any = boto3.session.Session(**Keys.random().session)
        config = Config(retries={"total_max_attempts": 1}, proxies={}, read_timeout=_TIMEOUT_S)
        self._client = session.client("stepfunctions", endpoint_url=url, config=config)

    def create(self, name: str, definition: str) -> str:
        """Make a machine; gives its ARN."""
        role = f"arn:aws:iam::{ACCOUNT}:role/states"
        made = self._client.create_state_machine(name=name, definition=definition, roleArn=role)
        return str(made["stateMachineArn"])

    def start(self, machine: str, name: str, given: Any) -> str:
        """Start an execution; gives its ARN."""
        started = self._client.start_execution(
            stateMachineArn=machine, name=name, input=json.dumps(given)
        )
        return str(started["executionArn"])

    def carried(self, execution: str) -> list[int]:
        """Measure what entered and left each state of an execution, in bytes."""
        pages = self._client.get_paginator("get_execution_history")
        events = [e for p in pages.paginate(executionArn=execution) for e in p["events"]]
        details = [
            event[kind] for event in events for kind in event if kind.endswith("EventDetails")
        ]
        return [
            len(detail[part].encode())
            for detail in details
            for part in ("input", "output", "parameters")
            if part in detail
        ]

    def wait(self, execution: str) -> dict[str, Any]:
        """Wait until an execution has ended; describe it."""
        deadline = time.monotonic() + _TIMEOUT_S
        while time.monotonic() < deadline:
            described: dict[str, Any] = self._client.describe_execution(executionArn=execution)
            if described["status"] != "RUNNING":
                return described
            time.sleep(0.2)
        raise AssertionError(f"{execution} still runs")
