"""The Lambda Runtime API for all sandboxes, on loopback: `/<sandbox>/2018-06-01/runtime/...`.

A sandbox's name is its secret: callers without a valid name are refused.

Paths and headers: https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
"""

import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol

from plimsoll.local.callers import is_from_page
from plimsoll.local.lambdas.invocation import Invocation

_PREFIX = "2018-06-01/runtime/"


class Sandboxes(Protocol):
    """What the Runtime API needs of the pool of sandboxes."""

    def knows(self, sandbox: str) -> bool:
        """Return whether there is a sandbox of this name."""

    def next_invocation(self, sandbox: str) -> Invocation | None:
        """Block until there is an invocation for a sandbox; None when there will be none."""

    def take_answer(self, sandbox: str, request_id: str, body: bytes, *, failed: bool) -> bool:
        """Take an invocation's result or error; False if the sandbox does not run it."""

    def take_start_error(self, sandbox: str, body: bytes) -> None:
        """Take the error of a sandbox whose handler could not be loaded."""


class RuntimeApi:
    """The listening server.

    Attributes:
        address: `127.0.0.1:<port>`.
    """

    def __init__(self, sandboxes: Sandboxes) -> None:
        server = _Server(("127.0.0.1", 0), _Request)
        server.sandboxes = sandboxes
        self._server = server
        self.address = f"127.0.0.1:{server.server_address[1]}"
        self._thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 1024  # a hundred sandboxes may connect in the same instant
    sandboxes: Sandboxes

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that ended with its sandbox."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Request(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = (
        True  # otherwise each answer takes 40 ms more: headers and body leave in two writes
    )
    wbufsize = -1  # buffered, so that headers and body leave in one write where they fit

    def do_GET(self) -> None:
        sandbox, rest = self._route()
        if not self._is_of_a_sandbox(sandbox):
            return self._send(403)
        if rest != "invocation/next":
            return self._send(404)
        invocation = self.server.sandboxes.next_invocation(sandbox)
        if invocation is None:
            return self._send(410)
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_epoch_ms),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
            "Content-Type": "application/json",
        }
        return self._send(200, invocation.payload, headers)

    def do_POST(self) -> None:
        sandbox, rest = self._route()
        if not self._is_of_a_sandbox(sandbox):
            self.close_connection = True  # the body stays unread
            return self._send(403)
        body = self._body()
        match rest.split("/"):
            case ["init", "error"]:
                self.server.sandboxes.take_start_error(sandbox, body)
                return self._send(202)
            case ["invocation", request_id, "response" | "error" as kind]:
                failed = kind == "error"
                if self.server.sandboxes.take_answer(sandbox, request_id, body, failed=failed):
                    return self._send(202)
                return self._send(400)
            case _:
                return self._send(404)

    def _route(self) -> tuple[str, str]:
        sandbox, _, rest = self.path.removeprefix("/").partition("/")
        return sandbox, rest.removeprefix(_PREFIX)

    def _is_of_a_sandbox(self, sandbox: str) -> bool:
        """Return whether the caller is a sandbox: others do not know its name."""
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        own = not is_from_page(host=host, origin=origin, port=self.server.server_port)
        return own and self.server.sandboxes.knows(sandbox)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Log nothing: each invocation is in its function's log."""
