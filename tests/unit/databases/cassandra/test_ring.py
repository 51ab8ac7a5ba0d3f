"""A cluster is whole once each node answers, knows all others' ranges, and has their schema."""

from collections.abc import Iterator
from typing import Any, Self

import pytest

from plimsoll.databases import cassandra
from plimsoll.databases.cassandra import session
from plimsoll.databases.cassandra.session import await_ring
from plimsoll.errors import PlimsollError
from plimsoll.model.engine.asked import EngineTarget

HOSTS = ("10.0.0.1", "10.0.0.2", "10.0.0.3")
TARGET = EngineTarget(
    protocol="cql", host=HOSTS[0], port=9042, user="", password="", database="k", nodes=HOSTS[1:]
)
WHOLE = {host: (["a token"] * 2, "s1") for host in HOSTS}  # tokens of each peer, the schema


class Cluster:
    """A cluster that looks another way each time that its last node is asked."""

    def __init__(self, *looks: dict[str, tuple[list[str | None], str]]) -> None:
        self._looks: Iterator[dict[str, Any]] = iter(looks)
        self._now = next(self._looks)

    def look(self, host: str) -> tuple[list[str | None], str]:
        if host not in self._now:
            self._now = next(self._looks, self._now)
            raise PlimsollError(f"cannot connect to {host}:9042: it refuses")
        seen: tuple[list[str | None], str] = self._now[host]
        if host == HOSTS[-1]:
            self._now = next(self._looks, self._now)
        return seen


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have sessions meet a cluster that looks so, one way after the other."""

    def meet(*ways: dict[str, tuple[list[str | None], str]]) -> None:
        met = Cluster(*ways)

        class Session:
            def __init__(self, target: EngineTarget) -> None:
                self._peers, self._schema = met.look(target.host)

            def __enter__(self) -> Self:
                return self

            def __exit__(self, *_: object) -> None:
                pass

            def execute(self, cql: str) -> list[tuple[object]]:
                if "tokens" in cql:
                    return [(tokens,) for tokens in self._peers]
                return [(self._schema,)]

        monkeypatch.setattr(session, "CassandraSession", Session)
        monkeypatch.setattr(session, "_POLL_S", 0)

    return meet


def test_a_whole_cluster_is_waited_for_no_longer(looks: Any) -> None:
    looks(WHOLE)
    await_ring(TARGET, nodes=3, longest_s=0)
    cassandra.await_ready(TARGET)


def test_it_is_asked_until_it_is_whole(looks: Any) -> None:
    away = {host: WHOLE[host] for host in HOSTS[:2]}
    looks(away, WHOLE | {HOSTS[2]: (["a token", None], "s1")}, WHOLE)
    await_ring(TARGET, nodes=3, longest_s=60)


@pytest.mark.parametrize(
    ("way", "lacks"),
    [
        ({HOSTS[0]: WHOLE[HOSTS[0]]}, r"cannot connect to 10\.0\.0\.2:9042"),
        (WHOLE | {HOSTS[1]: (["a token"], "s1")}, r"10\.0\.0\.2 knows 2 of 3 nodes"),
        (WHOLE | {HOSTS[2]: (["a token", None], "s1")}, r"10\.0\.0\.3 knows 2 of 3 nodes"),
        (WHOLE | {HOSTS[2]: (["a token"] * 2, "s2")}, "its nodes have different schemas"),
    ],
)
def test_what_it_lacks_is_said(
    looks: Any, way: dict[str, tuple[list[str | None], str]], lacks: str
) -> None:
    looks(way)
    with pytest.raises(PlimsollError, match=f"after 0 s the cluster is not whole: {lacks}"):
        await_ring(TARGET, nodes=3, longest_s=0)


def test_a_node_alone_is_not_asked(looks: Any) -> None:
    looks({})
    cassandra.await_ready(TARGET.model_copy(update={"nodes": ()}))
