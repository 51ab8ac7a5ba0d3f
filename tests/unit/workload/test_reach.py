"""What a statement may do is read from its text; docs/api.md promises it.

`test_statements.py` of each family in `tests/local/databases` asks a real server whether it agrees.
"""

import re
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from plimsoll.model.databases import Language
from plimsoll.workload import WorkloadError, list_builtin_names, load_workload, parse_workload
from plimsoll.workload import tokens as tokens_module
from plimsoll.workload.names import Names
from plimsoll.workload.reach import read_statement
from plimsoll.workload.tokens import tokenize
from plimsoll.workload.vocabulary import find_vocabulary
from tests.support.cql_statements import CQL_ATTACKS, CQL_WITHIN
from tests.support.postgres_statements import ATTACKS as POSTGRES_ATTACKS
from tests.support.postgres_statements import WITHIN as POSTGRES_WITHIN
from tests.support.statements import ATTACKS, WITHIN

TABLES, COLUMNS = frozenset({"item", "part"}), frozenset({"id", "name", "k"})
SQL, CQL = Names("sql", TABLES, COLUMNS), Names("cql", TABLES, COLUMNS)
POSTGRES = Names("postgres", TABLES, COLUMNS)
LONG = 262_144  # the longest document
WORKLOAD = """
about: a test
tables:
  item:
    rows: $records
    primary_key: [id]
    columns: {{id: {{type: INT, value: row}}}}
operations:
  read:
    weight: 1
    statements: [{{sql: "{sql}"{more}}}]
"""


@pytest.mark.parametrize("text", WITHIN)
def test_a_statement_that_stays_within_its_tables(text: str) -> None:
    read_statement(text, SQL)


@pytest.mark.parametrize("text", CQL_WITHIN)
def test_a_statement_in_cql_that_stays_within_its_tables(text: str) -> None:
    read_statement(text, CQL)


@pytest.mark.parametrize("text", POSTGRES_WITHIN)
def test_a_statement_for_postgres_that_stays_within_its_tables(text: str) -> None:
    read_statement(text, POSTGRES)


@pytest.mark.parametrize("text", POSTGRES_ATTACKS)
def test_a_statement_for_postgres_that_reaches_further(text: str) -> None:
    with pytest.raises(WorkloadError):
        read_statement(text, POSTGRES)


@pytest.mark.parametrize("text", ATTACKS)
def test_a_statement_that_reaches_further(text: str) -> None:
    with pytest.raises(WorkloadError):
        read_statement(text, SQL)


@pytest.mark.parametrize("text", CQL_ATTACKS)
def test_a_statement_in_cql_that_reaches_further(text: str) -> None:
    with pytest.raises(WorkloadError):
        read_statement(text, CQL)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT * FROM mysql.user", "reaches beyond the workload's tables: another database"),
        ("SELECT * FROM secret", "reaches beyond the workload's tables: 'secret'"),
        ("SELECT 1 -- a note", "holds a comment (--)"),
        ("SELECT 1; SELECT 2", "holds more than one statement"),
        ("SELECT SLEEP(1)", "calls 'SLEEP', which is not an allowed function"),
        (
            "INSERT INTO item (id) VALUES (?) ON CONFLICT (id) DO NOTHING",
            "has ON CONFLICT, which is PostgreSQL's: write such a statement under `postgres`",
        ),
        ("SELECT kk FROM item", "unknown column 'kk'; did you mean 'k'?"),
        ("SELECT prt.k FROM item, part", "unknown table 'prt'; did you mean 'part'?"),
        ("SELECT 'x", "a quoted part (') has no end"),
        ("DROP TABLE item", "begins with DROP, which is none of DELETE, INSERT"),
    ],
)
def test_a_refusal_says_what_is_meant(text: str, told: str) -> None:
    with pytest.raises(WorkloadError, match=re.escape(told)):
        read_statement(text, SQL)


def test_columns_that_are_named_like_words_of_the_language_are_in_quotes() -> None:
    names = Names("sql", TABLES, frozenset({"into", "outfile", "order"}))
    read_statement("SELECT `into`, `outfile` FROM item ORDER BY `order`", names)
    with pytest.raises(WorkloadError, match="has OUTFILE, which is not allowed here"):
        read_statement("SELECT outfile INTO outfile FROM item", names)


def test_a_table_that_is_named_like_a_word_of_the_language_is_in_quotes() -> None:
    names = Names("sql", frozenset({"lateral", "item"}), COLUMNS)
    read_statement("SELECT k FROM `lateral`", names)
    with pytest.raises(WorkloadError, match="in quotes only"):
        read_statement("SELECT k FROM item, lateral", names)


@pytest.mark.parametrize("language", ["sql", "cql", "postgres"])
def test_a_word_has_one_meaning(language: Language) -> None:
    known = find_vocabulary(language)
    for one, other in [
        (known.words, known.modifiers),
        (known.words, known.reserved),
        (known.modifiers, known.reserved),
    ]:
        assert not one & other


@pytest.mark.parametrize("language", ["sql", "cql", "postgres"])
def test_no_pattern_of_tokens_goes_back(language: Language) -> None:
    """Each repetition is possessive: what it has taken it keeps, so the time is linear."""
    pattern = tokens_module.PATTERNS[language].pattern
    without_classes = re.sub(r"\[(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\.", "x", pattern))
    assert re.findall(r"[*+](?!\+)(?<![*+]{2})", without_classes) == []


PIECES = [
    "FROM ",
    "item, ",
    "(",
    "'",
    "a",
    "values ",
    "VALUES (",
    "''",
    "join item on ",
    "`a`",
    "? ",
    "\\'",  # this and the next took minutes, by expressions that went back
    '"\\',
]


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.timeout(60)  # what went back would take hours
def test_the_longest_statement_is_read_once(piece: str) -> None:
    head = "SELECT k FROM item, "
    text = head + piece * (LONG // len(piece))
    with pytest.raises(WorkloadError) as error:
        read_statement(text, SQL)
    assert len(str(error.value)) < 1000


@pytest.mark.timeout(60)
def test_rows_of_the_longest_statement_are_found_in_one_pass() -> None:
    text = "INSERT INTO item (id) VALUES (" + "1, " * 20_000 + "?)"
    more = ", binds: [1], rows_per_statement: 3"
    compiled = parse_workload(WORKLOAD.format(sql=text, more=more)).compile(1)
    (written,) = compiled.engine.operations[0].statements[0].sql
    assert written.count("?") == 3


@given(st.text(alphabet=string.printable + "é\u00a0", max_size=60))
@example("''")
@example("'a''b'")
def test_tokens_are_the_statement_in_order(text: str) -> None:
    try:
        tokens = tokenize(text, "sql")
    except WorkloadError:
        return
    ends = [0, *(token.end for token in tokens)]
    assert all(
        text[end : token.start].strip() == "" for end, token in zip(ends, tokens, strict=False)
    )
    assert text[ends[-1] :].strip() == ""


def test_the_built_in_workloads_stay_within_theirs() -> None:
    assert len([load_workload(name) for name in list_builtin_names()]) > 15


@pytest.mark.parametrize(
    ("sql", "more"),
    [
        ("SELECT * FROM mysql.user", ""),
        ("SELECT * FROM {item}, {place}.user", ", one_of: {place: [item, mysql]}"),
    ],
)
def test_a_workload_that_reaches_further_is_refused_by_its_field(sql: str, more: str) -> None:
    with pytest.raises(WorkloadError, match=r"operations\.read.*reaches beyond"):
        parse_workload(WORKLOAD.format(sql=sql, more=more))


def test_statements_are_not_written_out_beyond_measure() -> None:
    copies = WORKLOAD.replace("    rows: $records", "    rows: $records\n    copies: 1000")
    sql = "SELECT id FROM {item} WHERE id IN (" + "1, " * 2000 + "1)"
    with pytest.raises(WorkloadError, match=r"statements\[0\]\.sql: more than 4194304 characters"):
        parse_workload(copies.format(sql=sql, more=""))


def test_statements_are_not_written_out_beyond_measure_together() -> None:
    copies = WORKLOAD.replace("    rows: $records", "    rows: $records\n    copies: 1000")
    each = "SELECT id FROM {item} WHERE id IN (" + "1, " * 300 + "1)"
    many = ", ".join([f'{{sql: "{each}"}}'] * 10)
    text = copies.format(sql="SELECT 1", more="").replace('[{sql: "SELECT 1"}]', f"[{many}]")
    with pytest.raises(WorkloadError, match=r"operations\.read.*more than 4194304 characters"):
        parse_workload(text)


@pytest.mark.parametrize("lock", ["NO KEY UPDATE", "KEY SHARE", "UPDATE SKIP LOCKED"])
def test_the_locks_of_postgres(lock: str) -> None:
    text = f"SELECT k FROM item WHERE k = ? FOR {lock}"
    read_statement(text, Names("postgres", TABLES, COLUMNS))
    if "KEY" in lock:
        with pytest.raises(WorkloadError, match="where UPDATE or SHARE is allowed"):
            read_statement(text, Names("sql", TABLES, COLUMNS))


def test_a_lateral_subquery_reads_no_other_table() -> None:
    names = Names("postgres", TABLES, COLUMNS)
    read_statement("SELECT k FROM item CROSS JOIN LATERAL (SELECT k FROM item) l", names)
    with pytest.raises(WorkloadError, match="reaches beyond"):
        read_statement("SELECT k FROM item CROSS JOIN LATERAL (SELECT k FROM pg_authid) l", names)
