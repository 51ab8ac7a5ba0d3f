"""`CALL` of stored procedures that a workload declares."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import UsageError, WorkloadError
from plimsoll.requests.checked_request import validate_request
from plimsoll.workload import Compiled
from plimsoll.workload.library import parse_workload
from tests.support.requested import REQUESTED

PAY = "CREATE PROCEDURE pay(IN account INT, IN amount INT) SELECT account"
WORKLOAD: dict[str, Any] = {
    "about": "one",
    "default_records": 10,
    "tables": {
        "item": {
            "rows": "$records",
            "primary_key": ["id"],
            "columns": {"id": {"type": "bigint", "value": "row"}},
        }
    },
    "procedures": {"pay": {"sql": PAY}, "there": {}},
    "operations": {
        "act": {
            "weight": 1,
            "statements": [
                {"sql": "CALL pay(?, 5)", "binds": [{"key": "item"}], "returns": {"n": "int"}}
            ],
        }
    },
}


def compile_call(sql: str, binds: list[Any] | None = None, protocol: Any = "mysql") -> Compiled:
    """A workload whose only statement is this one."""
    operations = {"act": {"weight": 1, "statements": [{"sql": sql, "binds": binds or []}]}}
    text = yaml.safe_dump({**WORKLOAD, "operations": operations})
    return parse_workload(text).compile(10, {}, protocol)


@pytest.mark.parametrize(
    ("protocol", "sql"), [("mysql", "CALL pay(?, 5)"), ("postgres", "CALL pay($1, 5)")]
)
def test_a_declared_procedure_is_called_with_values(protocol: Any, sql: str) -> None:
    compiled = parse_workload(yaml.safe_dump(WORKLOAD)).compile(10, {}, protocol)
    (statement,) = compiled.engine.operations[0].statements
    assert statement.sql == (sql,)
    assert [returned.name for returned in statement.returns] == ["n"]
    assert statement.rows_least == 0
    assert compiled.procedures == {"pay": PAY if protocol == "mysql" else None, "there": None}


@pytest.mark.parametrize("sql", ["call THERE()", "CALL pay(NULL, 'a, b')", "CALL `pay`(1,2.5)"])
def test_arguments_are_values(sql: str) -> None:
    assert compile_call(sql).engine.operations[0].statements[0].sql == (sql,)


@pytest.mark.parametrize(
    ("sql", "problem"),
    [
        ("CALL other(1)", "calls 'other', which is none of the workload's procedures"),
        ("CALL mysql.pay(1)", "calls 'mysql', which is none of the workload's procedures"),
        ("CALL pay.pay(1)", "has '.' where ( is allowed"),
        ("CALL pay(SLEEP(9))", "has 'SLEEP' where ?, a number, a text or NULL is allowed"),
        ("CALL pay((SELECT 1))", "has '(' where ?, a number, a text or NULL is allowed"),
        ("CALL pay(1 2)", "has '2' where , is allowed"),
        ("CALL pay(1", "has its end where , is allowed"),
        ("CALL pay(1) UNION SELECT 1", "has 'UNION' after its call"),
        ("CALL pay(?)", "has 1 ? for 0 binds"),
    ],
)
def test_whatever_else_a_call_may_reach_is_refused(sql: str, problem: str) -> None:
    with pytest.raises(WorkloadError, match=problem.replace("(", r"\(").replace("?", r"\?")):
        compile_call(sql)


def test_cassandra_refuses_a_call_by_name() -> None:
    operations = {"act": {"weight": 1, "statements": [{"cql": "CALL pay(1, 2)"}]}}
    with pytest.raises(WorkloadError, match="begins with CALL, and Cassandra has no procedures"):
        parse_workload(yaml.safe_dump({**WORKLOAD, "operations": operations}))


def test_a_procedure_is_created_by_the_statement_of_its_own_name() -> None:
    wrong = {**WORKLOAD, "procedures": {"pay": {"sql": "DROP TABLE item"}}}
    with pytest.raises(
        WorkloadError, match=r"procedures.pay.sql: begins with CREATE PROCEDURE pay"
    ):
        parse_workload(yaml.safe_dump(wrong))


def test_a_run_executes_no_procedures() -> None:
    asked = {**REQUESTED, "workload": {"definition": WORKLOAD, "records": 10}}
    with pytest.raises(UsageError, match="`plimsoll find` and `plimsoll load` take alone"):
        validate_request(asked)
