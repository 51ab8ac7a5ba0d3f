"""The page of a deployment: its files from here, its calls passed on to the deployment's API."""

import threading
from collections.abc import Iterator

from werkzeug.wrappers import Request

from plimsoll.client.http import Http
from plimsoll.console.config import ConsoleConfig
from plimsoll.errors import NotFoundError, PlimsollError
from plimsoll.local.http_front import body_of
from plimsoll.local.rest_api import Answer, refusal

POLL_S = 30.0  # each look at a run under way has the service read CloudWatch
PASSED_ON = ("Accept", "Content-Type", "Idempotency-Key")
PASSED_BACK = ("Content-Type", "Retry-After")


def config(where: str) -> ConsoleConfig:
    """Say what the page is told: API Gateway has no stream of events, so that it polls."""
    return ConsoleConfig(events_path=None, poll_s=POLL_S, where=where)


class Deployed:
    """What stands behind the front: a deployment's API, called as who opened the page."""

    def __init__(self, http: Http) -> None:
        """Call nothing yet.

        Args:
            http: Signs with the credentials of who opened the page.
        """
        self._http = http

    def answer(self, request: Request, path: str) -> Answer:
        """Pass a call on, and its answer back."""
        body = body_of(request)
        if isinstance(body, Answer):
            return body
        given = request.headers
        headers = {name: given[name] for name in PASSED_ON if name in given}
        query = request.query_string.decode("latin-1")
        try:
            reply = self._http.pass_on(
                request.method, path, query=query, headers=headers, body=body
            )
        except PlimsollError as error:
            return refusal(502, str(error))
        back = [(name, reply.headers[name]) for name in PASSED_BACK if name in reply.headers]
        return Answer(reply.status, tuple(back), reply.body)

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        """Refuse: there is none.

        Raises:
            NotFoundError: Always.
        """
        del request, ended
        raise NotFoundError("a deployment has no stream of events")
