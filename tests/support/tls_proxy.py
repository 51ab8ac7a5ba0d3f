"""A proxy that answers for hosts of AWS on this machine.

TLS ends here, as the host that was asked for, and plain HTTP goes on to one server. A program with
the variables of a proxy reaches that server under AWS's names, as in a network with a proxy that
looks into what passes.
"""

import shutil
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509

from plimsoll.local.databases.certificates import (
    Authority,
)

_HEAD_BYTES = 65_536


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    host: str
    context: ssl.SSLContext
    upstream: tuple[str, int]


class _Handler(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        """Answer CONNECT, then pass on what comes in either direction until one side ends."""
        method, target, _ = self.rfile.readline(_HEAD_BYTES).decode().split(" ", 2)
        while self.rfile.readline(_HEAD_BYTES).strip():
            pass
        name, _, _ = target.partition(":")
        if method != "CONNECT" or not _covers(self.server.host, name):
            self.wfile.write(b"HTTP/1.1 502 not a host of this proxy\r\n\r\n")
            return
        self.wfile.write(b"HTTP/1.1 200 connected\r\n\r\n")
        try:
            inside = self.server.context.wrap_socket(self.connection, server_side=True)
        except OSError:
            return  # the caller does not trust this certificate
        with inside, socket.create_connection(self.server.upstream) as outside:
            back = threading.Thread(target=_pass_on, args=(outside, inside), daemon=True)
            back.start()
            _pass_on(inside, outside)
            back.join()


def _covers(pattern: str, name: str) -> bool:
    return name == pattern or (pattern.startswith("*.") and name.partition(".")[2] == pattern[2:])


def _pass_on(given: socket.socket, taker: socket.socket) -> None:
    try:
        while data := given.recv(_HEAD_BYTES):
            taker.sendall(data)
        taker.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the other side has gone


@contextmanager
def run_tls_proxy(folder: Path, host: str, upstream: tuple[str, int]) -> Iterator[dict[str, str]]:
    """Run a proxy for one host, or for the hosts of one domain: `*.DOMAIN`.

    Args:
        folder: A new folder for the certificate of its authority.
        host: Whom the certificate names.
        upstream: Address and port of the server of plain HTTP.

    Yields:
        The variables with which a program uses it.
    """
    authority = Authority.new()
    files = authority.sign_for(folder, x509.DNSName(host))
    bundle = folder / "authority.pem"
    bundle.write_text(authority.pem)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files.certificate, files.key)
    server = _Server(("127.0.0.1", 0), _Handler)
    server.host, server.context, server.upstream = host, context, upstream
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    port: int = server.server_address[1]
    try:
        yield {"HTTPS_PROXY": f"http://127.0.0.1:{port}", "AWS_CA_BUNDLE": str(bundle)}
    finally:
        server.shutdown()
        server.server_close()
        shutil.rmtree(folder)
