"""A derived workload has the indexes of the original, or lacks the statements that use them."""

from typing import Any

from plimsoll.model.run.statements_seen import ColumnSeen, IndexLeft, StatementsSeen, TableSeen
from plimsoll.workload import parse_workload
from plimsoll.workload.derive.derived import derive
from tests.unit.workload.derive.digests import digest, seen

SETTING = TableSeen(
    name="setting",
    rows=900,
    columns=(
        ColumnSeen(name="id", type="bigint(20)", auto_increment=True, lowest=1, highest=900),
        ColumnSeen(name="name", type="varchar(200)", mean_length=24.0),
        ColumnSeen(name="kind", type="varchar(10)", distinct=4, mean_length=4.0),
        ColumnSeen(name="val", type="int(11)"),
    ),
    primary_key=("id",),
    indexes={"name": ("name",), "kind": ("kind(3)", "val desc")},
    unique=("name",),
)
READ = "SELECT `val` FROM `setting` WHERE `name` = ?"


def of(*texts: str, **changes: Any) -> StatementsSeen:
    table = SETTING.model_copy(update=changes)
    return seen(*map(digest, texts)).model_copy(update={"tables": (table,)})


def test_indexes_are_unique_and_as_long_as_they_were() -> None:
    derived = derive(of(READ))
    table = derived.document["tables"]["setting"]
    assert table["unique"] == {"name": ["name"]}
    assert table["indexes"] == {"kind": ["kind(3)", "val desc"]}
    (made,) = parse_workload(derived.document).compile().tables
    assert list(made.index_sql.values()) == [
        "CREATE INDEX `kind` ON `setting` (`kind`(3), `val` DESC)",
        "CREATE UNIQUE INDEX `name` ON `setting` (`name`)",
    ]


def test_the_values_of_a_unique_column_follow_from_the_number_of_the_row() -> None:
    derived = derive(of(READ))
    name = derived.document["tables"]["setting"]["columns"]["name"]["value"]
    assert name["of"] == [{"fnv_hash": "row"}]
    (statement,) = derived.document["operations"]["select_setting_by_name"]["statements"]
    drawn = {"key": "setting", "distribution": "$distribution"}
    assert statement["binds"] == [{**name, "of": [{"fnv_hash": drawn}]}]


def test_a_unique_index_of_values_that_cannot_differ_is_made_without_uniqueness() -> None:
    day = ColumnSeen(name="day", type="date")
    columns, indexes = (*SETTING.columns, day), {"day": ("day",)}
    derived = derive(of(READ, columns=columns, indexes=indexes, unique=("day",)))
    assert derived.document["tables"]["setting"]["indexes"] == {"day": ["day"]}
    assert "unique" not in derived.document["tables"]["setting"]


def test_a_statement_that_may_use_an_index_that_is_left_out_is_left_out_with_the_reason() -> None:
    left = {"some": IndexLeft(columns=("val",), why="is partial")}
    by_val = "SELECT `id` FROM `setting` WHERE `val` = ?"
    derived = derive(of(READ, by_val, indexes_left=left))
    (one,) = derived.left_out
    assert one.why == "may use the index some of setting, which is partial"
    assert any("the index some of setting is left out: it is partial" in n for n in derived.notes)
    # another index begins with that column
    kept = {**SETTING.indexes, "val": ("val",)}
    assert not derive(of(READ, by_val, indexes_left=left, indexes=kept)).left_out
