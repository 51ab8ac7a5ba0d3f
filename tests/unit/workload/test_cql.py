"""Workloads for Cassandra: YCSB's own table and statements, and what Cassandra has not."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.workload import list_builtin_names, load_workload, parse_workload

YCSB = [name for name in list_builtin_names() if name.startswith("ycsb-")]
TABLE = """\
about: one table
tables:
  item:
    rows: $records
    primary_key: [a, b]
    columns:
      a: {{type: {type}, value: row}}
      b: {{type: int, value: 1}}
operations:
  read:
    weight: 1
    statements: [{{cql: "SELECT * FROM {{item}} WHERE a = ?", binds: [{{key: item}}]}}]
"""


def statements(name: str, **parameters: str) -> dict[str, list[str]]:
    operations = load_workload(name).compile(1000, parameters, "cql").engine.operations
    return {
        operation.name: [sql for statement in operation.statements for sql in statement.sql]
        for operation in operations
    }


@pytest.mark.parametrize("name", YCSB)
def test_each_ycsb_workload_runs_on_ycsbs_own_table(name: str) -> None:
    (table,) = load_workload(name).compile(1000, protocol="cql").tables
    assert (table.name, table.key, table.rows) == ("usertable", ("y_id",), 1000)
    assert table.columns == ("y_id", *(f"field{number}" for number in range(10)))
    assert table.create_sql.startswith(
        'CREATE TABLE IF NOT EXISTS "usertable" (\n  "y_id" varchar,\n  "field0" varchar,'
    )
    assert table.create_sql.endswith('PRIMARY KEY ("y_id")\n)')


@pytest.mark.parametrize("name", YCSB)
def test_the_same_operations_are_asked_of_both_families(name: str) -> None:
    workload = load_workload(name)
    sql, cql = (workload.compile(1000, protocol=family).engine for family in ("mysql", "cql"))
    for one, other in zip(sql.operations, cql.operations, strict=True):
        assert (one.name, one.weight, one.let) == (other.name, other.weight, other.let)
        assert [each.binds for each in one.statements] == [each.binds for each in other.statements]


def test_its_statements_are_those_of_ycsbs_cassandra_binding() -> None:
    assert statements("ycsb-e") == {
        "scan": ["SELECT * FROM usertable WHERE token(y_id) >= token(?) LIMIT ?"],
        "insert": [
            "INSERT INTO usertable (y_id, field0, field1, field2, field3, field4, field5, field6,"
            " field7, field8, field9)\nVALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)".replace("\n", " ")
        ],
    }
    modify = statements("ycsb-f")["read_modify_write"]
    assert modify[0] == "SELECT * FROM usertable WHERE y_id = ? LIMIT 1"
    assert modify[1:] == [f"UPDATE usertable SET FIELD{n} = ? WHERE y_id = ?" for n in range(10)]


def test_the_consistency_is_one_unless_it_is_set() -> None:
    def levels(**parameters: str) -> set[str]:
        compiled = load_workload("ycsb-a").compile(10, parameters, "cql")
        return {operation.consistency for operation in compiled.engine.operations}

    assert levels() == {"ONE"}
    assert levels(consistency="LOCAL_QUORUM") == {"LOCAL_QUORUM"}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"consistency": "MOST"}, "unknown choice 'MOST'"),
        ({"consistency": "quorum"}, "unknown choice 'quorum'"),
    ],
)
def test_no_other_consistency_is_allowed(parameters: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_workload("ycsb-a").compile(10, parameters, "cql")


def test_a_consistency_is_refused_where_it_means_nothing() -> None:
    with pytest.raises(UsageError, match="consistency: a parameter of ycsb-a on Cassandra alone"):
        load_workload("ycsb-a").compile(10, {"consistency": "ONE"})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (TABLE.format(type="date"), "type 'date': has no counterpart in Cassandra"),
        (
            TABLE.format(type="int").replace("    columns:", "    indexes: {i: [b]}\n    columns:"),
            "tables.item.indexes: indexes are made in SQL databases alone",
        ),
        (
            TABLE.format(type="int, cql_name: B"),
            "tables.item.columns.a.cql_name: 'B' is not a column name of CQL",
        ),
        (TABLE.format(type="int, cql_name: b"), "two columns would have the same name in CQL"),
        (TABLE.format(type="int").replace("cql:", "sql:"), "the workload has no CQL statements"),
        (
            TABLE.format(type="int").replace("weight: 1", "weight: 1\n    consistency: 2"),
            "operations.read.consistency: input should be 'ANY', 'ONE'",
        ),
    ],
)
def test_what_cassandra_has_not_is_said(document: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_workload(document).compile(10, protocol="cql")


def test_types_hold_what_is_declared() -> None:
    (table,) = parse_workload(TABLE.format(type="int unsigned")).compile(10, protocol="cql").tables
    assert '"a" bigint,\n  "b" int,\n  PRIMARY KEY ("a", "b")' in table.create_sql
