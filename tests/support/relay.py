"""A way to a server through another port: it hands on what it gets, as a proxy does."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Lock, Thread


@contextmanager
def relay(
    port: int, change_greeting: Callable[[bytes], bytes] = lambda greeting: greeting
) -> Iterator[tuple[int, Callable[[], int]]]:
    """Stand before a port of this machine.

    Args:
        port: The port.
        change_greeting: Changes what the server says first.

    Yields:
        Its own port, and what tells how many have connected by it.
    """
    count, lock = 0, Lock()

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            nonlocal count
            with lock:
                count += 1
            with ExitStack() as open_:
                server = open_.enter_context(socket.create_connection(("127.0.0.1", port)))
                back = Thread(
                    target=_hand_on, args=(server, self.request, change_greeting), daemon=True
                )
                back.start()
                _hand_on(self.request, server)
                back.join()

    with ThreadingTCPServer(("127.0.0.1", 0), Handler) as front:
        front.daemon_threads = True
        Thread(target=front.serve_forever, daemon=True).start()
        try:
            yield front.server_address[1], lambda: count
        finally:
            front.shutdown()


def _hand_on(
    source: socket.socket,
    sink: socket.socket,
    change_first: Callable[[bytes], bytes] = lambda data: data,
) -> None:
    with suppress(OSError):
        change = change_first
        while data := source.recv(65536):
            sink.sendall(change(data))
            change = bytes
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
