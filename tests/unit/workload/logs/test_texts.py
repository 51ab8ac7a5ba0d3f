"""Statements without their values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.model.databases import Language
from plimsoll.workload.logs.texts import Stripper

CASES = [
    ("SELECT a FROM t WHERE id = 5", "SELECT a FROM t WHERE id = ?"),
    ("UPDATE t SET a = a + -5 WHERE b = a - 1", "UPDATE t SET a = a + ? WHERE b = a - ?"),
    ("select a\n\tfrom t  where id=-5.5e3;", "select a from t where id=?"),
    (r"SELECT a FROM t WHERE b = 'it''s \' x' AND c = ''", "SELECT a FROM t WHERE b = ? AND c = ?"),
    ('SELECT a FROM t WHERE b = "x 5"', "SELECT a FROM t WHERE b = ?"),
    ("SELECT `a 1` FROM t1 /* who 5 */ WHERE x2 = 0xFF -- 'y", "SELECT `a 1` FROM t1 WHERE x2 = ?"),
    (
        "SELECT a FROM t WHERE b = _utf8mb4'x' AND c = X'0F'",
        "SELECT a FROM t WHERE b = ? AND c = ?",
    ),
    ("SELECT a FROM t WHERE id IN (1, 2,3)", "SELECT a FROM t WHERE id IN (...)"),
    ("INSERT INTO t (a) VALUES (1),(2), (3)", "INSERT INTO t (a) VALUES (?) /* , ... */"),
    (
        "INSERT INTO t (a, b) VALUES (1, NOW()) ON DUPLICATE KEY UPDATE a = 2",
        "INSERT INTO t (a, b) VALUES (?, NOW()) ON DUPLICATE KEY UPDATE a = ?",
    ),
    ("SELECT a FROM t WHERE b = 'no end", "SELECT a FROM t WHERE b = ?"),
    (
        "SELECT a FROM t WHERE 1=1 AND (0 = 1) AND b=5",
        "SELECT a FROM t WHERE TRUE AND (FALSE) AND b=?",
    ),
    ("SELECT `a?` FROM t WHERE 1=1 AND b=5", "SELECT `a?` FROM t WHERE TRUE AND b=?"),
    ("SELECT a FROM t WHERE 5=2+b", "SELECT a FROM t WHERE ?=?+b"),
]
OF_POSTGRES = [
    ('SELECT "a 1" FROM t WHERE b = $1 AND c = 5', 'SELECT "a 1" FROM t WHERE b = ? AND c = ?'),
    (r"SELECT a FROM t WHERE b = 'c:\' AND c = E'\'x'", "SELECT a FROM t WHERE b = ? AND c = ?"),
    (
        "SELECT a FROM t WHERE b = $x$ it's 5 $x$ AND c = $$y$$",
        "SELECT a FROM t WHERE b = ? AND c = ?",
    ),
    ("SELECT a FROM t WHERE b = '5'::text", "SELECT a FROM t WHERE b = ?::text"),
    ("SELECT a FROM t WHERE id = ANY('{1,2}'::bigint[])", "SELECT a FROM t WHERE id IN (...)"),
    ("SELECT a FROM t WHERE id <> ALL (ARRAY[1, 2])", "SELECT a FROM t WHERE id NOT IN (...)"),
    ("INSERT INTO t (a, b) VALUES ('{1,2}', 3)", "INSERT INTO t (a, b) VALUES (?, ?)"),
    (
        "SELECT a FROM t WHERE d ? 'x' AND 1=1 AND b=5",
        "SELECT a FROM t WHERE d ? ? AND TRUE AND b=?",
    ),
    (
        "SELECT a FROM t WHERE id = ANY('{1,2,3}') AND 1=1",
        "SELECT a FROM t WHERE id IN (...) AND TRUE",
    ),
]


@pytest.mark.parametrize(("text", "bare"), CASES)
def test_values_are_taken_out(text: str, bare: str) -> None:
    assert Stripper("sql").strip(text).form.text == bare


@pytest.mark.parametrize(("text", "bare"), OF_POSTGRES)
def test_values_of_postgresql_are_taken_out(text: str, bare: str) -> None:
    assert Stripper("postgres").strip(text).form.text == bare


def test_the_values_of_an_array_are_before_its_limit() -> None:
    text = "SELECT a FROM t WHERE id = ANY('{4,5,6}') LIMIT 10"
    stripped = Stripper("postgres").strip(text)
    assert (stripped.form.listed, stripped.limit) == ((3,), 10)


def test_lengths_are_told_in_numbers() -> None:
    strip = Stripper("sql").strip
    assert strip("SELECT a FROM t WHERE id IN (1, 2, 3)").form.listed == (3,)
    assert strip("SELECT a FROM t WHERE b IN (1) OR id IN (1, 2)").form.listed == (1, 2)
    assert strip("INSERT INTO t (a, b) VALUES (1, 'x'), (2, 'y')").form.listed == (2,)
    postgres = Stripper("postgres").strip
    assert postgres("SELECT a FROM t WHERE id = ANY('{4,5,6}')").form.listed == (3,)
    array = {"$1": "'{4,5}'"}
    assert postgres("SELECT a FROM t WHERE id = ANY($1)", array).form.listed == (2,)
    assert strip("SELECT a FROM t WHERE b = 7 LIMIT 20").limit == 20
    assert strip("SELECT a FROM t LIMIT 40, 20").limit == 20
    assert strip("SELECT a FROM t WHERE id BETWEEN 11 AND 20").span == 10
    assert strip("SELECT a FROM t WHERE d BETWEEN '2026' AND 'x'").span is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("sql", "INSERT INTO t (a, b) VALUES (7, {}) ON DUPLICATE KEY UPDATE b = 5"),
        ("sql", "REPLACE INTO t (a, b) VALUES (7, {})"),
        ("postgres", "INSERT INTO t (b, a) VALUES ({}, 7) ON CONFLICT (a) DO NOTHING"),
    ],
)
def test_the_key_of_an_upsert_is_the_value_that_finds_its_row(
    language: Language, text: str
) -> None:
    strip = Stripper(language).strip
    assert strip(text.format(1)).key == strip(text.format(2)).key is not None
    assert strip(text.format(1)).key != strip(text.format(1).replace("7", "8")).key


def test_the_key_is_the_first_value_that_is_compared_and_only_its_hash() -> None:
    strip = Stripper("sql").strip
    five = strip("UPDATE t SET a = 9 WHERE id = 5").key
    assert five == strip("UPDATE t SET a = 8 WHERE id = '5'").key
    assert five != strip("UPDATE t SET a = 9 WHERE id = 6").key
    assert strip("SELECT a FROM t WHERE id > 5").key is None
    postgres = Stripper("postgres").strip
    text = "SELECT a FROM t WHERE id = $1"
    assert postgres(text, {"$1": "'5'"}).key == five
    assert postgres(text).key is None


@pytest.mark.parametrize(
    ("text", "control"),
    [
        ("begin", "begin"),
        ("START TRANSACTION READ ONLY", "begin"),
        ("COMMIT", "commit"),
        ("rollback", "rollback"),
        ("ROLLBACK TO SAVEPOINT a", ""),
        ("SET autocommit=0", "autocommit off"),
        ("SET SESSION autocommit = ON", "autocommit on"),
        ("SET NAMES utf8mb4", ""),
    ],
)
def test_what_a_statement_does_to_a_transaction(text: str, control: str) -> None:
    assert Stripper("sql").strip(text).form.control == control


@pytest.mark.parametrize("language", ["sql", "postgres"])
@given(st.text("'\"`\\$-/*#(), ?5aVALUESINx\n"))
def test_any_text_is_read_and_no_quoted_value_is_left(language: Language, text: str) -> None:
    bare = Stripper(language).strip(text).form.text
    assert len(bare) <= 2 * len(text) + 20


PIECES = ["'", '"', "\\'", '\\"', "/*", "VALUES(", "IN (?,", "$a$", "-- ", "$", "AND 1=1 "]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("language", ["sql", "postgres"])
def test_a_long_text_is_read_in_one_pass(language: Language, piece: str) -> None:
    Stripper(language).strip(piece * 25_000)  # time that grows as its square would be many minutes
