"""A database killed in mid-write, again and again: is every committed row there afterwards?"""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from plimsoll.local.databases.database_server import DatabaseServer
from tests.local.volumes.killed_kinds import MARIADB, Kind

WRITERS = 4
NONE: Mapping[str, str] = MappingProxyType({})


class Writer(threading.Thread):
    """Inserts numbered rows and counts its own counter up, until its server is gone."""

    def __init__(
        self,
        kind: Kind,
        server: DatabaseServer,
        number: int,
        next_n: int,
        counting: Sequence["Acknowledged"],
    ) -> None:
        super().__init__(daemon=True)
        self.kind, self.server, self.number = kind, server, number
        self.n, self.counting = next_n, counting
        self.acknowledged = next_n - 1

    def run(self) -> None:
        with suppress(*self.kind.errors), self.kind.connected(self.server) as connection:
            cursor = connection.cursor()
            while True:
                cursor.execute(
                    "INSERT INTO log (writer, n, pad) VALUES (%s, %s, REPEAT(%s, 900))",
                    (self.number, self.n, f"{self.n % 10}"),
                )
                cursor.execute("UPDATE counter SET n = %s WHERE w = %s", (self.n, self.number))
                connection.commit()
                self.acknowledged = self.n
                self.n += 1
                for count in self.counting:
                    count.one_more()


class Acknowledged:
    """Tells when so many commits have been acknowledged."""

    def __init__(self, enough: int) -> None:
        self._left, self._lock, self.reached = enough, threading.Lock(), threading.Event()

    def one_more(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self.reached.set()


def _prepare(kind: Kind, server: DatabaseServer) -> None:
    with kind.connected(server) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE TABLE log (writer INT, n INT, pad VARCHAR(900), PRIMARY KEY (writer, n))"
        )
        cursor.execute("CREATE TABLE counter (w INT PRIMARY KEY, n INT)")
        for number in range(WRITERS):
            cursor.execute("INSERT INTO counter VALUES (%s, 0)", (number,))
        connection.commit()


def _one(cursor: Any, sql: str, *given: object) -> tuple[int, ...]:
    cursor.execute(sql, given)
    return tuple(map(int, cursor.fetchone()))


def _check(kind: Kind, server: DatabaseServer, acknowledged: dict[int, int]) -> dict[int, int]:
    """Assert that nothing is lost, torn or made up; give the last number that each writer has."""
    last = {}
    with kind.connected(server) as connection:
        cursor = connection.cursor()
        for table in ("log", "counter"):
            kind.check_table(cursor, table)
        for number, sure in acknowledged.items():
            count, lowest, highest, whole = _one(
                cursor,
                "SELECT COUNT(*), COALESCE(MIN(n), 1), COALESCE(MAX(n), 0),"
                " COUNT(CASE WHEN pad = REPEAT(CAST(MOD(n, 10) AS CHAR(1)), 900) THEN 1 END)"
                " FROM log WHERE writer = %s",
                number,
            )
            # every row acknowledged is there, at most the one in flight beside them, each whole
            assert sure <= highest <= sure + 1
            assert (count, lowest, whole) == (highest, 1, highest)
            assert _one(cursor, "SELECT n FROM counter WHERE w = %s", number) == (highest,)
            last[number] = highest
    return last


def kill_again_and_again(
    directory: Path,
    *,
    kills: int,
    kind: Kind = MARIADB,
    environment: Callable[[], Mapping[str, str]] = lambda: NONE,
    first_kill: Callable[[], None] = lambda: None,
    commits_each: int = 40,
) -> int:
    """Kill a server under load, recover it and check it; as often as asked.

    Args:
        directory: The server's own.
        kills: How often.
        kind: Which database.
        environment: Gives what puts the server on a volume, at each of its starts.
        first_kill: What is killed under the same load, before the server is.
        commits_each: After how many acknowledged commits each kill comes; the first after half.

    Returns:
        How many commits were acknowledged in all, and found afterwards.
    """
    server = kind.start(directory, environment())
    try:
        _prepare(kind, server)
        last = dict.fromkeys(range(WRITERS), 0)
        for _ in range(kills):
            half, whole = Acknowledged(commits_each // 2), Acknowledged(commits_each)
            writers = [
                Writer(kind, server, number, n + 1, (half, whole)) for number, n in last.items()
            ]
            for writer in writers:
                writer.start()
            assert half.reached.wait(60)
            first_kill()
            assert whole.reached.wait(60)
            server.kill()
            for writer in writers:
                writer.join(30)
            server = kind.start(directory, environment())
            last = _check(kind, server, {writer.number: writer.acknowledged for writer in writers})
        return sum(last.values())
    finally:
        server.remove()
