"""A stand-in for all that the workflow calls: it answers by a script and writes down each call.

One server serves every scenario at once: the id of the run or experiment in each payload is the
scenario's name. `@` in the id of an answer stands for that name; a cell's run is `@--cell`.
"""

import http.server
import json
import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import unquote

from tests.support.token_bucket import TokenBucket

WRITTEN = "failures"  # what is called to write a file of a run's failures
_ITEMS = ("client", "cell", "name")  # members of a payload that say which item of a Map it is for


@dataclass(frozen=True)
class Failed:
    """A function that ended with an error of its own; without a type it names none."""

    error: str | None
    message: str = "it went wrong"


@dataclass(frozen=True)
class Raised:
    """A function's error, with all that it said of it."""

    told: Any


@dataclass(frozen=True)
class Refused:
    """A call that AWS refuses before anything is done."""

    code: str
    status: int
    message: str = "not now"


THROTTLED = Refused("TooManyRequestsException", 429)
SERVICE_FAULT = Refused("ServiceException", 500)


@dataclass(frozen=True)
class Starts:
    """A function whose environments are started by a token bucket, all of them before a barrier.

    A call beyond it is refused, and not written down: how many there are is chance.

    Attributes:
        at_once: How many are started at once.
        per_s: How many more each second.
        lead_s: Seconds from the first call to the barrier, after which a client comes too late.
    """

    at_once: float
    per_s: float
    lead_s: float


@dataclass(frozen=True)
class Ended:
    """How an execution that the workflow started has ended."""

    status: str
    error: str | None = None
    cause: str | None = None


Answer = Any  # JSON, or one of the above
# By function, `function:item` for one item of a Map, or `function:item:step` where items of several
# steps run at once: the answers in order (the last is repeated; each counts its own), or how to
# answer.
Script = Mapping[str, Sequence[Answer] | Callable[[Any], Answer]]


@dataclass(frozen=True)
class Call:
    """One call of the workflow.

    Attributes:
        name: Function, machine or bus.
        payload: What it was called with.
    """

    name: str
    payload: Any

    @property
    def item(self) -> object:
        """Which item of a Map it is for: a client, a part's share, a cell; None outside."""
        if self.name == WRITTEN:
            return self.payload["key"]
        if self.name == "load-dataset":
            return self.payload["part"]["share"]
        return next((self.payload[key] for key in _ITEMS if key in self.payload), None)

    @property
    def step(self) -> object:
        """Which step it is for; None outside."""
        return self.payload.get("step") if isinstance(self.payload, dict) else None


class ScriptedAws:
    """Answers on a port of this machine until it is closed.

    Attributes:
        url: Where.
    """

    def __init__(self, scripts: Mapping[str, Script]) -> None:
        self._scripts = scripts
        self._calls: dict[str, list[Call]] = defaultdict(list)
        self._asked: dict[tuple[str, str], int] = defaultdict(int)
        self._ended: dict[str, Ended] = {}
        self._buckets: dict[str, TokenBucket] = {}
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.scripted = self
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def calls(self, scenario: str) -> list[Call]:
        """What a scenario has called, in order."""
        with self._lock:
            return list(self._calls[scenario])

    def call(self, name: str, payload: Any, run_id: str) -> Answer:
        """Write a call down and answer it by its scenario's script."""
        scenario = run_id.split("--", maxsplit=1)[0]
        call = Call(name, payload)
        with self._lock:
            self._calls[scenario].append(call)
            script = self._scripts[scenario]
            key = f"{name}:{call.item}"
            if (of_step := f"{key}:{call.step}") in script:
                key = of_step
            number = self._asked[scenario, key]
            self._asked[scenario, key] += 1
        answers = script.get(key, script[name])
        last = len(answers) - 1 if isinstance(answers, Sequence) else 0
        answer = answers(payload) if callable(answers) else answers[min(number, last)]
        if isinstance(answer, Starts):
            return self._start(scenario, call, answer)
        if isinstance(answer, dict) and "run_id" in answer:
            return {**answer, "run_id": answer["run_id"].replace("@", scenario)}
        return answer

    def _start(self, scenario: str, call: Call, starts: Starts) -> Answer:
        """Answer a call whose function needs an environment of its own."""
        now_s = time.monotonic()
        with self._lock:
            bucket = self._buckets.setdefault(
                scenario, TokenBucket(starts.at_once, starts.per_s, now_s)
            )
            if not bucket.take(now_s):
                self._calls[scenario].remove(call)
                return THROTTLED
        late = now_s - bucket.since_s > starts.lead_s
        return Failed("ClientTooLateError", "the window is half over") if late else None

    def start(self, arn: str, name: str, given: Any) -> Answer:
        """Answer StartExecution."""
        answer = self.call(arn.rsplit(":", maxsplit=1)[-1], {"name": name, "input": given}, name)
        if isinstance(answer, Refused):
            return answer
        execution = f"{arn.replace(':stateMachine:', ':execution:')}:{name}"
        self._ended[execution] = answer
        return {"executionArn": execution, "startDate": 0}

    def describe(self, execution: str) -> Answer:
        """Answer DescribeExecution: whatever was started has ended."""
        ended = self._ended[execution]
        machine, name = execution.split(":")[-2:]
        answer = {
            "executionArn": execution,
            "stateMachineArn": execution.rpartition(":")[0].replace(
                ":execution:", ":stateMachine:"
            ),
            "name": name,
            "status": ended.status,
            "startDate": 0,
            "stopDate": 1,
            "input": json.dumps({"of": machine}),
            "inputDetails": {"included": True},
        }
        if ended.status == "SUCCEEDED":
            return {**answer, "output": "{}", "outputDetails": {"included": True}}
        return {**answer, "error": ended.error, "cause": ended.cause}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024
    scripted: ScriptedAws


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_PUT(self) -> None:
        """Answer S3's PutObject: a file of a run, `/bucket/runs/<run id>/...`."""
        failure = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        _, bucket, path = unquote(self.path).split("?")[0].split("/", 2)
        payload = {"bucket": bucket, "key": path, "failure": failure}
        answer = self.server.scripted.call(WRITTEN, payload, path.split("/")[1])
        if isinstance(answer, Refused):
            refusal = (
                f"<Error><Code>{answer.code}</Code><Message>{answer.message}</Message></Error>"
            )
            self._send(answer.status, {}, refusal.encode())
        else:
            self._send(200, {}, b"")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        scripted = self.server.scripted
        if invoked := re.fullmatch(r"/2015-03-31/functions/(.+)/invocations", self.path):
            name = unquote(invoked[1]).split(":")[-1]
            payload = json.loads(body or b"{}")
            run_id = payload.get("run_id") or payload.get("experiment_id", "")
            self._answer(scripted.call(name, payload, run_id))
            return
        given = json.loads(body)
        operation = self.headers["X-Amz-Target"].split(".")[-1]
        if operation == "StartExecution":
            arn, name = given["stateMachineArn"], given["name"]
            self._answer(scripted.start(arn, name, json.loads(given["input"])))
        elif operation == "DescribeExecution":
            self._answer(scripted.describe(given["executionArn"]))
        elif operation == "PutEvents":
            self._put_events(given["Entries"])
        else:
            self._answer(Refused("UnknownOperationException", 400, operation))

    def _put_events(self, entries: list[dict[str, Any]]) -> None:
        answer: Answer = {"FailedEntryCount": 0, "Entries": [{"EventId": "e"} for _ in entries]}
        for entry in entries:
            if entry["Source"] == "aws.states":  # an execution's own change of status
                continue
            detail = json.loads(entry["Detail"])
            told = {**entry, "Detail": detail}
            scripted = self.server.scripted.call(entry["EventBusName"], told, detail["run_id"])
            answer = scripted if isinstance(scripted, Refused) else answer
        self._answer(answer)

    def _answer(self, answer: Answer) -> None:
        status, headers, body = 200, {}, answer
        if isinstance(answer, Refused):
            status, headers = answer.status, {"x-amzn-ErrorType": answer.code}
            body = {"__type": answer.code, "message": answer.message}
        elif isinstance(answer, Raised):
            headers, body = {"X-Amz-Function-Error": "Unhandled"}, answer.told
        elif isinstance(answer, Failed):
            headers = {"X-Amz-Function-Error": "Unhandled"}
            body = {"errorMessage": answer.message, "errorType": answer.error, "stackTrace": []}
            if answer.error is None:
                del body["errorType"]
        headers["Content-Type"] = "application/json"
        self._send(status, headers, json.dumps(body).encode())

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in {
            **headers,
            "x-amzn-RequestId": "r",
            "X-Amz-Executed-Version": "$LATEST",
        }.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the calls are written down."""
