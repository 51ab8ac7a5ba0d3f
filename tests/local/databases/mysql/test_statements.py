"""What the reader of statements lets through, judged by a real server.

A user who may read and write the workload's tables and nothing else prepares every statement that
passes, while tables, databases and functions of the names in the attacks exist: the server never
says that it may not.
"""

from collections.abc import Iterator
from contextlib import closing

import pymysql
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from plimsoll.local.databases.mariadb_server import MariaDbServer
from plimsoll.workload import WorkloadError
from plimsoll.workload.names import Names
from plimsoll.workload.reach import read_statement
from plimsoll.workload.vocabulary import find_vocabulary
from tests.support.mariadb_connection import Connection, connected
from tests.support.statements import ATTACKS, WITHIN

OWN, USER = "statements", "statement_user"
NAMES = Names("sql", frozenset({"item", "part"}), frozenset({"id", "name", "k"}))
# access denied: to a database, table, column, routine, file, or for the lack of a privilege
DENIED = {1044, 1045, 1142, 1143, 1227, 1345, 1370}
TABLES = [
    f"CREATE TABLE {OWN}.item (id INT PRIMARY KEY, name VARCHAR(50), k INT)",
    f"CREATE TABLE {OWN}.part (id INT PRIMARY KEY, k INT)",
    f"CREATE TABLE {OWN}.secret (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE other.t (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE other.item (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE item.name (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE part.`1` (id INT PRIMARY KEY, k INT)",
    "CREATE SEQUENCE other.s",
    "CREATE FUNCTION other.f (x INT) RETURNS INT RETURN x",
    f"CREATE FUNCTION {OWN}.f (x INT) RETURNS INT RETURN x",
]


@pytest.fixture(scope="module")
def limited(mariadb: MariaDbServer) -> Iterator[Connection]:
    """A session of a user with rights on the workload's two tables, and no others."""
    databases = (OWN, "other", "item", "part")
    with closing(connected(mariadb, autocommit=True)) as root, root.cursor() as cursor:
        for database in databases:
            cursor.execute(f"CREATE DATABASE {database}")
        for statement in TABLES:
            cursor.execute(statement)
        cursor.execute(f"CREATE USER '{USER}'@'%' IDENTIFIED BY 'x'")
        for table in ("item", "part"):
            cursor.execute(f"GRANT SELECT, INSERT, UPDATE, DELETE ON {OWN}.{table} TO '{USER}'@'%'")
        session = pymysql.connect(
            host=mariadb.host, port=mariadb.port, user=USER, password="x", database=OWN
        )
        with closing(session):
            yield session
        cursor.execute(f"DROP USER '{USER}'@'%'")
        for database in databases:
            cursor.execute(f"DROP DATABASE {database}")


def refusal(session: Connection, statement: str) -> int | None:
    """Prepare a statement; the number of the server's error, None where it takes it."""
    with session.cursor() as cursor:
        try:
            cursor.execute("PREPARE tried FROM %s", [statement])
        except pymysql.MySQLError as error:
            return int(error.args[0])
    return None


@pytest.mark.parametrize("statement", WITHIN)
def test_what_is_shown_as_sound_is_sound(limited: Connection, statement: str) -> None:
    read_statement(statement, NAMES)
    assert refusal(limited, statement) is None
    with limited.cursor() as cursor:
        cursor.execute("EXECUTE tried")
    limited.rollback()


def test_the_attacks_reach_further_where_nobody_refuses_them(limited: Connection) -> None:
    denied = [attack for attack in ATTACKS if refusal(limited, attack) in DENIED]
    assert len(denied) > 50
    for attack in denied:
        with pytest.raises(WorkloadError):
            read_statement(attack, NAMES)


def test_a_word_that_the_server_reads_otherwise_is_no_name(mariadb: MariaDbServer) -> None:
    """Each keyword of the server as a column: where it is something else, the reader knows."""
    with closing(connected(mariadb)) as session, session.cursor() as cursor:
        cursor.execute("SELECT word FROM information_schema.keywords")
        words = {str(word) for (word,) in cursor.fetchall() if str(word).replace("_", "").isalnum()}
        special = {word for word in words if not _is_plain(session, word)}
    assert len(words) > 500
    assert {"SELECT", "FROM", "INTO"} <= special
    known = find_vocabulary("sql")
    names = Names("sql", frozenset({"item"}), frozenset(map(str.lower, words)))
    unknown = special - known.words - known.modifiers - known.reserved
    assert {word for word in unknown if _passes(f"SELECT {word} FROM item", names)} == set()


def _passes(statement: str, names: Names = NAMES) -> bool:
    try:
        read_statement(statement, names)
    except WorkloadError:
        return False
    return True


def _is_plain(session: Connection, word: str) -> bool:
    with session.cursor() as cursor:
        try:
            cursor.execute(f"SELECT {word} FROM (SELECT 7 AS `{word}`) item")
        except pymysql.MySQLError:
            return False
        return cursor.fetchall() == ((7,),)


def _one_of(*lines: str) -> st.SearchStrategy[str]:
    return st.sampled_from([each.strip() for line in lines for each in line.split("|")])


TABLE = _one_of(
    "item|part|`item`|item i|part AS p|(item)|(item, part)|(SELECT id FROM item) d",
    "item|part|item a|part b|secret|other.t|`other`.`item`|item.name|part.1|x|mysql.user",
)
COLUMN = _one_of(
    "id|k|*|item.id|i.k|name|1|'a'|NULL|COUNT(k)|MAX(id) AS most|(SELECT k FROM part)|-k|`k`",
    "EXTRACT(YEAR FROM name)|CASE WHEN k THEN 1 END|(SELECT k FROM secret)|other.f(1)|f(1)",
    '"b"|NEXT VALUE FOR other.s',
)
GLUE = _one_of(
    ",|JOIN|LEFT JOIN|STRAIGHT_JOIN|CROSS JOIN|NATURAL JOIN|ON|USING (id)|WHERE|GROUP BY|HAVING",
    "ORDER BY|LIMIT 1,|UNION|UNION ALL|EXCEPT|INTERSECT|SET|FROM|SELECT|(|)|IN|EXISTS|AS|VALUES",
    "(SELECT|FOR UPDATE|OFFSET|FORCE INDEX (PRIMARY)|ON DUPLICATE KEY UPDATE|LOCK IN SHARE MODE|=",
    "TABLE|.t|WITH|USING|DELETE|INTO|DISTINCT|RETURNING|WITH ROLLUP",
)
HEADS = _one_of(
    "SELECT|(SELECT|INSERT INTO|REPLACE INTO|UPDATE|DELETE FROM|DELETE",
    "WITH x AS (SELECT id FROM item) SELECT|WITH secret AS (SELECT 1 AS k) SELECT",
)
SOUP = st.tuples(HEADS, st.lists(st.one_of(TABLE, COLUMN, GLUE), min_size=1, max_size=9))
SELECT = st.tuples(
    st.sampled_from(["SELECT 1 FROM", "SELECT COUNT(*) FROM", "UPDATE"]),
    TABLE,
    st.lists(st.tuples(_one_of(",|JOIN|STRAIGHT_JOIN|CROSS JOIN|NATURAL JOIN"), TABLE), max_size=2),
    _one_of("||ON 1 = 1|USING (id)|WHERE 1 = 1|ORDER BY 1 LIMIT 1|offset|SET k = 1|SET name = 'a'"),
    st.one_of(st.just(""), st.tuples(_one_of(",|UNION SELECT 1 FROM"), TABLE)),
)


def _joined(parts: object) -> str:
    return " ".join(map(_joined, parts)) if isinstance(parts, tuple | list) else str(parts)


@settings(
    max_examples=4 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.one_of(SELECT, SOUP).map(_joined).filter(_passes))
def test_what_passes_is_never_denied(limited: Connection, statement: str) -> None:
    answer = refusal(limited, statement)
    event("prepared" if answer is None else "no statement")
    assert answer not in DENIED
