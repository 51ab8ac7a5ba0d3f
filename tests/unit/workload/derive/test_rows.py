"""Statements name rows as those that they stand for did: one row, few of them, or none."""

from itertools import pairwise
from typing import Any

import pytest

from plimsoll.model.run.statements_seen import (
    ColumnSeen,
    Digest,
    KeysSeen,
    StatementsSeen,
    TableSeen,
)
from plimsoll.workload import parse_workload
from plimsoll.workload.derive.derived import derive
from tests.unit.workload.derive.digests import digest, seen, value_of

PAGE = TableSeen(
    name="page",
    rows=4000,
    columns=(
        ColumnSeen(name="id", type="int(10) unsigned", auto_increment=True, lowest=1, highest=4000),
        ColumnSeen(name="space", type="int(11)", distinct=3, lowest=0, highest=2),
        ColumnSeen(name="title", type="varbinary(255)", mean_length=30.0),
        ColumnSeen(name="kind", type="varchar(20)", mean_length=4.0, distinct=4),
        ColumnSeen(name="slug", type="varchar(200)", mean_length=195.0, distinct=4000),
        ColumnSeen(name="touched", type="binary(14)", mean_length=14.0),
        ColumnSeen(name="at", type="datetime", distinct=1000),
        ColumnSeen(name="gone", type="datetime", nullable=True, null_share=0.9),
    ),
    primary_key=("id",),
    indexes={
        "name": ("space", "title"),
        "slug": ("slug(191)",),
        "kind": ("kind",),
        "at": ("at",),
    },
    unique=("name",),
)
KEYS = KeysSeen(digest=0, calls=1000, distinct=1, same=1.0)


def of(one: Digest, **more: Any) -> StatementsSeen:
    return seen(one).model_copy(update={"tables": (PAGE,), **more})


def derived(told: StatementsSeen) -> dict[str, Any]:
    document = derive(told, writes=True).document
    parse_workload(document).compile()
    return document


def statement(document: dict[str, Any]) -> tuple[dict[str, Any], list[Any]]:
    """Return the shared values and the binds of the only statement."""
    (operation,) = document["operations"].values()
    return operation.get("let", {}), operation["statements"][0]["binds"]


def column(document: dict[str, Any], name: str) -> list[Any]:
    value = document["tables"]["page"]["columns"][name]["value"]
    return [value_of(value, row) for row in range(1, 4001)]


def named(value: Any, row: str) -> Any:
    """Return a value of a statement as that of a row of its table."""
    match value:
        case dict():
            return {key: named(part, row) for key, part in value.items()}
        case list():
            return [named(part, row) for part in value]
        case str():
            return value.replace(row, "row")
        case _:
            return value


def test_the_columns_of_a_unique_index_are_compared_with_those_of_one_row() -> None:
    document = derived(of(digest("SELECT `id` FROM `page` WHERE `space` = ? AND `title` = ?")))
    let, binds = statement(document)
    assert let == {"row_page": {"key": "page", "distribution": "$distribution"}}
    columns = document["tables"]["page"]["columns"]
    assert [named(bind, "row_page") for bind in binds] == [
        columns["space"]["value"],
        columns["title"]["value"],
    ]
    spaces = column(document, "space")
    assert {spaces.count(space) for space in set(spaces)} <= {1333, 1334}
    assert len(set(zip(spaces, column(document, "title"), strict=True))) == 4000


def test_columns_of_an_index_are_independent_and_neighbors_lie_apart() -> None:
    indexes = {"queue": ("kind", "space")}
    table = PAGE.model_copy(update={"indexes": indexes, "unique": ()})
    text = "SELECT `id` FROM `page` WHERE `kind` = ? AND `space` = ?"
    document = derived(of(digest(text, rows=333), tables=(table,)))
    pairs = list(zip(column(document, "kind"), column(document, "space"), strict=True))
    assert {pairs.count(pair) for pair in set(pairs)} <= {333, 334}
    rows = [number for number, pair in enumerate(pairs) if pair == pairs[0]]
    assert min(second - first for first, second in pairwise(rows)) > 1


def test_a_number_stands_where_an_index_of_a_prefix_has_it() -> None:
    document = derived(of(digest("SELECT `id` FROM `page` WHERE `slug` = ?")))
    slugs = column(document, "slug")
    assert len({slug[:191] for slug in slugs}) == 4000
    assert max(map(len, slugs)) <= 200


def test_a_statement_without_result_reads_the_rows_that_its_index_finds() -> None:
    text = "SELECT `id` FROM `page` WHERE `slug` = ? AND `kind` = ?"
    document = derived(of(digest(text, rows=0, examined=1)))
    _, (slug, kind) = statement(document)
    columns = document["tables"]["page"]["columns"]
    assert named(slug, "row_page") == columns["slug"]["value"]
    own = column(document, "kind")
    others = [value_of(named(kind, "row_page"), row) for row in range(1, 4001)]
    assert set(others) == set(own)
    assert all(one != other for one, other in zip(own, others, strict=True))


def test_a_key_that_is_never_found_is_that_of_no_row() -> None:
    document = derived(of(digest("SELECT `kind` FROM `page` WHERE `id` = ?", rows=0)))
    assert statement(document) == ({}, [{"integer": [4001, 8000]}])


@pytest.mark.parametrize(("changed", "share"), [(0.0, 1.0), (0.7, 0.3)])
def test_an_update_sets_as_often_what_is_there(changed: float, share: float) -> None:
    text = "UPDATE `page` SET `touched` = ? WHERE `id` = ?"
    document = derived(of(digest(text, rows=changed, examined=1)))
    let, (touched, number) = statement(document)
    assert (list(let), number) == (["row_page"], "row_page")
    there = touched if share == 1.0 else touched["weighted"][0][1]
    assert named(there, "row_page") == document["tables"]["page"]["columns"]["touched"]["value"]
    if share < 1.0:
        assert [weight for weight, _ in touched["weighted"]] == [share, changed]


def test_an_update_whose_conditions_exclude_rows_changes_the_others() -> None:
    text = "UPDATE `page` SET `touched` = ? WHERE `kind` = ?"
    document = derived(of(digest(text, rows=10, examined=1000)))
    assert "weighted" not in str(statement(document)[1][0])


def test_a_statement_about_one_row_names_it_again_and_again() -> None:
    text = "SELECT `kind` FROM `page` WHERE `id` = ?"
    assert statement(derived(of(digest(text), keys=(KEYS,))))[0] == {"row_page": 1}
    several = KEYS.model_copy(update={"distinct": 5})
    found = statement(derived(of(digest(text), keys=(several,))))
    assert found == ({"row_page": {"integer": [1, 5]}}, ["row_page"])
    many = KEYS.model_copy(update={"distinct": 800})
    assert statement(derived(of(digest(text), keys=(many,))))[0] == {}


def test_a_column_of_few_values_is_not_about_few_rows() -> None:
    text = "SELECT `id` FROM `page` WHERE `kind` = ?"
    keys = KEYS.model_copy(update={"distinct": 4})
    let, (kind,) = statement(derived(of(digest(text, rows=1000), keys=(keys,))))
    assert (let, kind["of"]) == ({}, [{"integer": [1, 4]}])


UPSERT = (
    "INSERT INTO `page` ( `space` , `title` , `kind` ) VALUES (...)"
    " ON DUPLICATE KEY UPDATE `kind` = ?"
)


@pytest.mark.parametrize(("affected", "row"), [(2.0, "key"), (1.0, "next_key"), (0.0, "key")])
def test_an_upsert_finds_its_row_as_often_as_the_counts_tell(affected: float, row: str) -> None:
    let, binds = statement(derived(of(digest(UPSERT, rows=affected))))
    assert list(let["upserted"]) == [row, *(["distribution"] if row == "key" else [])]
    assert all("upserted" in str(bind) for bind in binds[:2])


def test_an_upsert_of_which_half_the_rows_are_new_draws_both() -> None:
    let, _ = statement(derived(of(digest(UPSERT, rows=1.5))))
    (there, old), (rest, new) = let["upserted"]["weighted"]
    assert (there, rest, list(new)) == (0.5, 0.5, ["next_key"])
    assert old["key"] == "page"


def test_what_is_inserted_again_and_again_stays_the_same() -> None:
    text = "INSERT INTO `page` ( `kind` , `at` ) VALUES (?, ?)"
    one = digest(text).model_copy(update={"fixed": (True, False)})
    let, (kind, at) = statement(derived(of(one)))
    assert let == {"fixed": 1}
    assert "fixed" in str(kind)
    assert "fixed" not in str(at)
    # a column without an index, whose values no statement compares, is drawn
    other = digest("INSERT INTO `page` ( `touched` ) VALUES (?)")
    let, _ = statement(derived(of(other.model_copy(update={"fixed": (True,)}))))
    assert let == {}


def test_a_range_of_times_has_as_many_rows_as_a_call_met() -> None:
    text = "SELECT `id` FROM `page` WHERE `at` BETWEEN ? AND ?"
    document = derived(of(digest(text, rows=40)))
    let, (low, high) = statement(document)
    assert let["from_at_page"] == {"integer": [0, 990]}  # of 1,000 times, 4 rows each
    assert let["to_at_page"] == {"sum": "from_at_page", "plus": 9}
    times = [_moment(each) for each in column(document, "at")]
    for start in (0, 500, 990):
        first = _moment(value_of(named(low, "from_at_page"), start))
        last = _moment(value_of(named(high, "to_at_page"), start + 9))
        assert sum(first <= each <= last for each in times) == pytest.approx(40, abs=8)


def test_what_lies_within_a_time_from_now_is_told_by_the_rows() -> None:
    text = "SELECT `id` FROM `page` WHERE `at` > NOW ( ) - INTERVAL ? DAY"
    document = derived(of(digest(text, rows=400)))
    let, (at,) = statement(document)
    low, high = let["low_at_page"]["integer"]
    times = [_moment(each) for each in column(document, "at")]
    ends = [_moment(value_of(named(at, "low_at_page"), one)) for one in range(low, high + 1)]
    beyond = [sum(each > end for each in times) for end in ends]
    assert sum(beyond) / len(beyond) == pytest.approx(400, rel=0.1)


def test_a_column_is_null_in_as_many_rows() -> None:
    document = derived(of(digest("SELECT `id` FROM `page` WHERE `gone` IS NULL", rows=3600)))
    gone = column(document, "gone")
    assert gone.count(None) / len(gone) == pytest.approx(0.9, abs=0.02)


def _moment(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.replace(" ", "-").replace(":", "-").split("-"))


def test_a_value_that_is_asked_for_is_as_frequent_as_the_rows_of_a_call() -> None:
    text = "SELECT COUNT ( * ) FROM `page` WHERE `kind` = ?"
    document = derived(of(digest(text, rows=1, examined=3000)))
    kinds = column(document, "kind")
    (kind,) = statement(document)[1]
    asked = named(kind, "row")
    assert asked["of"] == [{"integer": [1, 1]}]
    assert kinds.count("1vvv") / len(kinds) == pytest.approx(0.75, abs=0.03)
    assert len(set(kinds)) == 4


def test_a_lookup_misses_as_often_as_the_rows_of_a_call_tell() -> None:
    document = derived(of(digest("SELECT `kind` FROM `page` WHERE `id` = ?", rows=0.4)))
    (found,) = statement(document)[1]
    drawn = {"key": "page", "distribution": "$distribution"}
    assert found == {"weighted": [[0.4, drawn], [0.6, {"integer": [4001, 8000]}]]}


@pytest.mark.parametrize(("rows", "pattern"), [(0, "%--%"), (20, "%v%")])
def test_a_pattern_that_is_looked_for_in_all_rows_is_found_or_not(rows: int, pattern: str) -> None:
    text = "SELECT `id` FROM `page` WHERE `slug` LIKE ?"
    document = derived(of(digest(text, rows=rows, examined=4000)))
    assert statement(document) == ({}, [{"literal": pattern}])


def test_a_pattern_may_order_what_is_found() -> None:
    text = (
        "SELECT `id` FROM `page` WHERE `slug` LIKE ?"
        " ORDER BY ( CASE WHEN `slug` LIKE ? THEN ? ELSE ? END ) , `at` DESC LIMIT ? , ?"
    )
    document = derived(of(digest(text, rows=10, examined=4000)))
    assert statement(document)[1] == [{"literal": "%v%"}] * 2 + [1, 1, 0, 10]


def test_a_pattern_that_an_index_may_find_is_left_out() -> None:
    text = "SELECT `id` FROM `page` WHERE `slug` LIKE ?"
    by_id = digest("SELECT `kind` FROM `page` WHERE `id` = ?")
    told = seen(by_id, digest(text, rows=20)).model_copy(update={"tables": (PAGE,)})
    (left,) = derive(told).left_out
    assert "what begins with a part of slug" in left.why


def test_literals_that_a_program_compares_stay_a_condition() -> None:
    text = "SELECT `id` FROM `page` WHERE ? = ? AND `id` = ?"
    _, binds = statement(derived(of(digest(text))))
    assert binds[:2] == [1, 1]


def test_a_range_beside_a_key_is_met_by_the_row_of_the_key() -> None:
    text = "SELECT `kind` FROM `page` WHERE `id` = ? AND `touched` >= ?"
    document = derived(of(digest(text)))
    let, (number, touched) = statement(document)
    assert (list(let), number) == (["row_page"], "row_page")
    assert named(touched, "row_page") == document["tables"]["page"]["columns"]["touched"]["value"]


def test_a_column_that_an_insert_may_leave_out_has_a_default() -> None:
    columns = tuple(
        each.model_copy(update={"has_default": each.name in {"kind", "at", "space"}})
        for each in PAGE.columns
    )
    table = PAGE.model_copy(update={"columns": columns})
    made = derived(of(digest("SELECT `kind` FROM `page` WHERE `id` = ?"), tables=(table,)))
    written = made["tables"]["page"]["columns"]
    defaults = {name: each["default"] for name, each in written.items() if "default" in each}
    assert defaults == {"space": 0, "kind": "", "at": "2026-01-01"}


@pytest.mark.parametrize(
    ("condition", "end"), [("`touched` < ?", ""), ("`slug` > ?", "~"), ("`at` > ?", "2037-01-01")]
)
def test_the_next_few_rows_beyond_an_end_may_be_none(condition: str, end: str) -> None:
    text = f"SELECT `id` FROM `page` WHERE {condition} LIMIT ?"
    assert statement(derived(of(digest(text, rows=0))))[1][0] == {"literal": end}


def test_a_maximum_that_an_index_tells_examines_no_row_and_is_found() -> None:
    text = "SELECT MAX ( `at` ) FROM `page` WHERE `kind` = ?"
    let, (kind,) = statement(derived(of(digest(text, examined=0), keys=(KEYS,))))
    assert (let, kind["of"]) == ({}, [{"integer": [1, 4]}])


def test_a_row_that_is_never_found_is_not_drawn() -> None:
    text = "SELECT `kind` FROM `page` WHERE `id` = ?"
    assert statement(derived(of(digest(text, rows=0), keys=(KEYS,))))[0] == {}


def lines(line: str, rows: int) -> TableSeen:
    """Lines of orders, whose key is the order and a small number."""
    return TableSeen(
        name="order_line",
        rows=rows,
        columns=(
            ColumnSeen(name="order_id", type="bigint(20) unsigned", distinct=rows // 2),
            ColumnSeen(name="line", type=line, distinct=2),
            ColumnSeen(name="quantity", type="int(11)"),
        ),
        primary_key=("order_id", "line"),
    )


@pytest.mark.parametrize(
    ("line", "rows", "binds"),
    [
        ("int(11)", 4000, [{"next_key": "order_line"}, 1]),
        ("smallint(6)", 100_000, [{"next_key": "order_line"}, {"integer": [1, 2]}]),
    ],
)
def test_a_new_line_of_an_order_has_a_key_that_no_other_has(
    line: str, rows: int, binds: list[Any]
) -> None:
    one = digest("INSERT INTO order_line VALUES (?, ?, ?)", 10)
    document = derived(of(one, tables=(lines(line, rows),)))
    assert statement(document)[1][:2] == binds


def test_a_number_that_is_too_small_for_the_rows_is_not_theirs() -> None:
    one = digest("SELECT quantity FROM order_line WHERE order_id = ?", 10)
    document = derived(of(one, tables=(lines("smallint(6)", 100_000),)))
    value = document["tables"]["order_line"]["columns"]["line"]["value"]
    assert {value_of(value, row) for row in range(1_000)} == {1, 2}
