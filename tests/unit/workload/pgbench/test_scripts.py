r"""pgbench's scripts: what each command becomes, and what is refused with file, line and reason."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.complaints import Scalar
from plimsoll.errors import UsageError, WorkloadError
from plimsoll.model.engine.asked import (
    AwaitStep,
    EngineOperation,
    SendStep,
    SetStep,
    SleepStep,
    WhenStep,
)
from plimsoll.model.engine.scripts import ClientStart, SeedStart, TextStart, UndefinedStart
from plimsoll.model.request.load_request import WorkloadChoice
from plimsoll.requests.checked_request import validate_request
from plimsoll.workload import Workload, load_workload, parse_workload
from plimsoll.workload.pgbench.workload import make_workload

TPCB = r"""
\set aid random(1, 100000 * :scale)
\set bid random(1, 1 * :scale)
\set tid random(1, 10 * :scale)
\set delta random(-5000, 5000)
BEGIN;
UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;
SELECT abalance FROM pgbench_accounts WHERE aid = :aid;
INSERT INTO pgbench_history (tid, bid, aid, delta) VALUES (:tid, :bid, :aid, :delta);
END;
"""


def make(text: str) -> Workload:
    return make_workload([("my.sql", 1, text)])


def compile_script(text: str, **given: Scalar) -> EngineOperation:
    compiled = make(text).compile(None, given, "postgres")
    (operation,) = compiled.engine.operations
    return operation


def texts(text: str, **given: Scalar) -> list[str]:
    return [statement.sql[0] for statement in compile_script(text, **given).statements]


def test_a_script_is_one_operation_named_after_its_file() -> None:
    operation = compile_script(TPCB, scale=1)
    assert operation.name == "my"
    assert [type(step) for step in operation.steps] == [SetStep] * 4 + [SendStep] * 5
    begin, update, _, insert, end = operation.statements
    assert (begin.sql, end.sql) == (("BEGIN",), ("END",))
    assert update.sql == ("UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2",)
    assert [bind.name for bind in update.binds if bind.kind == "variable"] == ["delta", "aid"]
    assert [each.rows_least for each in operation.statements] == [0, 0, 0, 1, 0]
    assert insert.sql[0].endswith("VALUES ($1, $2, $3, $4)")
    assert operation.own_transactions
    assert not operation.transaction


def test_each_statement_waits_for_the_one_before_as_in_pgbench() -> None:
    steps = compile_script(TPCB, scale=1).steps
    assert [step.ahead for step in steps if isinstance(step, SendStep)] == [False] * 5


def test_variables_are_found_outside_quotes_and_comments_alone() -> None:
    script = r"""
    \set a 1
    -- :a is not sent
    SELECT 'it''s :b', ":b", $$ :a; $$, $x$ $$ :b $x$, E'\':b', a[1 : 2], :a::int, x::text
      /* :a; /* ; */ */ FROM t WHERE (SELECT 1; ) = 1;
    """
    (sql,) = texts(script.replace("$$ :a; $$", "$$ ; $$"))
    assert sql == (
        "SELECT 'it''s :b', \":b\", $$ ; $$, $x$ $$ :b $x$, E'\\':b', a[1 : 2], $1::int, x::text\n"
        "/* :a; /* ; */ */ FROM t WHERE (SELECT 1; ) = 1"
    )


def test_statements_end_at_semicolons_and_before_backslash_commands() -> None:
    assert texts("select 1; select\n2 \\set x 1\nselect 3;;") == [
        "select 1",
        "select\n2",
        "select 3",
    ]


def test_quoted_texts_on_two_lines_stay_one_text() -> None:
    assert texts("select 'a' -- one\n 'b';") == ["select 'a'\n'b'"]


def test_branches_become_steps_and_elif_is_a_branch_of_its_own() -> None:
    operation = compile_script(r"""
    \set x random(1, 3)
    \if :x = 1
      SELECT 1;
    \elif :x = 2
      SELECT 2;
      \if true
        \set y 1
      \endif
    \else
      SELECT 3;
    \endif
    """)
    _, test = operation.steps
    assert isinstance(test, WhenStep)
    assert test.then == (SendStep(statement=0, ahead=False),)
    (second,) = test.otherwise
    assert isinstance(second, WhenStep)
    assert second.place == "my.sql:5"
    assert second.then[0] == SendStep(statement=1, ahead=False)
    assert second.otherwise == (SendStep(statement=2, ahead=False),)


def test_gset_keeps_the_columns_of_the_only_row_by_their_names() -> None:
    operation = compile_script(
        'SELECT 1 AS one, t.two, count(*), lower(x)::text, :a::int three, "Q" FROM t \\gset p_\n'
        "UPDATE t SET n = 1 WHERE (id) = 2 RETURNING n, id \\gset\n"
        "SELECT 1 \\; SELECT :p_one::int;",
        a=1,
    )
    first, second, *_ = operation.statements
    assert [each.name for each in first.returns] == [
        *("p_one", "p_two", "p_count", "p_lower", "p_three", "p_Q"),
    ]
    assert (first.row, first.rows_least) == ("only", 1)
    assert [each.name for each in second.returns] == ["n", "id"]


def test_aset_keeps_the_last_row_if_there_is_one() -> None:
    (statement,) = compile_script("SELECT 8 AS i6 UNION SELECT 9 ORDER BY 1 DESC \\aset").statements
    assert [each.name for each in statement.returns] == ["i6"]
    assert (statement.row, statement.rows_least) == ("last", 0)


def test_statements_joined_by_a_backslash_are_sent_together() -> None:
    operation = compile_script("\\; \\; SELECT 0 AS i5 \\; SELECT 5 AS i5 \\; \\; \\gset\n")
    assert operation.steps == (
        SendStep(statement=0, ahead=True),
        SendStep(statement=1, ahead=False),
    )
    assert [len(each.returns) for each in operation.statements] == [0, 1]


def test_a_pipeline_is_sent_ahead_and_then_awaited() -> None:
    operation = compile_script("\\startpipeline\nSELECT 1;\nSELECT 2;\n\\endpipeline\nSELECT 3;")
    assert operation.steps == (
        SendStep(statement=0, ahead=True),
        SendStep(statement=1, ahead=True),
        AwaitStep(),
        SendStep(statement=2, ahead=False),
    )


@pytest.mark.parametrize(
    ("written", "us", "times"),
    [
        ("1", 1_000_000, None),
        ("100 us", 100, None),
        ("2ms", 2_000, None),
        ("+3 MS", 3_000, None),
        ("0 s", 0, None),
        ("-5 ms", 0, None),
        (":x ms", 1_000, "x"),
        (":x", 1_000_000, "x"),
    ],
)
def test_a_sleep_is_in_seconds_unless_it_says_its_unit(
    written: str, us: int, times: str | None
) -> None:
    sleep, _ = compile_script(f"\\sleep {written}\nSELECT 1;", **({"x": 5} if times else {})).steps
    assert sleep == SleepStep(us=us, times=times, place="my.sql:1")


def test_variables_start_with_what_they_are_given_and_pgbenchs_own_values() -> None:
    script = "\\set x hash(:client_id) + :random_seed + :foo\nSELECT :x, :later;\n\\set later 1"
    compiled = make(script).compile(None, {"foo": "+3"}, "postgres")
    assert {each.name: each.starts for each in compiled.engine.variables} == {
        "client_id": ClientStart(),
        "default_seed": SeedStart(),
        "foo": TextStart(value="+3"),
        "later": UndefinedStart(),
        "random_seed": SeedStart(),
        "x": UndefinedStart(),
    }


REFUSED = [
    ("SELECT 1;\n\\shell echo hi", "my.sql:2: \\shell: is never run: a load runs no programs"),
    ("SELECT 1;\n\n\\setshell x echo 1", "my.sql:3: \\setshell: is never run"),
    ("\\nosuchcommand", "my.sql:1: \\nosuchcommand: is no command of pgbench"),
    ("", "my.sql: has no commands"),
    ("-- nothing\n", "my.sql: has no commands"),
    ("\\set i 1 +\nSELECT 1;", "my.sql:1: \\set: has 'its end' where a value should be"),
    ("SELECT 1;\n\\set i", "my.sql:2: \\set: lacks an expression"),
    ("\\set", "my.sql:1: \\set: lacks the name of a variable"),
    ("\\set . 1", "my.sql:1: \\set: '.' is no name of a variable"),
    ("\\set i noSuchFunction()", "my.sql:1: \\set: nosuchfunction is no function of pgbench"),
    ("SELECT :nosuch;", "my.sql:1: the variable :nosuch is never set: -D nosuch=VALUE"),
    ("\\set i :nosuch\nSELECT 1;", "my.sql:1: the variable :nosuch is never set"),
    ("\\sleep :nosuch\nSELECT 1;", "my.sql:1: the variable :nosuch is never set"),
    ("\\sleep", "my.sql:1: \\sleep: takes a time and a unit"),
    ("\\sleep too many args", "my.sql:1: \\sleep: takes a time and a unit"),
    ("\\sleep 1 week", "my.sql:1: \\sleep: week is no unit: us, ms or s"),
    ("\\sleep 1ms s", "my.sql:1: \\sleep: 1ms is neither a whole number nor a variable"),
    ("\\sleep 2ms", "my.sql: there is a way through it on which no statement is sent"),
    ("\\if true\nSELECT 1;\n\\endif", "my.sql: there is a way through it on which no statement"),
    ("\\gset", "my.sql:1: \\gset: follows an SQL command"),
    ("\\set i +1\n\\gset", "my.sql:2: \\gset: follows an SQL command"),
    ("SELECT 1 AS i \\gset\n\\gset", "my.sql:2: \\gset: follows an SQL command"),
    ("SELECT 1 AS i \\gset a b", "my.sql:1: \\gset: takes one prefix"),
    ("SELECT 1 \\gset", "my.sql:1: \\gset: column 1 has no name that is certain: write AS"),
    ("SELECT * FROM t \\gset", "my.sql:1: \\gset: column 1 has no name that is certain"),
    ('SELECT 1 AS "bad name!" \\gset', "my.sql:1: \\gset: 'bad name!' is no name of a variable"),
    ("DROP TABLE IF EXISTS t \\gset", "my.sql:1: \\gset: which columns it returns is read of"),
    ("SELECT 6 AS a \\; SELECT 7 AS b \\aset", "my.sql:1: \\aset: keeps the rows of one statement"),
    ("\\startpipeline\n\\startpipeline", "my.sql:2: \\startpipeline: is in a pipeline already"),
    ("\\endpipeline", "my.sql:1: \\endpipeline: there is no pipeline"),
    ("\\startpipeline\nSELECT 1;", "my.sql:2: \\startpipeline: lacks its \\endpipeline"),
    (
        "\\startpipeline\nselect 1 as f \\gset",
        "my.sql:2: \\gset: is not possible within a pipeline",
    ),
    ("\\startpipeline\n\\sleep 1 us", "my.sql:2: \\sleep: is not possible within a pipeline"),
    ("\\startpipeline\n\\syncpipeline", "my.sql:2: \\syncpipeline: is not supported"),
    ("\\if true\n\\startpipeline\n\\endif\nSELECT 1;", "my.sql:3: a pipeline begins and ends in"),
    ("\\if true\nSELECT 1;", "my.sql:1: \\if: lacks its \\endif"),
    ("SELECT 1;\n\\endif", "my.sql:2: \\endif: stands without its \\if"),
    ("\\elif true", "my.sql:1: \\elif: stands without its \\if"),
    ("\\if true\n\\else\n\\elif true\n\\endif", "my.sql:3: \\elif: stands after \\else"),
    ("\\if true\n\\else\n\\else\n\\endif", "my.sql:3: \\else: stands after \\else"),
    ("\\if true\nSELECT 1;\n\\else x\n\\endif", "my.sql:3: \\else: takes no argument"),
    ("\\if 1 +\n\\endif", "my.sql:1: \\if: has 'its end' where a value should be"),
    ("\\if true\n\\elif 1 +\n\\endif", "my.sql:2: \\elif: has 'its end' where a value should be"),
    ("SELECT 1;\nCOPY t FROM STDIN;", "my.sql:2: COPY: no operation may be one"),
    ("SELECT 1;\nSELECT 'a;\n", "my.sql:2: a quoted part has no end"),
    ("SELECT /* 1;", "my.sql:1: a comment has no end"),
    ("SELECT $a$ $b$;", "my.sql:1: a part quoted by $a$ has no end"),
    ("\\set n 1\nSELECT 1 FROM t_:n;", "my.sql:2: :n joins what is before it"),
    ("\\set n 1\nSELECT ':n', :n;", "my.sql:2: :n stands within quotes"),
]


@pytest.mark.parametrize(("script", "problem"), REFUSED)
def test_what_cannot_be_run_is_refused_with_line_and_reason(script: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        compile_script(script)
    assert str(refused.value).startswith(problem)


def test_another_database_is_refused() -> None:
    with pytest.raises(WorkloadError, match="is for PostgreSQL alone, not for mysql"):
        make("SELECT 1;").compile(None, {}, "mysql")


# Files.


def test_scripts_are_read_from_files_with_weights(tmp_path: Path) -> None:
    (tmp_path / "read.sql").write_text("SELECT 1;")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "read.sql").write_text("SELECT 2;")
    (tmp_path / "write.sql").write_text("SELECT 3;")
    names = f"{tmp_path}/read.sql@2,{tmp_path}/other/read.sql,{tmp_path}/write.sql@3"
    workload = load_workload(names)
    operations = workload.compile(None, {}, "postgres").engine.operations
    assert [operation.weight for operation in operations] == [2, 1, 3]
    assert workload.operation_names[2] == "write"
    assert workload.operation_names[0].endswith("_read")
    assert workload.operation_names[1].endswith("_other_read")


def test_weights_that_sum_to_nothing_are_refused() -> None:
    with pytest.raises(WorkloadError, match="sum to nothing"):
        make_workload([("a.sql", 0, "SELECT 1;")])


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.sql"):
        load_workload(f"{tmp_path}/missing.sql")


def test_only_what_a_script_uses_can_be_given() -> None:
    workload = make(TPCB)
    assert workload.check_setting("scale", "10") == "10"
    with pytest.raises(WorkloadError) as refused:
        workload.check_setting("scal", "10")
    assert "scale" in str(refused.value)


# Requests.


def test_a_definition_is_read_again_as_a_search_keeps_it() -> None:
    workload = make_workload([("a.sql", 2, TPCB), ("b.sql", 1, "SELECT 1;")])
    again = parse_workload(workload.document.value)
    assert again.compile(None, {"scale": 1}, "postgres").engine == (
        workload.compile(None, {"scale": 1}, "postgres").engine
    )
    assert WorkloadChoice(definition=workload.document.value, records=1).name is None


ENDPOINT = {"kind": "endpoint", "engine": "postgres", "host": "127.0.0.1", "database": "app"}
MADE = {
    "kind": "rds",
    "engine": "postgres",
    "engine_version": "17",
    "instance_class": "db.m5.large",
    "volume": {"type": "gp3", "size_gib": 100},
}


def ask(text: str = TPCB, **fields: Any) -> dict[str, Any]:
    """A request that sends a script."""
    return {
        "name": "scripts",
        "target": MADE,
        "workload": {"definition": make(text).document.value},
        "search": {"strategy": "ramp", "connections_max": 4},
        **fields,
    }


def test_a_request_has_pgbenchs_tables_made_for_its_scripts() -> None:
    checked = validate_request(ask(prepare={"pgbench": 7}))
    rows = load_workload("tpcb-like").compile(7, {}, "postgres")
    assert (checked.tables, checked.workload.dataset) == (rows.tables, rows.dataset)
    assert checked.workload.parameters == {"scale": "7"}
    other = ask(prepare={"pgbench": 7})
    other["workload"]["parameters"] = {"scale": 3, "max-tries": 4}
    compiled = validate_request(other).workload
    assert compiled.parameters == {"scale": "3", "max-tries": "4"}
    assert compiled.engine.operations[0].max_tries == 4


def test_a_request_has_a_schema_of_its_own_for_its_scripts() -> None:
    sql = "CREATE TABLE a (b int);\nINSERT INTO a VALUES (1);"
    checked = validate_request(ask("SELECT b FROM a;", prepare={"schema_sql": sql}))
    assert checked.schema == ("CREATE TABLE a (b int)", "INSERT INTO a VALUES (1)")
    assert checked.tables == ()


def test_scripts_run_on_an_existing_database_from_this_machine_alone() -> None:
    assert validate_request(ask("SELECT 1;", target=ENDPOINT)).tables == ()
    secret = {"secret_arn": "arn:aws:secretsmanager:us-east-1:123456789012:secret:s"}
    with pytest.raises(UsageError, match=r"workload: pgbench scripts send any statement"):
        validate_request(ask("SELECT 1;", target=ENDPOINT | secret))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({}, "the variable :scale is never set"),
        ({"prepare": {"pgbench": 0}}, "prepare.pgbench"),
        (
            {"workload": {"name": "ycsb-a", "records": 9}, "prepare": {"pgbench": 3}},
            "prepare.pgbench: is for pgbench scripts, and ycsb-a brings its own tables",
        ),
        (
            {"target": ENDPOINT, "prepare": {"pgbench": 3}},
            "prepare.pgbench: is for a target that is made for the run",
        ),
        (
            {"workload": {"name": "ycsb-a", "records": 9}, "prepare": {"schema_sql": "SELECT 1"}},
            "prepare.schema_sql: is for pgbench scripts, and ycsb-a brings its own tables",
        ),
        (
            {
                "target": ENDPOINT,
                "workload": {"definition": make("SELECT 1;").document.value},
                "prepare": {"schema_sql": "SELECT 1"},
            },
            "prepare.schema_sql: is for a target that is made for the run",
        ),
        (
            {"prepare": {"schema_sql": "SELECT 1;\nDROP DATABASE app"}},
            "prepare.schema_sql: line 2: DROP DATABASE is no statement of a schema",
        ),
        (
            {"prepare": {"schema_sql": "SELECT 1", "pgbench": 3}},
            "prepare: give either `pgbench` or `schema_sql`",
        ),
        (
            {
                "target": MADE | {"engine": "mysql", "engine_version": "8.4"},
                "prepare": {"pgbench": 3},
            },
            "a pgbench script is for PostgreSQL alone",
        ),
    ],
)
def test_what_scripts_lack_in_a_request_is_named(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(UsageError) as error:
        validate_request(ask(**change))
    assert problem in str(error.value)


def test_a_request_without_tables_for_scripts_says_how_to_have_some() -> None:
    with pytest.raises(UsageError, match=r"`prepare: \{pgbench: SCALE\}`"):
        validate_request(ask("SELECT 1;"))
