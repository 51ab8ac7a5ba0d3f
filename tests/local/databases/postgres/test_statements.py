"""What the reader of statements lets through, judged by a real server.

A user who may read and write the workload's tables and nothing else has the server plan every
statement that passes, while tables, schemas and functions of the names in the attacks exist: the
server never says that it may not, and the plan reads no other table.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pg8000.native
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from plimsoll.local.databases.postgres_server import PostgresServer
from plimsoll.workload import WorkloadError
from plimsoll.workload.names import Names
from plimsoll.workload.reach import read_statement
from plimsoll.workload.vocabulary import find_vocabulary
from tests.support.postgres_statements import ATTACKS, WITHIN

USER, DENIED = "statement_user", "42501"  # insufficient_privilege
NAMES = Names("postgres", frozenset({"item", "part"}), frozenset({"id", "name", "k"}))
MADE = [
    "CREATE TABLE item (id INT PRIMARY KEY, name VARCHAR(50), k INT)",
    "CREATE TABLE part (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE secret (id SERIAL PRIMARY KEY, k INT)",
    "CREATE SCHEMA other",
    "CREATE TABLE other.t (id INT PRIMARY KEY, k INT)",
    "CREATE TABLE other.item (id INT PRIMARY KEY, k INT)",
    "CREATE SCHEMA item",
    "CREATE TABLE item.name (id INT PRIMARY KEY, k INT)",
    "CREATE FUNCTION f (x INT) RETURNS INT LANGUAGE SQL VOLATILE AS 'SELECT 1'",
    "CREATE FUNCTION f (x item) RETURNS INT LANGUAGE SQL VOLATILE AS 'SELECT 1'",
    "REVOKE EXECUTE ON FUNCTION f (INT), f (item) FROM PUBLIC",
    f"CREATE ROLE {USER} LOGIN PASSWORD 'x'",
    f"GRANT SELECT, INSERT, UPDATE, DELETE ON item, part TO {USER}",
]
Session = Any  # the driver carries no types


def opened(server: PostgresServer, database: str, user: str, password: str) -> Session:
    return pg8000.native.Connection(
        user, host=server.host, port=server.port, database=database, password=password
    )


@pytest.fixture(scope="module")
def limited(postgres: PostgresServer) -> Iterator[Session]:
    """A session of a user with rights on the workload's two tables, and no others."""
    owner = postgres.user, postgres.password
    with closing(opened(postgres, postgres.database, *owner)) as root:
        root.run("CREATE DATABASE statements")
        with closing(opened(postgres, "statements", *owner)) as inside:
            for statement in MADE:
                inside.run(statement)
        with closing(opened(postgres, "statements", USER, "x")) as session:
            yield session
        root.run("DROP DATABASE statements WITH (FORCE)")
        root.run(f"DROP ROLE {USER}")


def planned(session: Session, statement: str) -> tuple[str | None, set[str]]:
    """Have a statement planned: the SQLSTATE of a refusal, and what tables the plan has."""
    try:
        ((plan,),) = session.run(f"EXPLAIN (VERBOSE, FORMAT JSON) {statement}")
    except pg8000.native.DatabaseError as error:
        return str(error.args[0]["C"]), set()
    return None, set(_relations(json.loads(plan) if isinstance(plan, str) else plan))


def _relations(plan: Any) -> Iterator[str]:
    if isinstance(plan, list):
        for part in plan:
            yield from _relations(part)
    if isinstance(plan, dict):
        if "Relation Name" in plan:
            yield f"{plan.get('Schema', 'public')}.{plan['Relation Name']}"
        if "Function Name" in plan:
            yield f"{plan['Function Name']}()"
        for part in plan.values():
            yield from _relations(part)


def beyond(answer: tuple[str | None, set[str]]) -> bool:
    """Whether the server would have gone beyond the workload's tables, or refused to."""
    code, relations = answer
    return code == DENIED or not relations <= {"public.item", "public.part"}


@pytest.mark.parametrize("statement", WITHIN)
def test_what_is_shown_as_sound_is_sound(limited: Session, statement: str) -> None:
    read_statement(statement, NAMES)
    code, _ = answer = planned(limited, statement)
    assert code is None
    assert not beyond(answer)
    limited.run("BEGIN")
    limited.run(statement)
    limited.run("ROLLBACK")


def test_the_attacks_reach_further_where_nobody_refuses_them(limited: Session) -> None:
    reaching = [attack for attack in ATTACKS if beyond(planned(limited, attack))]
    assert len(reaching) > 50
    for attack in reaching:
        with pytest.raises(WorkloadError):
            read_statement(attack, NAMES)


def test_a_word_that_the_server_reads_otherwise_is_no_name(postgres: PostgresServer) -> None:
    """Each keyword of the server as a column: where it is something else, the reader knows."""
    with closing(opened(postgres, postgres.database, postgres.user, postgres.password)) as session:
        words = {str(word).upper() for (word,) in session.run("SELECT word FROM pg_get_keywords()")}
        special = {word for word in words if not _is_plain(session, word)}
    assert len(words) > 400
    assert {"SELECT", "FROM", "INTO"} <= special
    known = find_vocabulary("postgres")
    names = Names("postgres", frozenset({"item"}), frozenset(map(str.lower, words)))
    unknown = special - known.words - known.modifiers - known.reserved - known.structure
    assert {word for word in unknown if _passes(f"SELECT {word} FROM item", names)} == set()


def test_only_words_that_are_no_names_follow_a_table(postgres: PostgresServer) -> None:
    """What may follow a table is a table's other name for no server."""
    with closing(opened(postgres, postgres.database, postgres.user, postgres.password)) as session:
        for word in find_vocabulary("postgres").after_table or ():
            with pytest.raises(pg8000.native.DatabaseError, match="syntax error"):
                session.run(f"SELECT 1 FROM (SELECT 7) {word}")


def _passes(statement: str, names: Names = NAMES) -> bool:
    try:
        read_statement(statement, names)
    except WorkloadError:
        return False
    return True


def _is_plain(session: Session, word: str) -> bool:
    try:
        found = session.run(f'SELECT {word} FROM (SELECT 7 AS "{word.lower()}") item')
    except pg8000.native.DatabaseError:
        return False
    return bool(found == [[7]])


def _one_of(*lines: str) -> st.SearchStrategy[str]:
    return st.sampled_from([each.strip() for line in lines for each in line.split("|")])


TABLE = _one_of(
    'item|part|"item"|item i|part AS p|(item CROSS JOIN part)|(SELECT id FROM item) d|ITEM',
    "item|part|item a|part b|secret|other.t|item.name|pg_authid|x|ONLY secret|item lock|item set",
    "ROWS FROM (f(1)) r|LATERAL (SELECT 1 FROM secret) l|item values|item AS u|f(1)|item i (id)",
)
COLUMN = _one_of(
    "id|k|*|item.id|i.k|name|1|'a'|NULL|COUNT(k)|MAX(id) AS most|(SELECT k FROM part)|-k|\"k\"",
    "EXTRACT(YEAR FROM name)|CASE WHEN k = 1 THEN 1 END|(SELECT k FROM secret)|other.f(1)|f(1)",
    "1 AS secret|7 AS f|item.f|(item).f|u&'x'|regclass 'secret'|CAST('secret' AS regclass)|set",
)
GLUE = _one_of(
    ",|JOIN|LEFT JOIN|STRAIGHT_JOIN|CROSS JOIN|NATURAL JOIN|ON|USING (id)|WHERE|GROUP BY|HAVING",
    "ORDER BY|LIMIT 1|UNION|UNION ALL|EXCEPT|INTERSECT|SET|FROM|SELECT|(|)|IN|EXISTS|AS|VALUES",
    "(SELECT|FOR UPDATE|OFFSET|ON CONFLICT (id) DO UPDATE SET|ON CONFLICT DO NOTHING|LOCK|=|OVER",
    "TABLE|.t|WITH|USING|DELETE|INTO|DISTINCT|RETURNING|FETCH|FILTER|true|ON true",
)
HEADS = _one_of(
    "SELECT|(SELECT|INSERT INTO|UPDATE|DELETE FROM|DELETE",
    "WITH x AS (SELECT id FROM item) SELECT|WITH secret AS (SELECT 1 AS k) SELECT",
)
SOUP = st.tuples(HEADS, st.lists(st.one_of(TABLE, COLUMN, GLUE), min_size=1, max_size=9))
SELECT = st.tuples(
    st.sampled_from(["SELECT 1 FROM", "SELECT 1 AS secret FROM", "UPDATE", "DELETE FROM"]),
    TABLE,
    st.lists(
        st.tuples(_one_of(",|CROSS JOIN|STRAIGHT_JOIN|NATURAL JOIN|lock,|set,"), TABLE), max_size=2
    ),
    _one_of(
        "||ON 1 = 1|ON true|USING (id)|WHERE 1 = 1|ORDER BY 1 LIMIT 1|SET k = 1|SET name = 'a'"
    ),
    st.one_of(st.just(""), st.tuples(_one_of(",|UNION SELECT 1 FROM"), TABLE)),
)


def _joined(parts: object) -> str:
    return " ".join(map(_joined, parts)) if isinstance(parts, tuple | list) else str(parts)


@settings(
    max_examples=6 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(st.one_of(SELECT, SOUP).map(_joined).filter(_passes))
def test_what_passes_is_never_denied(limited: Session, statement: str) -> None:
    answer = planned(limited, statement)
    event("planned" if answer[0] is None else "no statement")
    assert not beyond(answer)
