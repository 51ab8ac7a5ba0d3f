"""What the reader of statements lets through in CQL, judged by a real Cassandra.

A user who may read and write the workload's tables and nothing else prepares every statement that
passes, and carries it out, while tables, keyspaces and functions of the names in the attacks exist.
By the server's own audit log it is then a SELECT, UPDATE, INSERT or DELETE on one of those tables,
and nothing that the user may not do.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from zipfile import ZipFile

import pytest
from cassandra import DriverException
from cassandra.cluster import Session
from cassandra.protocol import ErrorMessage
from cassandra.query import UNSET_VALUE, PreparedStatement
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from plimsoll.local.databases.cassandra_program import find_cassandra
from plimsoll.local.databases.cassandra_server import CassandraServer
from plimsoll.workload import WorkloadError
from plimsoll.workload.names import Names
from plimsoll.workload.reach import read_statement
from plimsoll.workload.vocabulary import find_vocabulary
from tests.support.cql_statements import CQL_ATTACKS, CQL_WITHIN
from tests.support.guarded_cassandra import ADMIN, AUDITED, AuditLog, Deed, session_of

OWN = "statements"
NAMES = Names("cql", frozenset({"item", "part"}), frozenset({"id", "name", "k"}))
KEYSPACES = (OWN, "other", "item")
TABLES = [
    f"{OWN}.item (id int PRIMARY KEY, name text, k int)",
    f"{OWN}.part (id int PRIMARY KEY, k int)",
    f"{OWN}.secret (id int PRIMARY KEY, k int)",
    f'{OWN}."Item" (id int PRIMARY KEY, k int)',
    "other.t (id int PRIMARY KEY, k int)",
    "other.item (id int PRIMARY KEY, name text, k int)",
    "item.name (id int PRIMARY KEY, k int)",
]
ONE = "{'class': 'SimpleStrategy', 'replication_factor': 1}"
IDENTITY = "(x int) RETURNS NULL ON NULL INPUT RETURNS int LANGUAGE java AS 'return x;'"
# an INSERT is an UPDATE there; a failure is that of a value that does not fit
KINDS = {"PREPARE_STATEMENT", "SELECT", "UPDATE", "DELETE", "REQUEST_FAILURE"}
ALLOWED = {Deed(kind, OWN, table) for kind in KINDS for table in NAMES.tables}
REFUSALS = (DriverException, ErrorMessage)  # the second of what is no CQL at all
VALUES = {"int": 1, "bigint": 1, "text": "a"}


class Judge:
    """Tries statements as a user with rights on two tables, and says what the server did."""

    def __init__(self, session: Session, log: AuditLog) -> None:
        self._session = session
        self._log = log

    def deeds(self, statement: str) -> set[Deed]:
        """Prepare a statement and carry it out; nothing where it is none for the server."""
        if self._session.keyspace != OWN:  # after another USE
            self._session.set_keyspace(OWN)
        self._log.read()
        try:
            prepared = self._session.prepare(statement)
        except REFUSALS:
            return set()
        with suppress(*REFUSALS):
            self._session.execute(prepared, values_for(prepared))
        return set(self._log.read())


def values_for(prepared: PreparedStatement) -> list[object]:
    types = [column.type.cql_parameterized_type() for column in prepared.column_metadata]
    return [VALUES.get(name, UNSET_VALUE) for name in types]


@pytest.fixture(scope="module")
def judge(cassandra: CassandraServer) -> Iterator[Judge]:
    user, password = AUDITED
    with session_of(cassandra, ADMIN) as admin:
        for keyspace in KEYSPACES:
            admin.execute(f"CREATE KEYSPACE {keyspace} WITH replication = {ONE}")
        for table in TABLES:
            admin.execute(f"CREATE TABLE {table}")
        for keyspace in (OWN, "other"):
            admin.execute(f"CREATE FUNCTION {keyspace}.f {IDENTITY}")
        admin.execute(f"CREATE ROLE {user} WITH PASSWORD = '{password}' AND LOGIN = true")
        for table in sorted(NAMES.tables):
            for right in ("SELECT", "MODIFY"):
                admin.execute(f"GRANT {right} ON {OWN}.{table} TO {user}")
        with session_of(cassandra, AUDITED, OWN) as session:
            yield Judge(session, AuditLog(cassandra))
        admin.execute(f"DROP ROLE {user}")
        for keyspace in KEYSPACES:
            admin.execute(f"DROP KEYSPACE {keyspace}")


@pytest.mark.parametrize("statement", CQL_WITHIN)
def test_what_is_shown_as_sound_is_sound(judge: Judge, statement: str) -> None:
    read_statement(statement, NAMES)
    deeds = judge.deeds(statement)
    assert "PREPARE_STATEMENT" in {deed.kind for deed in deeds}
    assert deeds <= ALLOWED


def test_the_attacks_reach_further_where_nobody_refuses_them(judge: Judge) -> None:
    further = {attack for attack in CQL_ATTACKS if not judge.deeds(attack) <= ALLOWED}
    assert len(further) > 60
    for attack in CQL_ATTACKS:
        with pytest.raises(WorkloadError):
            read_statement(attack, NAMES)


def test_a_word_that_the_server_reserves_is_no_name() -> None:
    """Each is a column here: the reader takes none of them for it, unless it is in quotes."""
    (jar,) = find_cassandra().glob("cassandra-all-*.jar")
    with ZipFile(jar) as archive:
        words = archive.read("org/apache/cassandra/cql3/reserved_keywords.txt").decode().split()
    assert {"SELECT", "FROM", "INTO"} <= set(words)
    known = find_vocabulary("cql")
    names = Names("cql", frozenset({"item"}), frozenset(map(str.lower, words)))
    unknown = set(words) - known.words - known.modifiers - known.reserved
    assert {word for word in unknown if _passes(f"SELECT {word} FROM item", names)} == set()


def _passes(statement: str, names: Names = NAMES) -> bool:
    try:
        read_statement(statement, names)
    except WorkloadError:
        return False
    return True


def _one_of(lines: str) -> st.SearchStrategy[str]:
    return st.sampled_from([each.strip() for each in lines.split("|")])


SLOTS = {
    "table": _one_of('item|part|ITEM|"item"|item|part|secret|other.t|other.item|"Item"|item.name'),
    "column": _one_of(
        """id|k|*|"k"|COUNT(*)|MAX(k)|TOKEN(id)|CAST(k AS text)|WRITETIME(k)|TTL(k)|k AS n|NOW()
        |DISTINCT id|JSON k|f(k)|other.f(k)|f (k)|k.id|[k]|{k}|(int)1|$$k$$|'k'|k + 1|-k|secret.k"""
    ),
    "value": _one_of(
        """1|?|NULL|-1|'a'|0x1F|1.5|TOKEN(1)|(1)|(1, 2)|k|k + 1|f(1)|other.f(1)|(int)?|$$a$$|[1]
        |{'a': 1}|'it''s'|'a\\\\'|:k|1; TRUNCATE secret|1 -- '|NaN|1h|\u0661"""
    ),
    "using": _one_of("||USING TTL 5|USING TIMESTAMP ?|USING TTL 5 AND TIMESTAMP 6|USING item|-- '"),
    "where": _one_of(
        """||WHERE id = {value}|WHERE id IN ({value}, ?)|WHERE TOKEN(id) > TOKEN({value})
        |WHERE k > {value} ALLOW FILTERING|WHERE id = 1 AND k = {value} ALLOW FILTERING"""
    ),
    "tail": _one_of(
        """||LIMIT {value}|PER PARTITION LIMIT 1|ALLOW FILTERING|GROUP BY id|ORDER BY k|, secret
        |; DROP TABLE item|/* ' */|FROM secret|AS x|USING TIMESTAMP 1"""
    ),
    "if": _one_of("||IF EXISTS|IF NOT EXISTS|IF k = {value}|IF name = 'a' AND k IN (1)"),
}
STATEMENTS = [
    "SELECT {column} FROM {table} {where} {tail}",
    "SELECT {column}, {column} FROM {table} {where} {tail}",
    "INSERT INTO {table} (id, k) VALUES ({value}, {value}) {if} {using}",
    "INSERT INTO {table} JSON {value} DEFAULT UNSET",
    "UPDATE {table} {using} SET k = {value} WHERE id = {value} {if}",
    "DELETE {column} FROM {table} {using} WHERE id = {value} {if}",
    "DELETE FROM {table} {where} {if}",
    *CQL_WITHIN,
]
SLOT = re.compile(rf"\{{({'|'.join(SLOTS)})\}}")
PIECE = re.compile(r"'[^']*'|\w+|\s+|.", re.DOTALL)
PATCHES = _one_of(
    """item|secret|other.|.t|id|?|'|"|(|)|,|=|*|--|//|/*|*/|;|$$|[|{|SELECT|FROM|INTO|UPDATE|USE
    |TRUNCATE|BEGIN BATCH|APPLY BATCH|AS|IN|IF|USING|TTL|JSON|DISTINCT|TABLE|TOKEN|text
    |\u00a0|\u0435|\\\\|\0"""
)


@st.composite
def generated(draw: st.DrawFn) -> str:
    """Fill a statement's slots; in one of four, put something in the place of a part of it."""
    text = draw(st.sampled_from(STATEMENTS))
    while slot := SLOT.search(text):
        text = text[: slot.start()] + draw(SLOTS[slot[1]]) + text[slot.end() :]
    if draw(st.integers(0, 3)) == 0:
        parts = PIECE.findall(text)
        at = draw(st.integers(0, len(parts)))
        parts[at : at + draw(st.integers(0, 2))] = [draw(PATCHES)]
        text = "".join(parts)
    return text


@settings(
    max_examples=4 * settings().max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(generated().filter(_passes))
def test_what_passes_reads_and_writes_the_tables_of_the_workload_alone(
    judge: Judge, statement: str
) -> None:
    deeds = judge.deeds(statement)
    event("prepared" if deeds else "no statement")
    assert deeds <= ALLOWED
