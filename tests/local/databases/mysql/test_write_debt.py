"""What a MariaDB owes to its data files, as a load's own user reads it."""

from contextlib import closing

from plimsoll.databases import mysql as family
from plimsoll.databases.mysql.session import connect, execute
from plimsoll.databases.watching import open_watcher
from plimsoll.model.request.dsn import parse_dsn


def test_write_debt_grows_with_what_is_written(fresh_database: str) -> None:
    target = parse_dsn(fresh_database)
    watching = open_watcher(target)
    assert watching is not None
    with watching as watcher, closing(connect(target)) as connection:
        before = watcher.look().debt
        execute(connection, "CREATE TABLE owed (a INT PRIMARY KEY, b CHAR(200))")
        execute(connection, "INSERT INTO owed SELECT seq, 'x' FROM seq_1_to_5000")
        after = watcher.look().debt
    assert before is not None
    assert after is not None
    assert after.written_bytes - before.written_bytes > 5_000 * 200
    assert 0 < after.owed_bytes <= after.limit_bytes
    assert after.owed_pages is not None
    assert before.ios is not None
    assert after.ios is not None
    assert after.ios > before.ios
    counters = family.read_counters(target)
    assert counters is not None
    assert family.write_debt(counters) is not None
