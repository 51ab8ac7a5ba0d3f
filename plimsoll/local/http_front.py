"""The service on one machine: an HTTP server before a twin's function `api`.

Every request becomes the event that API Gateway would make of it, and the same function answers. A
token replaces signatures. The stream of events, which API Gateway lacks, comes from this server: it
reads what the function would read, and reports changes.
"""

import json
import re
import socket
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from werkzeug.wrappers import Request

from plimsoll.aws import clients
from plimsoll.aws.run_records import records_of
from plimsoll.complaints import Complaint
from plimsoll.console.config import ConsoleConfig
from plimsoll.console.live import POINTS, Cursor
from plimsoll.console.reading import RunReading
from plimsoll.console.stream import LIST_S, LOOK_S, Pace, stream_list, stream_run
from plimsoll.errors import RunNotFoundError, UsageError
from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.front import Front, Say, read_body
from plimsoll.local.rest_api import (
    BROKEN,
    TIMED_OUT,
    TOO_LONG_FOR_FUNCTION,
    HttpAnswer,
    build_proxy_event,
    read_proxy_answer,
)
from plimsoll.local.seconds import SecondsListener
from plimsoll.local.twin import LocalTwin
from plimsoll.model.deployment.function_settings import ApiSettings
from plimsoll.model.service.answers import RunSummary
from plimsoll.teams.caller import identify_caller
from plimsoll.teams.registry import list_teams
from plimsoll.workflow.listing import list_page, summarize_record


class LocalService(Front):
    """The HTTP front; as a context manager it ends with its block."""

    def __init__(
        self,
        twin: LocalTwin,
        *,
        token: str | None = None,
        listener: socket.socket | None = None,
        principal: str = PRINCIPAL,
        principal_header: str | None = None,
        function: str = "api",
        config: ConsoleConfig | None = None,
        say: Say = lambda _: None,
    ) -> None:
        """Listen.

        Args:
            twin: A running twin.
            token: See `Front`.
            listener: See `Front`.
            principal: The ARN of the caller.
            principal_header: A header that names another principal; for tests.
            function: The function that answers; tests use another.
            config: See `Front`.
            say: The function that receives a log line for each request.
        """
        behind = _Function(twin, function, principal, principal_header, say)
        super().__init__(behind, token=token, listener=listener, config=config, say=say)


class _Function:
    """Calls the function as API Gateway does, and reads its table and files for the events."""

    def __init__(
        self,
        twin: LocalTwin,
        function: str,
        principal: str,
        principal_header: str | None,
        say: Say,
    ) -> None:
        self._twin = twin
        self._seconds = SecondsListener(twin.directory)
        self._lambda = twin.client("lambda")
        self._function = function
        self._principal = principal
        self._principal_header = principal_header
        self._say = say

    def answer(self, request: Request, path: str) -> HttpAnswer:
        """Answer a call."""
        headers, body = request.headers, read_body(request)
        if isinstance(body, HttpAnswer):
            return body
        event = build_proxy_event(
            method=request.method,
            path=path,
            query=request.query_string.decode("latin-1"),
            headers=[header for header in headers if header[0] != "Authorization"],
            body=body,
            principal=self._principal_of(request),
            source_ip=request.remote_addr or "127.0.0.1",
            now=datetime.now(UTC),
        )
        return self._invoke(event)

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        """Stream the events of one run, or of the team's list.

        Raises:
            RunNotFoundError: The team has no such run.
            UsageError: A parameter is wrong.
        """
        clients.use_factory(self._twin.client)
        settings = ApiSettings.of_deployment(self._twin.settings)
        team = identify_caller(list_teams(settings), self._principal_of(request)).team
        run_id, points = request.args.get("run_id"), read_points(request)
        last = request.headers.get("Last-Event-ID")
        if run_id is None:
            return stream_list(partial(_list_runs, settings.runs_table, team), Pace(ended, LIST_S))
        if records_of(settings).get(run_id).team != team:
            raise RunNotFoundError(f"there is no run {run_id!r}")
        after = Cursor.parse(last or request.args.get("after"))
        reading = RunReading(settings, run_id)
        return self._stream_run(reading, after, points, Pace(ended, LOOK_S))

    def _stream_run(
        self, reading: RunReading, after: Cursor, points: int, pace: Pace
    ) -> Iterator[bytes]:
        with self._seconds.reading(reading.run_id) as seconds:
            yield from stream_run(
                lambda cursor: reading.live(cursor, points=points), after, pace, seconds=seconds
            )

    def _principal_of(self, request: Request) -> str:
        named = self._principal_header
        return self._principal if named is None else request.headers.get(named, self._principal)

    def _invoke(self, event: dict[str, Any]) -> HttpAnswer:
        try:
            response = self._lambda.invoke(
                FunctionName=self._function, Payload=json.dumps(event).encode()
            )
            payload = response["Payload"].read()
        except ReadTimeoutError:
            return TIMED_OUT
        except (BotoCoreError, ClientError) as error:
            if _is_too_large(error):
                return TOO_LONG_FOR_FUNCTION
            self._say(f"the function {self._function} could not be called: {error}")
            return BROKEN
        if "FunctionError" not in response:
            return read_proxy_answer(payload)
        self._say(
            f"the function {self._function} failed: {payload.decode(errors='replace')[:2000]}"
        )
        return TIMED_OUT if b"Task timed out" in payload else BROKEN


def _list_runs(table: str, team: str, most: int) -> list[RunSummary]:
    return [summarize_record(record) for record in list_page(table, team, limit=most).runs]


def read_points(request: Request) -> int:
    """Read the approximate number of bins that a whole series may have.

    Raises:
        UsageError: It is not a valid number.
    """
    text = request.args.get("points", str(POINTS))
    if not (re.fullmatch(r"[0-9]{1,4}", text) and 60 <= int(text) <= 2000):
        raise UsageError(Complaint(("points",), "is not a number from 60 to 2000", text[:20]))
    return int(text)


def _is_too_large(error: Exception) -> bool:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return code == "RequestTooLargeException"
