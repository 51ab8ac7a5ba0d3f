"""An HTTP server on 127.0.0.1: the page's files, a stream of events, and calls.

Everybody who can reach the port gets the files, since they contain nothing secret. Calls and
streams carry the server's token, and come from a program or from the server's own page; every other
page in a browser is refused, even with the token.
"""

import hmac
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, Self
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError
from werkzeug.exceptions import ClientDisconnected, HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server
from werkzeug.wrappers import Request, Response

from plimsoll import words
from plimsoll.console import charts
from plimsoll.console.config import ConsoleConfig
from plimsoll.errors import NotFoundError, PlimsollError, UnknownPrincipalError, UsageError
from plimsoll.local.callers import is_from_other_page, is_own_host
from plimsoll.local.console_files import CHARTS, ConsoleFiles
from plimsoll.local.rest_api import BROKEN, MAX_BODY_BYTES, TOO_LONG, HttpAnswer, build_refusal

STREAMS_MOST = 32  # over all pages; each stream reads its run every second
_END_PATIENCE_S = 3.0  # time in which streams can end properly
_READS = {"GET", "HEAD"}
_STATUS: dict[type[Exception], int] = {
    NotFoundError: 404,
    UsageError: 422,
    UnknownPrincipalError: 403,
}
Say = Callable[[str], None]


class Behind(Protocol):
    """The application behind a front."""

    def answer(self, request: Request, path: str) -> HttpAnswer:
        """Answer a call; the path is as it was sent."""

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        """Open a stream of events, which goes on until `ended` is set.

        Raises:
            PlimsollError: There is nothing to stream.
        """


class _Streams:
    """Limits the number of open streams of events."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0

    def open(self) -> bool:
        """Count one more; return False if there are too many."""
        with self._lock:
            room = self.count < STREAMS_MOST
            self.count += room
            return room

    def close(self) -> None:
        """Count one less."""
        with self._lock:
            self.count -= 1


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_request(self, *_: object) -> None:
        """Log nothing: the application logs each request itself."""

    def log(self, *_: object) -> None:
        """Log nothing: a caller that disconnects is no error."""


def listen(port: int) -> socket.socket:
    """Bind a port of 127.0.0.1, or a free one for 0.

    Raises:
        UsageError: The port is in use, or only the superuser may bind it.
    """
    try:
        return socket.create_server(("127.0.0.1", port), backlog=128)
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}") from None


class Front:
    """The server; as a context manager it ends with its block.

    Attributes:
        port: The port that it listens on, on 127.0.0.1.
    """

    def __init__(
        self,
        behind: Behind,
        *,
        token: str | None = None,
        listener: socket.socket | None = None,
        config: ConsoleConfig | None = None,
        say: Say = lambda _: None,
    ) -> None:
        """Listen.

        Args:
            behind: The application that answers.
            token: The token that every call must carry (`Authorization: Bearer ...`); None lets
                every account on this machine call.
            listener: A bound socket on 127.0.0.1; None to use a free port.
            config: The page's settings; None lets it do everything.
            say: The function that receives a log line for each request.
        """
        auth = {"auth": "none" if token is None else "token"}
        self._behind = behind
        self._config = (config or ConsoleConfig()).model_copy(update=auth)
        self._files = ConsoleFiles(self._config)
        self._authorization = None if token is None else f"Bearer {token}".encode()
        self._token = token
        self._say = say
        self._ended = threading.Event()
        self._streams = _Streams()
        self._listener = listener or listen(0)
        self._http = make_server(
            "127.0.0.1",
            0,
            self._application,
            threaded=True,
            request_handler=_Handler,
            fd=self._listener.fileno(),
        )
        self._http.daemon_threads = True  # type: ignore[attr-defined] # the threading mix-in has it
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The server's address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def page_url(self) -> str:
        """The address of its page; browsers keep what follows the `#` to themselves."""
        return f"{self.url}/" + ("" if self._token is None else f"#token={self._token}")

    @property
    def watched(self) -> bool:
        """Whether any page follows its events now."""
        return self._streams.count > 0

    def close(self) -> None:
        """Stop answering, after ending the streams properly."""
        self._ended.set()
        self._http.shutdown()
        self._thread.join()
        deadline = time.monotonic() + _END_PATIENCE_S
        while self.watched and time.monotonic() < deadline:
            time.sleep(0.05)
        self._http.server_close()
        self._listener.close()

    def _application(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        began = time.monotonic()
        request = Request(environ)
        path = _read_path(request)
        answer = self._answer(request, path)
        took_us = 1e6 * (time.monotonic() - began)
        status = answer.status if isinstance(answer, HttpAnswer) else answer.status_code
        self._say(f"{request.method} {path} {status} {words.format_latency(took_us)}")
        if isinstance(answer, HttpAnswer):
            answer = Response(answer.body, answer.status, list(answer.headers))
        return answer(environ, start_response)

    def _answer(self, request: Request, path: str) -> HttpAnswer | Response:
        headers, method = request.headers, request.method
        if not is_own_host(headers.get("Host"), port=self.port):
            return build_refusal(403, "Forbidden")
        if method in _READS and (file := self._files.answer(path, headers.get("If-None-Match"))):
            return file
        if refused := self._check_caller(request, path):
            return refused
        if path.startswith(CHARTS):
            return _draw(request, path.removeprefix(CHARTS))
        if path == self._config.events_path and method == "GET":
            return self._stream(request)
        return self._behind.answer(request, path)

    def _check_caller(self, request: Request, path: str) -> HttpAnswer | None:
        """Return the refusal of a call that this server does not allow; None if it allows it."""
        headers = request.headers
        host, origin = headers.get("Host"), headers.get("Origin")
        site = headers.get("Sec-Fetch-Site")
        if is_from_other_page(host=host, origin=origin, fetch_site=site, port=self.port):
            return build_refusal(403, "Forbidden")
        if not self._carries_the_token(headers.get("Authorization", "")):
            return build_refusal(401, "The call does not carry this service's token")
        if not self._allows(request.method, path):
            return build_refusal(403, "This page shows a run and cannot start one")
        return None

    def _carries_the_token(self, authorization: str) -> bool:
        return self._authorization is None or hmac.compare_digest(
            authorization.encode(), self._authorization
        )

    def _allows(self, method: str, path: str) -> bool:
        stops = method == "DELETE" and path.startswith("/runs/") and self._config.may_stop
        draws = path.startswith(CHARTS)  # changes nothing: it has a body, and so is no GET
        return self._config.may_start or method in _READS or stops or draws

    def _stream(self, request: Request) -> HttpAnswer | Response:
        if not self._streams.open():
            full = build_refusal(
                503, f"{STREAMS_MOST} pages already follow events: try again later"
            )
            return HttpAnswer(full.status, (*full.headers, ("Retry-After", "10")), full.body)
        try:
            events = self._behind.events(request, self._ended)
        except (PlimsollError, BotoCoreError, ClientError) as error:
            self._streams.close()
            return self._refuse_stream(error)
        except BaseException:
            self._streams.close()
            raise
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        response = Response(self._forward(events), 200, headers, content_type="text/event-stream")
        response.call_on_close(self._streams.close)
        return response

    def _refuse_stream(self, error: Exception) -> HttpAnswer:
        for kind, status in _STATUS.items():
            if isinstance(error, kind):
                return build_refusal(status, str(error))
        self._say(f"a stream of events could not begin: {error}")
        return BROKEN

    def _forward(self, events: Iterator[bytes]) -> Iterator[bytes]:
        """Forward events; the stream ends when the application behind it has ended."""
        try:
            yield from events
        except (PlimsollError, BotoCoreError, ClientError) as error:
            self._say(f"a stream of events ended: {error}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_body(request: Request) -> bytes | HttpAnswer:
    """Read the body of a call; return a refusal if it is too long or incomplete."""
    if (request.content_length or 0) > MAX_BODY_BYTES:
        return TOO_LONG
    # The size of a chunked body is not known in advance.
    request.max_content_length = MAX_BODY_BYTES
    try:
        return request.get_data()
    except ClientDisconnected:
        return build_refusal(400, "Bad Request")
    except HTTPException:
        return TOO_LONG


def _draw(request: Request, kind: str) -> HttpAnswer:
    """Draw a chart of what the page sends."""
    body = read_body(request)
    if isinstance(body, HttpAnswer):
        return body
    try:
        drawn = charts.draw(kind, body)
    except (NotFoundError, UsageError) as error:
        return build_refusal(404 if isinstance(error, NotFoundError) else 422, str(error))
    headers = (("Content-Type", "application/json"), ("Cache-Control", "no-store"))
    return HttpAnswer(200, headers, drawn)


def _read_path(request: Request) -> str:
    """Return the path as it was sent, without a host that a URI may contain."""
    raw = str(request.environ.get("RAW_URI", "")).partition("?")[0]
    return raw if raw.startswith("/") else quote(request.path)
