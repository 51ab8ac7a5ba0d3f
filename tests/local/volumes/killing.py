"""A database killed in mid-write, again and again: is every committed row there afterwards?"""

import threading
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pymysql

from plimsoll.local.databases.mariadb_server import MariaDbServer
from tests.support.mariadb_connection import connected

WRITERS = 4
SETTINGS: dict[str, str | int] = {
    "innodb_flush_log_at_trx_commit": 1,
    "innodb_buffer_pool_size": "8M",  # pages are written back all the while
    "innodb_log_file_size": "8M",
    "innodb_fast_shutdown": 0,
}
NONE: Mapping[str, str] = MappingProxyType({})


class Writer(threading.Thread):
    """Inserts numbered rows and counts its own counter up, until its server is gone."""

    def __init__(
        self, server: MariaDbServer, number: int, next_n: int, enough: "Acknowledged"
    ) -> None:
        super().__init__(daemon=True)
        self.server, self.number, self.n, self.enough = server, number, next_n, enough
        self.acknowledged = next_n - 1

    def run(self) -> None:
        try:
            with connected(self.server) as connection, connection.cursor() as cursor:
                while True:
                    cursor.execute("BEGIN")
                    cursor.execute(
                        "INSERT INTO log (writer, n, pad) VALUES (%s, %s, REPEAT(%s, 900))",
                        (self.number, self.n, f"{self.n % 10}"),
                    )
                    cursor.execute("UPDATE counter SET n = %s WHERE w = %s", (self.n, self.number))
                    cursor.execute("COMMIT")
                    self.acknowledged = self.n
                    self.n += 1
                    self.enough.one_more()
        except pymysql.MySQLError:
            pass  # killed


class Acknowledged:
    """Tells when so many commits have been acknowledged."""

    def __init__(self, enough: int) -> None:
        self._left, self._lock, self.reached = enough, threading.Lock(), threading.Event()

    def one_more(self) -> None:
        with self._lock:
            self._left -= 1
            if self._left == 0:
                self.reached.set()


def _prepare(server: MariaDbServer) -> None:
    with connected(server) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE log (writer INT, n INT, pad VARCHAR(900), PRIMARY KEY (writer, n))"
            " ENGINE=InnoDB"
        )
        cursor.execute("CREATE TABLE counter (w INT PRIMARY KEY, n INT) ENGINE=InnoDB")
        for number in range(WRITERS):
            cursor.execute("INSERT INTO counter VALUES (%s, 0)", (number,))
        connection.commit()


def _check(server: MariaDbServer, acknowledged: dict[int, int]) -> dict[int, int]:
    """Assert that nothing is lost, torn or made up; give the last number that each writer has."""
    with connected(server) as connection, connection.cursor() as cursor:
        for table in ("log", "counter"):
            cursor.execute(f"CHECK TABLE {table} EXTENDED")
            assert [row[3] for row in cursor.fetchall()] == ["OK"]
        last = {}
        for number, sure in acknowledged.items():
            cursor.execute(
                "SELECT COUNT(*), COALESCE(MIN(n), 1), COALESCE(MAX(n), 0),"
                " COALESCE(SUM(pad = REPEAT(MOD(n, 10), 900)), 0) FROM log WHERE writer = %s",
                (number,),
            )
            count, lowest, highest, whole = map(int, cursor.fetchone() or ())
            # every row acknowledged is there, at most the one in flight beside them, and each whole
            assert sure <= highest <= sure + 1
            assert (count, lowest, whole) == (highest, 1, highest)
            cursor.execute("SELECT n FROM counter WHERE w = %s", (number,))
            assert cursor.fetchone() == (highest,)
            last[number] = highest
        return last


def kill_again_and_again(
    directory: Path, *, kills: int, environment: Mapping[str, str] = NONE, commits_each: int = 40
) -> int:
    """Kill a server under load, recover it and check it; as often as asked.

    Args:
        directory: The server's own.
        kills: How often.
        environment: That puts the server on a volume.
        commits_each: After how many acknowledged commits each kill comes.

    Returns:
        How many commits were acknowledged in all, and found afterwards.
    """
    server = MariaDbServer.start(directory=directory, settings=SETTINGS, environment=environment)
    try:
        _prepare(server)
        last = dict.fromkeys(range(WRITERS), 0)
        for _ in range(kills):
            enough = Acknowledged(commits_each)
            writers = [Writer(server, number, n + 1, enough) for number, n in last.items()]
            for writer in writers:
                writer.start()
            assert enough.reached.wait(60)
            server.kill()
            for writer in writers:
                writer.join(30)
            server = MariaDbServer.start(
                directory=directory, settings=SETTINGS, environment=environment
            )
            last = _check(server, {writer.number: writer.acknowledged for writer in writers})
        return sum(last.values())
    finally:
        server.remove()
