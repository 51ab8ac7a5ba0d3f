"""Operations with logic: what their blocks become, and what is refused before anything is made."""

from typing import Any

import pytest
import yaml

from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import EngineOperation, IfStep, RepeatStep, RollbackStep, SendStep
from plimsoll.workload import load_workload
from plimsoll.workload.library import parse_workload

TABLES = """
about: one
default_records: 10
tables:
  item:
    rows: $records
    primary_key: [id]
    columns:
      id: {type: bigint, value: row}
      n: {type: int, value: 0}
      s: {type: varchar(9), value: {text: [3, 9]}}
operations:
  act:
    weight: 1
    transaction: true
"""


def compile_act(rest: str, protocol: Any = "mysql", **parameters: Any) -> EngineOperation:
    """The operation `act` with these lines."""
    text = TABLES + "".join(f"    {line}\n" for line in rest.strip().splitlines())
    compiled = parse_workload(text).compile(10, parameters, protocol)
    return compiled.engine.operations[0]


WHOLE = """
max_tries: 3
let:
  id: {key: item}
  lines: {integer: [1, 3]}
statements:
  - sql: SELECT n, s FROM {item} WHERE id = ? FOR UPDATE
    binds: [id]
    returns: {n: int, s: text}
  - if: s = 'x' and n is not null
    statements:
      - repeat: lines
        turn: line
        let: {more: {expr: n + line}}
        statements:
          - {sql: "UPDATE {item} SET n = ? WHERE id = ?", binds: [more, id]}
    else:
      - rollback: true
"""


@pytest.mark.parametrize("protocol", ["mysql", "postgres"])
def test_blocks_become_steps_over_numbered_statements(protocol: str) -> None:
    act = compile_act(WHOLE, protocol)
    send, branch = act.steps
    assert send == SendStep(statement=0)
    assert [(one.name, one.kind) for one in act.statements[0].returns] == [
        ("n", "integer"),
        ("s", "text"),
    ]
    assert isinstance(branch, IfStep)
    (loop,) = branch.then
    assert isinstance(loop, RepeatStep)
    assert (loop.turn, loop.steps) == ("line", (SendStep(statement=1),))
    assert [one.name for one in loop.let] == ["more"]
    assert branch.otherwise == (RollbackStep(),)
    assert (act.max_tries, act.rows_least) == (3, 1)


def test_an_operation_without_logic_has_no_steps() -> None:
    act = compile_act("statements: [{sql: 'SELECT n FROM {item} WHERE id = 1'}]")
    assert act.steps == ()


@pytest.mark.parametrize(
    ("rest", "problem"),
    [
        ("statements: [{if: 1, statements: [{rollback: true}]}]", "one side can never run"),
        ("statements: [{rollback: true}, READ]", "can never run"),
        ("statements: [{repeat: 0, statements: [READ]}]", "has no turn"),
        ("statements: [{repeat: n, statements: [READ]}]", "variable 'n'"),
        ("statements: [{repeat: 10001, statements: [READ]}]", "10000 at most"),
        ("statements: [{sql: 'SELECT 1', returns: {n: int}, repeat: 2}]", "sent once"),
        (
            "let: {a: {integer: [1, 2]}}\nstatements: [{sql: 'SELECT 1', returns: {a: text}}]",
            "another kind of value",
        ),
        ("statements: [{repeat: 2, let: {a: 1}, statements: [READ]}]", "is used nowhere"),
        ("let: {turn: 1}\nstatements: [{repeat: turn, statements: [READ]}]", "another variable"),
        (
            "let: {a: {if: 1 = 1, then: 1, else: {literal: x}}}\nstatements: [READ]",
            "either all or none",
        ),
        ("let: {a: {weighted: [[0, 1]]}}\nstatements: [READ]", "sum to nothing"),
        ("statements: [{rollback: false}]", "rollback"),
        ("statements: [{if: 2 > x, statements: [READ]}]", "variable 'x'"),
        # a name that one side of a branch returns is unknown after it
        (
            (
                "let: {c: {integer: [0, 1]}}\nstatements:\n"
                "  - {if: c, statements: [{sql: 'SELECT 1', returns: {n: int}}]}\n"
                "  - {repeat: n, statements: [READ]}"
            ),
            "variable 'n'",
        ),
    ],
)
def test_what_cannot_be_carried_out_is_refused(rest: str, problem: str) -> None:
    rest = rest.replace("READ", "{sql: 'SELECT n FROM {item}'}")
    text = TABLES + "".join(f"    {line}\n" for line in rest.splitlines())
    with pytest.raises(WorkloadError, match=problem):
        parse_workload(text)


def test_a_rollback_needs_a_transaction_and_a_certain_first_statement() -> None:
    text = TABLES.replace("    transaction: true\n", "")
    for rest, problem in (
        ("    statements: [{rollback: true}]\n", "needs a transaction"),
        (
            (
                "    let: {c: {integer: [0, 1]}}\n"
                "    statements: [{if: c, statements: [{sql: 'SELECT n FROM {item}'}]}]\n"
            ),
            "sent in any case",
        ),
    ):
        with pytest.raises(WorkloadError, match=problem):
            parse_workload(text + rest)


def test_parameters_stand_within_expressions() -> None:
    act = compile_act(
        "let: {a: {expr: '$records + 0'}}\n"
        "statements: [{sql: 'SELECT n FROM {item} WHERE id = ?', binds: [a]}]"
    )
    assert '"value":10' in act.let[0].model_dump_json()


def test_tpcc_is_refused_on_cassandra_and_compiles_for_both_families() -> None:
    workload = load_workload("tpcc")
    with pytest.raises(WorkloadError, match="no CQL statements"):
        workload.compile(1, {}, "cql")
    for protocol in ("mysql", "postgres"):
        compiled = workload.compile(2, {}, protocol)
        assert len(compiled.tables) == 9
        assert len(compiled.conditions) == 12
        assert compiled.engine.mix == "deck"
        assert dict(compiled.per_minute) == {"NOPM": "new_order"}


def test_keying_and_think_times_are_off_unless_asked_for() -> None:
    workload = load_workload("tpcc")
    assert all(
        not one.keying_s and not one.think_s for one in workload.compile(1).engine.operations
    )
    paused = workload.compile(1, {"pauses": 1}).engine.operations
    assert [(one.keying_s, one.think_s) for one in paused] == [
        (18, 12),
        (3, 12),
        (2, 10),
        (2, 5),
        (2, 5),
    ]


def test_a_condition_is_a_query() -> None:
    text = TABLES + "    statements: [{sql: 'SELECT n FROM {item}'}]\n"
    document = yaml.safe_load(text)
    document["conditions"] = {"c1": {"about": "a", "sql": "DELETE FROM {item}"}}
    with pytest.raises(WorkloadError, match="query alone"):
        parse_workload(document)
    document["conditions"] = {"c1": {"about": "a", "sql": "SELECT COUNT(*) FROM {nosuch}"}}
    with pytest.raises(WorkloadError, match="nosuch"):
        parse_workload(document)
    document["conditions"] = {}
    document["per_minute"] = {"NOPM": "nosuch"}
    with pytest.raises(WorkloadError, match="nosuch"):
        parse_workload(document)
