"""Lists of drawn lines: what a statement for many lines becomes, and what is refused."""

from typing import Any

import pytest

from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import Each, EachStep, EngineOperation, SendStep
from plimsoll.workload.library import parse_workload
from tests.unit.workload.test_logic import TABLES

DRAWN = """\
    let:
      w: {integer: [1, 9]}
      many: {integer: [2, 4]}
"""
LISTS = """\
    lists:
      line:
        count: many
        key: id
        let:
          id: {integer: [1, 10]}
          twice: {expr: id * 2 + w + line}
"""
READ = """\
      - each: line
        sql: SELECT id, s FROM {item} WHERE n = ? AND id IN ({?, ...}) OR n = ?
        binds: [w, id, w]
        rows: 0..1
        returns: {id: int, s: text}
"""
LOOP = """\
      - each: line
        statements:
          - {sql: "UPDATE {item} SET n = ?, s = ? WHERE id = ?", binds: [twice, s, id]}
"""
INSERT = """\
      - each: line
        sql: INSERT INTO {item} (id, n, s) VALUES {(?, ?, ?), ...}
        binds: [twice, w, s]
"""


def compile_act(statements: str, lists: str = LISTS, protocol: Any = "mysql") -> EngineOperation:
    """The operation `act` with these lists and statements."""
    text = f"{TABLES}{DRAWN}{lists}    statements:\n{statements}"
    return parse_workload(text).compile(10, {}, protocol).engine.operations[0]


def test_a_statement_has_a_text_for_each_number_of_lines() -> None:
    act = compile_act(READ + LOOP + INSERT)
    read, update, insert = act.statements
    assert read.sql == tuple(
        f"SELECT id, s FROM `item` WHERE n = ? AND id IN ({marks}) OR n = ?"
        for marks in ("?, ?", "?, ?, ?", "?, ?, ?, ?")
    )
    assert read.each == Each(list="line", first=1, end=2)
    assert len(read.binds) == 3
    assert update.each is None
    assert act.steps == (
        SendStep(statement=0),
        EachStep(list="line", steps=(SendStep(statement=1),)),
        SendStep(statement=2),
    )
    assert insert.sql[0].endswith("VALUES (?, ?, ?), (?, ?, ?)")
    (line,) = act.lists
    assert (line.least, line.most, line.key) == (2, 4, "id")
    assert [(one.name, one.kind) for one in line.returned] == [("id", "integer"), ("s", "text")]


def test_placeholders_of_postgresql_are_numbered_through_all_lines() -> None:
    read = compile_act(READ + LOOP, protocol="postgres").statements[0]
    assert read.sql[1].endswith("WHERE n = $1 AND id IN ($2, $3, $4) OR n = $5")


def test_rows_are_those_of_each_line() -> None:
    act = compile_act(READ + LOOP + INSERT)
    assert [one.rows_least for one in act.statements] == [0, 0, 1]
    assert act.rows_least == 2, "of the two lines that there are in any case"


def test_what_a_block_returns_belongs_to_its_line() -> None:
    statements = (
        """\
      - each: line
        statements:
          - sql: SELECT s FROM {item} WHERE id = ?
            binds: [id]
            returns: {s: text}
"""
        + INSERT
    )
    (line,) = compile_act(statements).lists
    assert [one.name for one in line.returned] == ["s"]


def test_the_number_of_a_line_is_its_key_unless_another_is_named() -> None:
    lists = "    lists:\n      line: {count: many}\n"
    read = (
        "      - each: line\n        binds: [line]\n"
        "        sql: SELECT id, s FROM {item} WHERE id IN ({?, ...})\n"
    )
    use = "      - {sql: 'SELECT n FROM {item} WHERE id = ?', binds: [w]}\n"
    act = compile_act(read + "        returns: {line: int, s: text}\n" + use, lists)
    assert act.lists[0].key is None
    with pytest.raises(WorkloadError, match="is their key, line"):
        compile_act(read + "        returns: {s: text}\n" + use, lists)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("count: many", "count: {expr: w + 1}", "drawn by"),
        ("count: many", "count: 101", "goes from 101 to 101: 1 to 100"),
        ("count: many", "count: {integer: [0, 3]}", "goes from 0 to 3"),
        ("count: many", "count: {key: item}", "drawn by"),
        ("key: id", "key: w", "whole number of the list's let"),
        ("id: {integer: [1, 10]}", "id: {integer: [1, 3]}", "has 3 values for up to 4 lines"),
        ("line:\n        count", "w:\n        count", "is a variable of the operation"),
        ("twice: {", "w: {", "another variable"),
        ("twice: {", "more: 3\n          twice: {", "is used nowhere"),
        ("id * 2 + w", "id * 2 + v", "variable 'v'"),
        ("({?, ...}) OR", "(?) OR", "has 0 parts for each line"),
        ("({?, ...}) OR n = ?", "({?, ...}) OR n IN ({?, ...})", "has 2 parts for each line"),
        ("({?, ...}) OR", "(?) OR n IN ({3, ...}) OR", "the part for each line has no ?"),
        ("binds: [w, id, w]", "binds: [id, id, w]", "id has a value for each line"),
        ("binds: [w, id, w]", "binds: [w, w]", "for 2 binds"),
        ("returns: {id: int, s", "returns: {s: text, id", "is their key, id"),
        ("SELECT id, s FROM {item} WHERE n", "SELECT id, s FROM {other} WHERE n", "table 'other'"),
        ("- each: line\n        sql: SELECT", "- each: lane\n        sql: SELECT", "list 'lane'"),
        ("- each: line\n        sql: SELECT", "- sql: SELECT", "here one value is meant"),
        ("binds: [twice, s, id]", "each: line, binds: [twice, s, id]", "stands in a block"),
        ("rows: 0..1", "repeat: 2", "goes without repeat|sent once"),
    ],
)  # fmt: skip
def test_what_is_not_clear_is_refused(old: str, new: str, problem: str) -> None:
    text = f"{TABLES}{DRAWN}{LISTS}    statements:\n{READ}{LOOP}{INSERT}"
    assert old in text
    with pytest.raises(WorkloadError, match=problem):
        parse_workload(text.replace(old, new, 1))


@pytest.mark.parametrize(
    "statements",
    [
        "      - {sql: 'UPDATE {item} SET n = ?', binds: [{sum: twice, plus: 1}]}\n",
        "      - if: twice = 3\n        statements: [{rollback: true}]\n",
        "      - repeat: twice\n        statements: [{sql: 'SELECT n FROM {item}'}]\n",
        "      - {sql: 'SELECT n FROM {item}', returns: {twice: int}}\n",
    ],
)
def test_a_line_s_value_where_one_is_meant_is_refused(statements: str) -> None:
    with pytest.raises(WorkloadError, match="twice has a value for each line of line"):
        compile_act(READ + LOOP + statements)


def test_a_part_for_each_line_needs_its_list() -> None:
    with pytest.raises(WorkloadError, match="needs the field 'each'"):
        compile_act(
            READ.replace("each: line\n        ", "").replace(
                "binds: [w, id, w]", "binds: [w, w, w]"
            )
        )


def test_cassandra_refuses_lists_by_name() -> None:
    text = (
        f"{TABLES}{DRAWN}{LISTS}    statements:\n{READ}{LOOP}".replace("sql:", "cql:")
        .replace("    transaction: true\n", "")
        .replace(" OR n = ?", "")
        .replace("[w, id, w]", "[w, id]")
    )
    with pytest.raises(WorkloadError, match=r"several lines at once \(lists\)"):
        parse_workload(text).compile(10, {}, "cql")
