"""What a statement's text shows of where it reaches."""

import pytest

from plimsoll.workload import WorkloadError, builtin_names, load_workload, parse_workload
from plimsoll.workload.reach import beyond

WITHIN = [
    "SELECT a.x, b.y FROM t a JOIN u b ON a.i = b.i WHERE a.x IN (SELECT c.z FROM t c)",
    "SELECT a.x FROM t a, u b WHERE b.y = ?",
    "(SELECT 1 FROM t) UNION (SELECT 2 FROM u)",
    'SELECT "a" FROM "t"',
    "SELECT 'mysql.user' FROM t -- mysql.user",
    "INSERT INTO t (a) VALUES (?) ON DUPLICATE KEY UPDATE t.a = 1",
    "INSERT INTO t (a, b) SELECT u.a, u.b FROM u",
    "SELECT EXTRACT(YEAR FROM t.d) FROM t FOR UPDATE",
    "UPDATE t SET t.a = 1 WHERE t.b = ?",
    "DELETE FROM t WHERE a = ?",
    "WITH x AS (SELECT a FROM t) SELECT x.a FROM x",
]
BEYOND = [
    ("SELECT * FROM mysql.user", "mysql.u"),
    ("SELECT * FROM `mysql` . `user`", "mysql . u"),
    ('SELECT * FROM "system"."peers"', "system.p"),
    ('SELECT * FROM "other" . t', "other"),
    ('SELECT * FROM other."t"', "other.t"),
    ("SELECT table_name FROM information_schema.tables", "information_schema.t"),
    ("SELECT 1 FROM t, other.u", "other.u"),
    ("SELECT 1 FROM (other.u)", "other.u"),
    ("SELECT 1 FROM t JOIN other.u ON 1", "other.u"),
    ("SELECT * FROM\nother\n.\nu", "other"),
    ("SELECT c FROM `we-ird`.`t`", "we_ird.t"),
    ("WITH x AS (SELECT * FROM other.t) SELECT * FROM x", "other.t"),
    ("UPDATE other.t SET a = 1", "other.t"),
    ("INSERT INTO other.t VALUES (1)", "other.t"),
    ("DELETE FROM a USING a JOIN other.b", "other.b"),
    ("SELECT 1 INTO OUTFILE '/tmp/x'", "a file"),
    ("SELECT load_file('/etc/passwd') FROM t", "a file"),
    ("SELECT /*!50000 host FROM mysql.user */ 1", "a comment"),
    ("SELECT /*M! host */ 1", "a comment"),
    ("DROP TABLE t", "DROP"),
    ("TABLE mysql.user", "TABLE"),
    ("SET GLOBAL max_connections = 1", "SET"),
    ("CALL p()", "CALL"),
    ("GRANT ALL ON *.* TO x", "GRANT"),
]
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
    assert beyond(text) is None


@pytest.mark.parametrize(("text", "named"), BEYOND)
def test_a_statement_that_reaches_further(text: str, named: str) -> None:
    told = beyond(text)
    assert told is not None
    assert named in told


def test_the_built_in_workloads_stay_within_theirs() -> None:
    assert len([load_workload(name) for name in builtin_names()]) > 15


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
