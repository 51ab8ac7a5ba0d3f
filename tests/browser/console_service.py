"""A service whose answers a test lays down, behind the front that the real one has."""

import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

from werkzeug.wrappers import Request

from plimsoll.console.stream import encode_event
from plimsoll.local.rest_api import HttpAnswer

Made = Callable[[Request], Any]


def problem(status: int, detail: str, *errors: dict[str, Any]) -> HttpAnswer:
    """A problem document."""
    body = {"title": "Refused", "status": status, "detail": detail, "errors": errors}
    return HttpAnswer(
        status, (("Content-Type", "application/problem+json"),), json.dumps(body).encode()
    )


class LaidDown:
    """What stands behind a front: documents by their path, and streams that a test feeds.

    Attributes:
        answers: {path: JSON, or what makes it of the request; an `Answer` is given as it is}.
        calls: Every call that was answered: method, path, and the JSON of its body.
        streams: The query of every stream that was opened, with the id that it went on from.
    """

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.calls: list[tuple[str, str, Any]] = []
        self.streams: list[tuple[dict[str, str], str | None]] = []
        self._news = threading.Condition()
        self._told: dict[str, list[bytes]] = {}
        self._cuts = 0

    def tell(self, of: str, event: str, data: Any, event_id: str | None = None) -> None:
        """Send an event to those who follow a run now, and to who follows it later.

        Args:
            of: The run's id; empty: the list.
            event: Its kind.
            data: As JSON.
            event_id: Where a stream goes on from.
        """
        with self._news:
            self._told.setdefault(of, []).append(encode_event(event, json.dumps(data), event_id))
            self._news.notify_all()

    def forget(self, of: str) -> None:
        """Leave out what was told so far to whoever follows from now on."""
        with self._news:
            self._told[of] = []

    def cut(self) -> None:
        """Break off every stream that is open."""
        with self._news:
            self._cuts += 1
            self._news.notify_all()

    def answer(self, request: Request, path: str) -> HttpAnswer:
        """Answer a call."""
        body = request.get_json(silent=True) if request.data else None
        self.calls.append((request.method, path, body))
        made = self.answers.get(f"{request.method} {path}", self.answers.get(path))
        if callable(made):
            made = made(request)
        if made is None:
            return problem(404, f"there is nothing at {path}")
        if isinstance(made, HttpAnswer):
            return made
        return HttpAnswer(200, (("Content-Type", "application/json"),), json.dumps(made).encode())

    def events(self, request: Request, ended: threading.Event) -> Iterator[bytes]:
        """Open a stream; one that goes on from an id gets what came after it."""
        after = request.headers.get("Last-Event-ID")
        self.streams.append((request.args.to_dict(), after))
        return self._events(request.args.get("run_id", ""), after, ended)

    def _events(self, of: str, after: str | None, ended: threading.Event) -> Iterator[bytes]:
        cuts, sent = self._cuts, 0
        if after is not None:
            mark = f"id: {after}\n".encode()
            told = self._told.get(of, [])
            sent = max((i + 1 for i, event in enumerate(told) if mark in event), default=0)
        while not ended.is_set():
            with self._news:
                news = self._told.get(of, [])[sent:]
                if not news and cuts == self._cuts:
                    self._news.wait(0.1)
                    continue
            if cuts != self._cuts:
                return
            yield from news
            sent += len(news)
