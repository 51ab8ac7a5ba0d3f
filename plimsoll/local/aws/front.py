"""The server's entry: serializes the requests of a service, and answers the twin's own questions.

moto's backends are plain objects: of two concurrent updates of one DynamoDB item, one is lost.
Therefore the requests of one service are answered one after the other, except Lambda's Invoke.
"""

import http.client
import json
import re
import threading
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import urlsplit

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
Question = Callable[[dict[str, Any]], Any]

_SERVICE = re.compile(r"Credential=[^/]+/\d+/[^/]+/([^/]+)/aws4_request")
_PREFIX = "/_twin/"


class Front:
    """A WSGI middleware in front of moto."""

    def __init__(
        self,
        moto: Application,
        questions: dict[str, Question],
        step_functions_url: str | None = None,
    ) -> None:
        """Wrap moto.

        Args:
            moto: The application that answers AWS's APIs.
            questions: The functions that answer `POST /_twin/<name>`: JSON in, JSON out.
            step_functions_url: The server that answers Step Functions' API in place of moto, if
                any.
        """
        self._step_functions = urlsplit(step_functions_url).netloc if step_functions_url else None
        self._moto = moto
        self._questions = questions
        self._locks: dict[str, threading.RLock] = {}

    def __call__(
        self, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        """Answer a request."""
        path = environ.get("PATH_INFO", "")
        if path.startswith(_PREFIX):
            return self._answer(path.removeprefix(_PREFIX), environ, start_response)
        if path.endswith("/invocations"):
            return self._moto(environ, start_response)
        signature = _SERVICE.search(environ.get("HTTP_AUTHORIZATION", ""))
        service = signature[1] if signature else "s3"
        if service == "states" and self._step_functions:
            return _forward(self._step_functions, environ, start_response)
        # One atomic call: two first requests at the same moment would otherwise create two locks.
        with self._locks.setdefault(service, threading.RLock()):
            return self._moto(environ, start_response)

    def _answer(
        self, name: str, environ: dict[str, Any], start_response: Callable[..., Any]
    ) -> Iterable[bytes]:
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            status, answer = "200 OK", self._questions[name](json.loads(body or b"{}"))
        except Exception as error:  # noqa: BLE001 - it is told to whoever asked
            status, answer = "400 Bad Request", {"error": f"{type(error).__name__}: {error}"}
        start_response(status, [("Content-Type", "application/json")])
        return [json.dumps(answer).encode()]


def _forward(
    address: str, environ: dict[str, Any], start_response: Callable[..., Any]
) -> Iterable[bytes]:
    """Forward a request of a JSON API to another server on this machine."""
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    headers = {
        "Authorization": environ["HTTP_AUTHORIZATION"],
        "Content-Type": environ["CONTENT_TYPE"],
        "X-Amz-Target": environ["HTTP_X_AMZ_TARGET"],
    }
    connection = http.client.HTTPConnection(address)
    try:
        connection.request("POST", "/", body, headers)
        answer = connection.getresponse()
        content = answer.read()
    finally:
        connection.close()
    start_response(
        f"{answer.status} {answer.reason}", [("Content-Type", answer.headers["Content-Type"])]
    )
    return [content]
