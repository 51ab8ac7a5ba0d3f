"""Connections to a private PostgreSQL."""

import ssl
from typing import Any

import pg8000.native

from plimsoll.local.databases.postgres_server import PostgresServer

Rows = list[list[Any]]


def connected(server: PostgresServer) -> pg8000.native.Connection:
    """Connect to a server's own database; each statement is a transaction of its own."""
    return pg8000.native.Connection(
        server.user,
        host=server.host,
        port=server.port,
        database=server.database,
        password=server.password,
    )


def unverified_tls() -> ssl.SSLContext:
    """Give a client's TLS that believes whoever answers."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
