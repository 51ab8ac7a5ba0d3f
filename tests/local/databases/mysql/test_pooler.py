"""A MariaDB behind a proxy: a stub that greets with a session number of its own, as ProxySQL does.

There is no package of a real ProxySQL; what it says of itself (`@@version_comment`) is not tried.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from plimsoll.databases.family import find_family
from plimsoll.errors import PlimsollError
from plimsoll.load_line.pooler import adapt_to_pooler
from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.model.request.dsn import parse_dsn
from tests.local.conftest import MariaDbFactory
from tests.support.mariadb_connection import connected
from tests.support.relay import relay


def greet_as_proxy(greeting: bytes) -> bytes:
    """Return a greeting with another session number; it follows the version."""
    end = greeting.index(b"\0", 5) + 1
    return greeting[:end] + (987_654).to_bytes(4, "little") + greeting[end + 4 :]


@contextmanager
def proxied(server: MariaDbServer) -> Iterator[str]:
    """Yield the DSN through a proxy."""
    with relay(server.port, greet_as_proxy) as (port, _):
        yield server.dsn.replace(f":{server.port}/", f":{port}/")


def count_sets(server: MariaDbServer) -> int:
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute("SHOW GLOBAL STATUS LIKE 'Com_set_option'")
        ((_, count),) = cursor.fetchall()
        return int(count)


def test_it_is_seen_and_nothing_is_set_on_its_sessions(mariadb_factory: MariaDbFactory) -> None:
    server = mariadb_factory(settings={"default_time_zone": "+02:00"})
    assert find_family("mysql").find_pooler(parse_dsn(server.dsn)) is None
    assert adapt_to_pooler(parse_dsn(server.dsn)) == (parse_dsn(server.dsn), ())
    with proxied(server) as dsn:
        before = count_sets(server)
        own = count_sets(server) - before  # what such a look costs itself
        before += own
        target, notes = adapt_to_pooler(parse_dsn(dsn))
        assert target.session_settings == ()
        assert find_family("mysql").read_counters(target) is not None
        assert count_sets(server) - before == own
    assert "nothing is SET on its sessions" in notes[0]
    assert any(
        note.startswith("its sessions have time_zone = +02:00; on the server itself Plimsoll sets")
        for note in notes
    )


def test_sessions_that_commit_nothing_are_refused(mariadb_factory: MariaDbFactory) -> None:
    server = mariadb_factory(settings={"autocommit": 0})
    with (
        proxied(server) as dsn,
        pytest.raises(PlimsollError, match=r"autocommit = 0: no update of a load would be"),
    ):
        adapt_to_pooler(parse_dsn(dsn))
