"""What the fake database servers share: connections, their times, and stalls."""

import math
import socket
import ssl
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import BinaryIO, Generic, Self, TypeVar


class Stall:
    """A time in which a server answers nothing, once.

    It begins with an execution, so that the load is under way however slow the machine is, and its
    seconds count from the moment at which so many executions wait for their answers.

    Attributes:
        began_at: When as many waited as were awaited, by `time.monotonic`; None until then.
        ended_at: When answers came again.
    """

    def __init__(self, *, after: int, waiting: int, seconds: float) -> None:
        """Hold back what comes after so many executions, until `waiting` of it wait so long."""
        self.began_at: float | None = None
        self.ended_at: float | None = None
        self._left, self._awaited, self._seconds = after, waiting, seconds
        self._lock = threading.Lock()
        self._over = threading.Event()

    @property
    def length_s(self) -> float:
        """How long nothing was answered, with all that was awaited waiting; it has to be over."""
        assert self.began_at is not None, "the load ended before its stall"
        assert self.ended_at is not None
        return self.ended_at - self.began_at

    def holds(self) -> bool:
        """Count an execution; whether its answer has to wait."""
        with self._lock:
            self._left -= 1
            if self._left >= 0 or self._over.is_set():
                return False
            self._awaited -= 1
            if self._awaited == 0:
                self.began_at = time.monotonic()
                threading.Timer(self._seconds, self.end).start()
            return True

    def wait(self) -> None:
        """Wait until answers may be given again."""
        self._over.wait()

    def end(self) -> None:
        """Let answers be given, for good."""
        with self._lock:
            if not self._over.is_set():
                self.ended_at = time.monotonic()
                self._over.set()


@dataclass
class Session:
    """When one connection began and ended, and its executions came and were answered.

    Times are those of `time.monotonic`.
    """

    opened_at: float = field(default_factory=time.monotonic)
    ended_at: float = math.inf
    received_at: list[float] = field(default_factory=list)
    answered_at: list[float] = field(default_factory=list)


SessionT = TypeVar("SessionT", bound=Session)


class FakeServer(ABC, Generic[SessionT]):
    """A server on a free port of 127.0.0.1; a context manager.

    Attributes:
        port: Where it listens.
        sessions: One for each connection that was ever let in.
        stall: When it answers no execution for a time, if ever.
    """

    def __init__(
        self,
        session: type[SessionT],
        *,
        service_s: float = 0.0,
        stall: Stall | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """Listen; each execution takes `service_s`; `tls` is spoken from the first byte."""
        self.sessions: list[SessionT] = []
        self.stall = stall
        self._new_session = session
        self._service_s = service_s
        self._tls = tls
        self._sockets: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> Self:
        self.start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.stall is not None:
            self.stall.end()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for client in list(self._sockets):
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue  # it has gone already
        for thread in self._threads:
            thread.join(timeout=10)

    @property
    def answered(self) -> int:
        """How many executions were answered so far."""
        return sum(len(session.answered_at) for session in self.sessions)

    @abstractmethod
    def converse(self, session: SessionT, client: socket.socket, stream: BinaryIO) -> None:
        """Let a connection in and answer what it sends, which `stream` reads, until it ends."""

    def start(self, target: Callable[..., None], *arguments: object) -> None:
        """Do something in a thread that is awaited at the end."""
        thread = threading.Thread(target=target, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def receive(self, session: SessionT) -> bool:
        """Note that an execution has come; whether its answer has to wait for a stall's end."""
        session.received_at.append(time.monotonic())
        return self.stall is not None and self.stall.holds()

    def execute(self, session: SessionT, *, held: bool) -> None:
        """Take as long as an execution takes, and note that it is answered."""
        if held and self.stall is not None:
            self.stall.wait()
        if self._service_s:
            threading.Event().wait(self._service_s)
        session.answered_at.append(time.monotonic())

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.add(client)
            self.start(self._serve, client)

    def _serve(self, client: socket.socket) -> None:
        session = self._new_session()
        try:
            if self._tls is not None:
                client = self._tls.wrap_socket(client, server_side=True)
                self._sockets.add(client)
            with client, client.makefile("rb") as stream:
                self.converse(session, client, stream)
        except OSError:
            return  # the client has gone
        finally:
            session.ended_at = time.monotonic()
            self._sockets.discard(client)
