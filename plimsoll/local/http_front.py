"""The service on one machine: an HTTP front before a twin's function `api`.

Every request becomes the event that API Gateway would make of it, and the very same function
answers. In place of signatures there is a token. The front listens on 127.0.0.1 alone, and answers
no page of a browser, token or not.
"""

import hmac
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError, ReadTimeoutError
from werkzeug.exceptions import ClientDisconnected, HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from plimsoll import words
from plimsoll.local.callers import is_of_a_page
from plimsoll.local.deploying import PRINCIPAL
from plimsoll.local.rest_api import (
    BROKEN,
    MAX_BODY_BYTES,
    TIMED_OUT,
    TOO_LONG,
    TOO_LONG_FOR_FUNCTION,
    Answer,
    proxy_answer,
    proxy_event,
    refusal,
)
from plimsoll.local.twin import LocalTwin

Say = Callable[[str], None]


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        """Log nothing: the application logs each request itself."""

    def log(self, *_: object) -> None:
        """Log nothing: a caller that goes away is no error."""


def listen(port: int) -> socket.socket:
    """Take a port of 127.0.0.1; 0: a free one.

    Raises:
        OSError: It is taken.
    """
    return socket.create_server(("127.0.0.1", port), backlog=128)


class LocalService:
    """The HTTP front; as a context manager it ends with its block.

    Attributes:
        port: Where it listens, on 127.0.0.1.
    """

    def __init__(
        self,
        twin: LocalTwin,
        *,
        token: str | None = None,
        listener: socket.socket | None = None,
        principal: str = PRINCIPAL,
        principal_header: str | None = None,
        function: str = "api",
        say: Say = lambda _: None,
    ) -> None:
        """Listen.

        Args:
            twin: Running.
            token: Every call carries it (`Authorization: Bearer ...`); None: whoever has an account
                on this machine may call.
            listener: Where to answer, on 127.0.0.1; None: at a free port.
            principal: The ARN of who calls.
            principal_header: A header that names another principal; for tests.
            function: The function that answers; tests use another.
            say: Takes a line for each request.
        """
        self._lambda = twin.client("lambda")
        self._authorization = None if token is None else f"Bearer {token}".encode()
        self._principal = principal
        self._principal_header = principal_header
        self._function = function
        self._say = say
        self._listener = listener or listen(0)
        self._http = make_server(
            "127.0.0.1",
            0,
            self._application,
            threaded=True,
            request_handler=_Handler,
            fd=self._listener.fileno(),
        )
        self._http.daemon_threads = True  # type: ignore[attr-defined] # of its threading mix-in
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        """Stop answering."""
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
        self._listener.close()

    def _application(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        began = time.monotonic()
        request = Request(environ)
        answer = self._answer(request)
        took_us = 1e6 * (time.monotonic() - began)
        self._say(f"{request.method} {_path(request)} {answer.status} {words.latency(took_us)}")
        response = Response(answer.body, answer.status, list(answer.headers))
        return response(environ, start_response)

    def _answer(self, request: Request) -> Answer:
        headers = request.headers
        host, origin = headers.get("Host"), headers.get("Origin")
        if is_of_a_page(host=host, origin=origin, port=self.port):
            return refusal(403, "Forbidden")
        if not self._carries_the_token(headers.get("Authorization", "")):
            return refusal(401, "The call does not carry this service's token")
        if (request.content_length or 0) > MAX_BODY_BYTES:
            return TOO_LONG
        request.max_content_length = (
            MAX_BODY_BYTES  # the size of a body that comes in chunks is not known in advance
        )
        try:
            body = request.get_data()
        except ClientDisconnected:
            return refusal(400, "Bad Request")
        except HTTPException:
            return TOO_LONG
        principal = self._principal
        if self._principal_header is not None:
            principal = request.headers.get(self._principal_header, principal)
        event = proxy_event(
            method=request.method,
            path=_path(request),
            query=request.query_string.decode("latin-1"),
            headers=[header for header in headers if header[0] != "Authorization"],
            body=body,
            principal=principal,
            source_ip=request.remote_addr or "127.0.0.1",
            now=datetime.now(UTC),
        )
        return self._invoke(event)

    def _carries_the_token(self, authorization: str) -> bool:
        return self._authorization is None or hmac.compare_digest(
            authorization.encode(), self._authorization
        )

    def _invoke(self, event: dict[str, Any]) -> Answer:
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
            return proxy_answer(payload)
        self._say(
            f"the function {self._function} failed: {payload.decode(errors='replace')[:2000]}"
        )
        return TIMED_OUT if b"Task timed out" in payload else BROKEN

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _is_too_large(error: Exception) -> bool:
    code = error.response["Error"]["Code"] if isinstance(error, ClientError) else ""
    return code == "RequestTooLargeException"


def _path(request: Request) -> str:
    """Give the path as it was sent, without the host that a URI may name."""
    raw = str(request.environ.get("RAW_URI", "")).partition("?")[0]
    return raw if raw.startswith("/") else quote(request.path)
