"""How a private Cassandra is started again after another process took its port."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from plimsoll.local.databases import cassandra_server
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.local.guarded import GuardedProcess


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What lies in the data folder at each of two attempts, of which each leaves a file."""
    found: list[list[str]] = []

    def start(*_: object, log: Path, **__: object) -> SimpleNamespace:
        data = log.parent / "data"
        found.append([path.name for path in data.iterdir()])
        (data / f"roles-{len(found)}").touch()
        return SimpleNamespace()

    def try_twice(start_server: Callable[[], CassandraServer], **_: object) -> CassandraServer:
        start_server()
        return start_server()

    monkeypatch.setattr(cassandra_server, "find_java", lambda: Path("java"))
    monkeypatch.setattr(cassandra_server, "fetch_cassandra", lambda: Path("jars"))
    monkeypatch.setattr(cassandra_server, "make_server_command", lambda *_, **__: [])
    monkeypatch.setattr(cassandra_server, "start_until_ready", try_twice)
    monkeypatch.setattr(GuardedProcess, "start", start)
    return found


def test_a_new_server_starts_anew_each_time(seen: list[list[str]], tmp_path: Path) -> None:
    """Otherwise its log never says that the first user was created, which is waited for."""
    CassandraServer.start(directory=tmp_path)
    assert seen == [[], []]


def test_data_of_an_earlier_server_stays(seen: list[list[str]], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rows").touch()
    CassandraServer.start(directory=tmp_path)
    assert [sorted(names) for names in seen] == [["rows"], ["roles-1", "rows"]]
