"""Logs and dumps: recognized by what they have, and read without their values."""

import csv
import gzip
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.run.statements_seen import Digest, StatementsSeen
from plimsoll.workload.logs import reading
from plimsoll.workload.logs.reading import LogSeen, read_log
from tests.unit.workload.logs import samples

READ = "SELECT title FROM product WHERE id = ?"
VISIT = (
    "BEGIN",
    "SELECT title FROM product WHERE id = 5",
    "UPDATE product SET stock = 3 WHERE id = 5",
)


def read(tmp_path: Path, text: str | bytes, **options: object) -> LogSeen:
    path = tmp_path / "a.log"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_log(path, **options)  # type: ignore[arg-type]


def counts(seen: LogSeen) -> dict[str, int]:
    return {digest.text: digest.calls for digest in seen.digests}


def test_a_slow_log_of_mariadb_with_its_transactions(tmp_path: Path) -> None:
    text = samples.MARIADB_HEAD + samples.slow(7, VISIT[1], *VISIT, "COMMIT")
    text += samples.slow(8, *VISIT, "ROLLBACK", at=1795805975)
    seen = read(tmp_path, text)
    assert (seen.server, seen.database, seen.interval_s) == ("11.4.5-MariaDB-log", "shop", 10.0)
    assert counts(seen)[READ] == 3
    (digest,) = [one for one in seen.digests if one.text == READ]
    assert (digest.rows_sent, digest.rows_examined, digest.rows_affected) == (3, 6, 9)
    assert digest.time_s == pytest.approx(0.0003)
    assert digest.within == 2
    (transaction,) = seen.transactions
    assert [(seen.digests[kind].text, n) for kind, n in transaction.statements] == [
        (READ, 1),
        ("UPDATE product SET stock = ? WHERE id = ?", 1),
    ]


@pytest.mark.parametrize("text", [samples.pg_csv("a", "SELECT 1"), samples.PG_DUMP])
def test_other_tables_of_the_process_keep_their_limit_of_a_field(tmp_path: Path, text: str) -> None:
    before = csv.field_size_limit()
    with suppress(UsageError):  # a log without a statement
        read(tmp_path, text)
    assert csv.field_size_limit() == before


def test_sessions_that_mingle_are_told_apart(tmp_path: Path) -> None:
    text = samples.slow(7, "BEGIN") + samples.slow(8, VISIT[1]) + samples.slow(7, VISIT[2])
    seen = read(tmp_path, text + samples.slow(8, VISIT[1]) + samples.slow(7, "COMMIT"))
    (transaction,) = seen.transactions
    assert [seen.digests[kind].text for kind, _ in transaction.statements] == [
        "UPDATE product SET stock = ? WHERE id = ?"
    ]


def test_without_autocommit_a_transaction_begins_behind_the_last(tmp_path: Path) -> None:
    text = samples.slow(7, VISIT[2], "COMMIT", VISIT[1], VISIT[2], "COMMIT")
    (transaction,) = read(tmp_path, text).transactions
    assert len(transaction.statements) == 2


def test_a_slow_log_of_mysql(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.MYSQL_SLOW)
    assert (seen.server, seen.database, counts(seen)) == ("8.4.3", "shop", {READ: 1})


def test_percona_says_its_rate_limit(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.PERCONA_SLOW)
    assert counts(seen) == {READ: 10}
    assert any("stands for 10" in note for note in seen.notes)
    assert not seen.has_sessions  # statements of a transaction are missing
    assert counts(read(tmp_path, samples.PERCONA_SLOW, one_in=3)) == {READ: 3}


def test_the_servers_rate_limit_counts_where_the_log_has_none(tmp_path: Path) -> None:
    text = samples.slow(7, VISIT[1])
    assert counts(read(tmp_path, text, server_settings={"log_slow_rate_limit": "5"})) == {READ: 5}


@pytest.mark.parametrize(("of_server", "warns"), [(0.3, False), (30.0, True)])
def test_a_rate_is_held_against_the_servers_own(of_server: float, *, warns: bool) -> None:
    digest = Digest(text=READ, calls=10, time_s=1.0)
    seen = StatementsSeen(
        protocol="mysql",
        server="11.4",
        database="shop",
        interval_s=10.0,
        digests=(digest,),
        tables=(),
    )
    (note,) = reading.compare_rates(seen, of_server).notes
    assert note.startswith("the log has 1.0 statements/s, and the server was sent")
    assert ("are all sessions in the log?" in note) == warns
    assert not reading.compare_rates(seen, None).notes


def test_general_logs(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.MARIADB_GENERAL)
    assert (seen.database, seen.interval_s) == ("shop", 2.0)
    assert counts(seen)[READ] == 1
    assert "SELECT ? FROM elsewhere WHERE id = ?" not in counts(seen)
    assert [one.calls for one in seen.transactions] == [1]
    assert counts(read(tmp_path, samples.MYSQL_GENERAL)) == {READ: 1}


def test_a_csv_log_of_postgresql(tmp_path: Path) -> None:
    text = samples.pg_csv("a.1", "duration: 0.1 ms  statement: BEGIN")
    text += samples.pg_csv(
        "a.2", "duration: 0.2 ms  statement: SELECT \"a\"\nFROM t WHERE id = '5'"
    )
    detail = "Parameters: $1 = '5', $2 = NULL"
    text += samples.pg_csv(
        "a.1", "duration: 0.2 ms  bind s1: SELECT title FROM product WHERE id = $1"
    )
    text += samples.pg_csv(
        "a.1", "duration: 0.2 ms  execute s1: SELECT title FROM product WHERE id = $1", detail
    )
    text += samples.pg_csv("a.1", "duration: 0.2 ms  statement: COMMIT", second=48)
    seen = read(tmp_path, text)
    assert (seen.database, seen.interval_s) == ("shop", 10.0)
    assert counts(seen)[READ] == 1
    assert counts(seen)['SELECT "a" FROM t WHERE id = ?'] == 1
    (transaction,) = seen.transactions
    assert [seen.digests[kind].text for kind, _ in transaction.statements] == [READ]


def test_a_statement_before_its_duration_counts_once(tmp_path: Path) -> None:
    text = samples.pg_csv("a.1", "statement: SELECT title FROM product WHERE id = 5")
    text += samples.pg_csv("a.2", "duration: 3.0 ms")
    text += samples.pg_csv("a.1", "duration: 0.5 ms")
    (digest,) = read(tmp_path, text).digests
    assert (digest.text, digest.calls, digest.time_s) == (READ, 1, 0.0005)


def test_a_text_log_of_postgresql(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.PG_TEXT)
    assert counts(seen) == {"BEGIN": 1, READ: 1, "COMMIT": 1}
    assert [one.calls for one in seen.transactions] == [1]
    rds = read(tmp_path, samples.RDS_TEXT)
    assert (rds.database, counts(rds)) == ("shop", {READ: 1})


def test_plans_of_auto_explain(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.PG_PLANS)
    (digest,) = seen.digests
    assert (digest.text, digest.rows_sent, digest.time_s) == (READ, 1, 0.000054)
    assert not seen.has_sessions


def test_pt_query_digest_has_lengths_from_its_examples(tmp_path: Path) -> None:
    seen = read(tmp_path, samples.PT_QUERY_DIGEST, database="shop")
    first, second = seen.digests
    assert (first.text, first.listed) == ("SELECT title FROM product WHERE id IN (...)", (3.0,))
    assert (first.calls, first.time_s, first.rows_examined) == (90, 0.9, 280)
    assert second.text == "select name from kind where id in(...)"
    assert (seen.interval_s, seen.unknown) == (60.0, 5)


def test_dumps_of_statistics(tmp_path: Path) -> None:
    (digest,) = read(tmp_path, samples.PG_DUMP).digests
    assert (digest.text, digest.calls, digest.rows_sent) == (
        "SELECT title\nFROM product WHERE id = $1",
        70,
        70,
    )
    assert digest.time_s == pytest.approx(0.0355)
    seen = read(tmp_path, samples.MYSQL_DUMP)
    assert (seen.database, seen.protocol) == ("shop", "mysql")
    assert seen.digests[0].time_s == 1.0


def test_what_it_is_not_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match="is none of what is read: the slow log and the general log"
    ):
        read(tmp_path, "Dear reader,\nthis is a letter.\n")
    with pytest.raises(UsageError, match="is none of what is read"):
        read(tmp_path, b"")
    with pytest.raises(UsageError, match="Is a directory"):
        read_log(tmp_path)
    with pytest.raises(UsageError, match="no statement of the database 'other', but of shop"):
        read(tmp_path, samples.MYSQL_SLOW, database="other")


def test_a_log_of_slow_statements_alone_is_refused_with_its_cure(tmp_path: Path) -> None:
    text = samples.slow(7, *[VISIT[1]] * reading.DURATIONS_LEAST, time_s=1.2)
    with pytest.raises(UsageError) as refused:
        read(
            tmp_path, text, server_settings={"long_query_time": "1.000000", "slow_query_log": "ON"}
        )
    said = str(refused.value)
    assert "a log of slow statements alone is no workload" in said
    assert "SET GLOBAL long_query_time = 0, slow_query_log = ON" in said
    assert "SET GLOBAL long_query_time = 1.000000, slow_query_log = ON" in said
    assert counts(read(tmp_path, text, threshold_s=0.0)) == {READ: reading.DURATIONS_LEAST}
    with pytest.raises(UsageError, match="--threshold says"):
        read(tmp_path, samples.slow(7, VISIT[1]), threshold_s=1.0)


def test_a_slow_log_of_postgresql_is_refused_with_its_own_cure(tmp_path: Path) -> None:
    slow = samples.pg_csv("a.1", "duration: 1200.1 ms  statement: SELECT a FROM t WHERE id = 5")
    with pytest.raises(UsageError, match="ALTER SYSTEM SET log_min_duration_statement = 0"):
        read(tmp_path, slow * reading.DURATIONS_LEAST)


def test_a_compressed_log_is_read(tmp_path: Path) -> None:
    assert counts(read(tmp_path, gzip.compress(samples.MYSQL_SLOW.encode()))) == {READ: 1}


def test_no_value_is_kept(tmp_path: Path) -> None:
    secret = "s3cret"
    statements = [
        f"SELECT title FROM product WHERE id = '{secret}'",
        f"INSERT INTO product (title) VALUES ('{secret}'), ('{secret}')",
        f"SELECT title FROM product WHERE id IN ('{secret}') /* {secret} */",
        f"SELECT title FROM product WHERE id = '{secret}",
    ]
    assert secret not in repr(read(tmp_path, samples.slow(7, *statements)))


def test_a_line_without_an_end_takes_no_memory(tmp_path: Path) -> None:
    text = samples.slow(7, "SELECT title FROM product WHERE id = '" + "x" * 3_000_000 + "'")
    seen = read(tmp_path, text + samples.slow(7, VISIT[1]))
    assert counts(seen) == {READ: 2}
    assert any("were cut" in note for note in seen.notes)


HOSTILE = (
    samples.MARIADB_HEAD + samples.slow(7, *VISIT, "COMMIT"),
    samples.MARIADB_GENERAL,
    samples.PG_TEXT,
    samples.pg_csv("a.1", "duration: 0.1 ms  statement: BEGIN") * 3,
    samples.PT_QUERY_DIGEST,
    samples.PG_DUMP,
    samples.MYSQL_DUMP,
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.sampled_from(HOSTILE), st.integers(0, 600), st.binary(max_size=30), st.integers(0, 30))
def test_hostile_bytes_are_data(
    tmp_path: Path, text: str, at: int, other: bytes, removed: int
) -> None:
    data = text.encode()
    with suppress(UsageError):
        read(tmp_path, data[:at] + other + data[at + removed :])
