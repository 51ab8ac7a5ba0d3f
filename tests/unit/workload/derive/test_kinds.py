"""Kinds of tables and statements that people have, and that a workload writes otherwise."""

from collections.abc import Sequence

import pytest

from plimsoll.model.run.statements_seen import (
    ColumnSeen,
    IndexLeft,
    StatementsSeen,
    TableSeen,
)
from plimsoll.workload import Compiled, parse_workload
from plimsoll.workload.derive.derived import Derived, derive
from tests.unit.workload.derive.digests import digest, seen

ITEM = TableSeen(
    name="item",
    rows=900,
    columns=(
        ColumnSeen(name="id", type="bigint", lowest=1, highest=900),
        ColumnSeen(name="kind", type="integer", distinct=20, lowest=0, highest=19),
        ColumnSeen(name="shown", type="boolean", has_default=True),
        ColumnSeen(name="at", type="timestamp with time zone"),
    ),
    primary_key=("id",),
    indexes={"kind": ("kind",)},
)


def make_statements(
    *texts: str, tables: Sequence[TableSeen] = (ITEM,), postgres: bool = True
) -> StatementsSeen:
    protocol = {"protocol": "postgres", "schema_name": "public"} if postgres else {}
    return seen(*map(digest, texts)).model_copy(update={"tables": tuple(tables), **protocol})


def compiled(derived: Derived, protocol: str = "postgres") -> Compiled:
    assert derived.left_out == ()
    return parse_workload(derived.document).compile(protocol=protocol)  # type: ignore[arg-type]


def texts_of(derived: Derived) -> list[str]:
    return [text for one in derived.operations for text, _ in one.statements]


def test_names_that_a_workload_cannot_have_are_written_otherwise() -> None:
    accounts = TableSeen(
        name="userAccount",
        rows=900,
        columns=(
            ColumnSeen(name="id", type="bigint"),
            ColumnSeen(name="lastName", type="text", mean_length=9),
            ColumnSeen(name="lastname", type="text", mean_length=9),
        ),
        primary_key=("id",),
        indexes={"named": ("lastName",)},
    )
    text = 'SELECT "lastName" FROM "userAccount" WHERE id = $1'
    derived = derive(make_statements(text, tables=(accounts,)))
    assert texts_of(derived) == ["SELECT lastname_2 FROM {useraccount} WHERE id = ?"]
    (table,) = compiled(derived).tables
    assert table.index_sql == {
        "useraccount_named": 'CREATE INDEX "useraccount_named" ON "useraccount" ("lastname_2")'
    }
    assert any("userAccount as useraccount, lastName as lastname_2" in n for n in derived.notes)


def test_letters_beyond_ascii_need_no_quotes() -> None:
    sizes = TableSeen(
        name="Größe",
        rows=90,
        columns=(ColumnSeen(name="id", type="int(11)"), ColumnSeen(name="v", type="int(11)")),
        primary_key=("id",),
    )
    texts = ("SELECT v FROM `Größe` WHERE id = ?", "SELECT id FROM Größe WHERE id = ?")
    derived = derive(make_statements(*texts, tables=(sizes,), postgres=False))
    assert texts_of(derived) == [
        "SELECT v FROM {Groe} WHERE id = ?",
        "SELECT id FROM {Groe} WHERE id = ?",
    ]


def test_an_array_is_compared_as_a_list() -> None:
    texts = (
        "SELECT id FROM item WHERE id = ANY($1::bigint[])",
        "SELECT kind FROM item WHERE id = ANY (ARRAY[$1, $2])",
        "SELECT at FROM item WHERE kind = $1 AND id <> ALL($2)",
    )
    derived = derive(make_statements(*texts))
    assert [text.partition("WHERE ")[2] for text in texts_of(derived)] == [
        "id IN (?)",
        "id IN (?)",
        "kind = ? AND id NOT IN (?)",
    ]
    compiled(derived)


def test_booleans_stay_conditions() -> None:
    derived = derive(make_statements("SELECT id FROM item WHERE kind = $1 AND NOT shown"))
    assert derived.document["tables"]["item"]["columns"]["shown"]["type"] == "boolean"
    assert '"shown" BOOLEAN NOT NULL DEFAULT FALSE' in compiled(derived).tables[0].create_sql


def test_an_interval_and_a_time_from_now() -> None:
    texts = (
        "SELECT id FROM item WHERE kind = $1 AND at > now() - interval $2",
        "SELECT at + interval $1 FROM item WHERE id = $2",
    )
    derived = derive(make_statements(*texts))
    assert texts_of(derived) == [
        "SELECT id FROM {item} WHERE kind = ? AND at > ?",
        "SELECT at + interval '1 day' FROM {item} WHERE id = ?",
    ]
    compiled(derived)


def test_a_statement_that_begins_with_with() -> None:
    text = (
        "WITH q AS (SELECT kind, COUNT(*) AS n FROM item GROUP BY kind)"
        " SELECT n FROM q WHERE kind = $1"
    )
    derived = derive(make_statements(text))
    assert texts_of(derived) == [text.replace("item", "{item}").replace("$1", "?")]
    compiled(derived)


def test_keys_beyond_63_bits_are_numbered_from_the_start() -> None:
    big = TableSeen(
        name="big",
        rows=900,
        columns=(
            ColumnSeen(
                name="id",
                type="bigint(20) unsigned",
                lowest=18446744073709550001,
                highest=18446744073709550900,
            ),
            ColumnSeen(name="v", type="int(11)"),
        ),
        primary_key=("id",),
    )
    derived = derive(
        make_statements("SELECT v FROM big WHERE id = ?", tables=(big,), postgres=False)
    )
    (table,) = compiled(derived, "mysql").tables
    assert (table.first, table.rows) == (0, 900)


NOTE = ITEM.model_copy(
    update={
        "name": "note",
        "columns": (
            *ITEM.columns,
            ColumnSeen(name="title", type="varchar(80)", distinct=900, mean_length=20.0),
            ColumnSeen(name="doc", type="jsonb"),
        ),
    }
)


def binds_of(derived: Derived) -> list[list[object]]:
    statements = [one["statements"][0] for one in derived.document["operations"].values()]
    return [one.get("binds", []) for one in statements]


def test_locks_that_foreign_keys_take_are_kept() -> None:
    texts = [
        f"SELECT kind FROM item WHERE id = $1 FOR {lock}"
        for lock in ("NO KEY UPDATE", "KEY SHARE", "UPDATE SKIP LOCKED")
    ]
    told = make_statements(*texts)
    derived = derive(told, writes=True)
    compiled(derived)
    assert sorted(texts_of(derived)) == sorted(
        text.replace("item", "{item}").replace("$1", "?") for text in texts
    )
    assert all(
        "--writes" in one.why
        for one in derive(make_statements(*texts, "SELECT kind FROM item WHERE id = $1")).left_out
    )


def test_a_lateral_join_stays_one() -> None:
    text = (
        "SELECT i.id FROM item i LEFT JOIN LATERAL (SELECT id FROM note n WHERE n.kind = i.kind"
        " ORDER BY at DESC LIMIT $1) l ON $2 WHERE i.id = $3"
    )
    derived = derive(make_statements(text, tables=(ITEM, NOTE)))
    compiled(derived)
    assert "LEFT JOIN LATERAL (SELECT id FROM {note} n WHERE" in texts_of(derived)[0]


@pytest.mark.parametrize(
    ("text", "postgres"),
    [
        ("SELECT doc -> ? FROM {note} WHERE doc ->> ? = ? AND id = ?", True),
        ("SELECT JSON_EXTRACT(doc, ?) FROM {note} WHERE doc ->> ? = ? AND id = ?", False),
        ("SELECT doc -> ? FROM {note} WHERE JSON_EXTRACT(doc, ?) = ? AND id = ?", False),
    ],
)
def test_json_operators_and_their_paths(text: str, postgres: bool) -> None:
    derived = derive(
        make_statements(text.replace("{note}", "note"), tables=(NOTE,), postgres=postgres)
    )
    assert texts_of(derived) == [text]
    path = {"literal": "$.a"}  # MySQL refuses a path that does not begin so
    assert binds_of(derived)[0][:3] == [path, path, 1]


def test_lower_of_a_column_is_compared_with_what_a_row_has() -> None:
    derived = derive(make_statements("SELECT id FROM note WHERE lower(title) = $1", tables=(NOTE,)))
    compiled(derived)
    assert texts_of(derived) == ["SELECT id FROM {note} WHERE LOWER(title) = ?"]
    assert "v" * 10 in str(binds_of(derived)[0])


@pytest.mark.parametrize(
    ("condition", "why"),
    [
        ("length(title) > $1", "compares length(...)"),
        ("doc @> $1", "uses @>, an operator of arrays or JSON documents"),
    ],
)
def test_what_a_function_is_of_made_up_values_is_not_known(condition: str, why: str) -> None:
    told = make_statements(
        f"SELECT id FROM note WHERE {condition}",
        "SELECT id FROM note WHERE id = $1",
        tables=(NOTE,),
    )
    (left_out,) = derive(told).left_out
    assert why in left_out.why


def test_an_index_of_an_expression_may_find_what_a_function_returns() -> None:
    lowered = NOTE.model_copy(
        update={"indexes_left": {"low": IndexLeft(columns=(), why="has an expression")}}
    )
    told = make_statements(
        "SELECT id FROM note WHERE lower(title) = $1",
        "SELECT id FROM note WHERE id = $1",
        tables=(lowered,),
    )
    (left_out,) = derive(told).left_out
    assert "may use the index low of note" in left_out.why
