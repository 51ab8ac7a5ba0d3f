"""Workloads from digests: the same statements, weights and transactions as what was sent."""

import json
import re
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.run.statements_seen import Digest, StatementsSeen, TransactionSeen
from plimsoll.workload import Compiled, load_workload, parse_workload
from plimsoll.workload.compiled import Table
from plimsoll.workload.derive.derived import Derived, derive
from plimsoll.workload.derive.document import dump_document
from tests.unit.workload.derive.digests import (
    COMMITS,
    LINES,
    OLTP_READ_WRITE,
    ORDERS,
    READ,
    SBTEST,
    UPDATES,
    YCSB_B,
    digest,
    seen,
    value_of,
)


def compiled(derived: Derived) -> Compiled:
    """Read a derived workload's file as a user of it would."""
    return parse_workload(dump_document(derived.document)).compile()


def weights(derived: Derived) -> dict[str, float]:
    return {name: one["weight"] for name, one in derived.document["operations"].items()}


def test_ycsb_b_is_found_again_in_its_digests() -> None:
    derived = derive(YCSB_B, writes=True)
    assert weights(derived) == {
        "select_usertable_by_ycsb_key": 95.0,
        "update_usertable_by_ycsb_key": 5.0,
    }
    read, update = compiled(derived).engine.operations
    assert read.statements[0].sql == ("SELECT * FROM `usertable` WHERE YCSB_KEY = ?",)
    assert update.statements[0].sql == tuple(
        f"UPDATE `usertable` SET FIELD{n} = ? WHERE YCSB_KEY = ?" for n in range(10)
    )
    assert derived.share_of_calls == 1.0


def test_a_table_has_as_many_rows_as_wide_as_it_had() -> None:
    (table,) = compiled(derive(YCSB_B, writes=True)).tables
    original = load_workload("ycsb-b").compile(4_950).tables[0]
    assert table.rows == 4_950
    assert table.create_sql == original.create_sql
    assert [value.model_dump() for value in table.row[1:]] == [
        {**value.model_dump(), "alphabet": "alphanumeric"} for value in original.row[1:]
    ]


def test_a_transaction_is_what_was_seen() -> None:
    derived = derive(OLTP_READ_WRITE, writes=True)
    (operation,) = compiled(derived).engine.operations
    original = load_workload("sysbench-oltp-read-write").compile(10_000).engine.operations[0]
    assert operation.transaction
    assert [one.repeat for one in operation.statements] == [
        one.repeat for one in original.statements
    ]
    assert [_plain(one.sql[0]) for one in operation.statements] == [
        _plain(one.sql[0]).replace("k+1", "k+?") for one in original.statements
    ]
    assert derived.operations[0].calls == COMMITS
    assert any("as the history of threads" in note for note in derived.notes)


def test_ranges_are_as_long_as_the_rows_that_they_met() -> None:
    document = derive(OLTP_READ_WRITE, writes=True).document
    between = [
        one["binds"]
        for one in document["operations"]["transaction"]["statements"]
        if "BETWEEN" in one["sql"]
    ]
    assert [(high["sum"] == low, high["plus"]) for low, high in between] == [(True, 99)] * 4


def test_the_row_that_is_inserted_is_the_one_that_was_deleted() -> None:
    statements = derive(OLTP_READ_WRITE, writes=True).document["operations"]["transaction"]
    delete, insert = statements["statements"][-2:]
    assert delete["binds"] == ["replaced_sbtest1"]
    assert insert["binds"][0] == "replaced_sbtest1"


def test_without_leave_nothing_writes() -> None:
    derived = derive(OLTP_READ_WRITE)
    texts = [text for one in derived.operations for text, _ in one.statements]
    assert len(texts) == 5
    assert all(text.startswith("SELECT") for text in texts)
    assert {one.why for one in derived.left_out} == {"changes or locks rows: --writes takes it"}
    assert derived.share_of_calls == pytest.approx(14 / 18, abs=0.01)
    assert not compiled(derived).inserts


def test_a_ratio_to_the_commits_makes_no_transaction() -> None:
    derived = derive(
        seen(
            digest("COMMIT", 1000),
            digest("SELECT `c` FROM `sbtest1` WHERE `id` = ?", 2000),
            digest("SELECT `c` FROM `sbtest1` WHERE `k` = ?", 1000),
        )
    )
    assert {one.name: one.calls for one in derived.operations} == {
        "select_sbtest1_by_id": 2000,
        "select_sbtest1_by_k": 1000,
    }
    assert any("nothing tells which statements were sent together" in n for n in derived.notes)


def shop(**told: object) -> StatementsSeen:
    """Reads by id that commit by themselves, and as many within transactions."""
    digests = (
        digest("COMMIT", 1000),
        digest("SELECT `c` FROM `sbtest1` WHERE `id` = ?", 3000),
        digest("UPDATE `sbtest1` SET `c` = ? WHERE `id` = ?", 1000),
    )
    within = [None, 2000, 1000]
    told_of = tuple(
        one.model_copy(update={"within": count}) for one, count in zip(digests, within, strict=True)
    )
    kind = TransactionSeen(calls=1000, statements=((1, 2), (2, 1)))
    return seen(*told_of).model_copy(
        update={"transactions": (kind,), "transactions_by": "the log", **told}
    )


def test_calls_within_transactions_and_apart_have_each_their_own_rate() -> None:
    derived = derive(shop(), writes=True)
    assert {one.name: one.calls for one in derived.operations} == {
        "transaction": 1000,
        "select_sbtest1_by_id": 1000,
    }
    (transaction,) = [one for one in derived.operations if one.name == "transaction"]
    assert [times for _, times in transaction.statements] == [2, 1]
    assert derived.share_of_calls == 1.0


def test_statements_of_a_transaction_about_the_same_row_share_it() -> None:
    once = TransactionSeen(calls=1000, statements=((1, 1), (2, 1)))
    (name, operation), *_ = (
        derive(shop(same_keys=((1, 2),), transactions=(once,)), writes=True)
        .document["operations"]
        .items()
    )
    assert name == "transaction"
    assert operation["let"] == {"row_of_1": {"key": "sbtest1", "distribution": "$distribution"}}
    assert [one["binds"][-1] for one in operation["statements"]] == ["row_of_1", "row_of_1"]
    for other in (shop(transactions=(once,)), shop(same_keys=((1, 2),))):  # sent twice there
        assert "let" not in derive(other, writes=True).document["operations"]["transaction"]


def test_without_transactions_each_statement_is_an_operation() -> None:
    derived = derive(shop(), writes=True, transactions="none")
    assert {one.name: one.calls for one in derived.operations} == {
        "select_sbtest1_by_id": 3000,
        "update_sbtest1_by_id": 1000,
    }
    assert any("--transactions none" in note for note in derived.notes)


def test_tables_alike_are_copies_of_one() -> None:
    tables = [SBTEST.model_copy(update={"name": f"sbtest{n}"}) for n in (1, 2, 3)]
    one_each = [digest(f"SELECT `c` FROM `sbtest{n}` WHERE `id` = ?", 100 * n) for n in (1, 2, 3)]
    derived = derive(seen(*one_each).model_copy(update={"tables": tuple(tables)}))
    assert derived.document["tables"]["sbtest"]["copies"] == 3
    (operation,) = compiled(derived).engine.operations
    assert operation.statements[0].sql == tuple(
        f"SELECT c FROM `sbtest{n}` WHERE id = ?" for n in (1, 2, 3)
    )


def test_lists_and_limits_are_as_long_as_rows_tell() -> None:
    derived = derive(
        seen(
            digest("SELECT `note` FROM `orders` WHERE `id` IN (...)", rows=7),
            digest("SELECT `note` FROM `orders` WHERE `customer_id` IN (...)", rows=72),
            digest("SELECT `note` FROM `orders` WHERE `id` >= ? ORDER BY `id` LIMIT ?", rows=25),
        )
    )
    texts = {text for one in derived.operations for text, _ in one.statements}
    assert "SELECT note FROM {orders} WHERE id IN (?, ?, ?, ?, ?, ?, ?)" in texts
    assert "SELECT note FROM {orders} WHERE customer_id IN (?, ?, ?)" in texts  # 24 rows each
    limited = derived.document["operations"]["select_orders_by_id_2"]["statements"][0]
    assert limited["binds"][1] == 25


def test_values_occur_as_unevenly_as_in_a_sample_of_rows() -> None:
    derived = derive(seen(digest("SELECT `note` FROM `orders` WHERE `customer_id` = ?", rows=20)))
    column = derived.document["tables"]["orders"]["columns"]["customer_id"]
    rows = [value_of(column["value"], row) for row in range(1, 120_001)]
    assert sum(7 <= one < 1007 for one in rows) / len(rows) == pytest.approx(0.61, abs=0.01)
    assert len(set(rows)) == 5_000
    (statement,) = derived.document["operations"]["select_orders_by_customer_id"]["statements"]
    assert statement["binds"] == [
        {"weighted": [[0.135, {"integer": [7, 1006]}], [0.865, {"integer": [1007, 5006]}]]}
    ]


def test_both_columns_of_a_key_are_those_of_one_row() -> None:
    text = "SELECT `price` FROM `order_lines` WHERE `order_id` = ? AND `line` = ?"
    derived = derive(seen(digest(text)))
    operation = derived.document["operations"]["select_order_lines_by_order_id_line"]
    (name,) = operation["let"]
    assert operation["statements"][0]["binds"] == [name, name]


LEFT_OUT = [
    ("SELECT `x` FROM `another` WHERE `id` = ?", "a view, perhaps"),
    ("SELECT `c` FROM `sbtest1` WHERE `id` = (unknown)", "a value that the server's counting"),
    ("SELECT NOW ( ) - INTERVAL ? SQL_TSI_DAY FROM `sbtest1` WHERE `id` = ?", "an INTERVAL"),
    ("SELECT SLEEP ( ? ) FROM `orders`", "calls"),
    ("SELECT `id` FROM `orders` INTO OUTFILE ?", "not"),
    ("INSERT INTO `sbtest1` ( `id` , `k` ) VALUES (...)", "bigint"),
    ("SELECT `id` FROM `orders` WHERE `note` BETWEEN ? AND ?", "neither a whole number nor a"),
    ("SHOW TABLES", "is none of"),
    ("SET PASSWORD = ?", "is none of"),
    ("SELECT `id` FROM `orders` WHERE `id` = ...", "cut short"),
    ("{evil: [1, 2]} \n - yaml", "is none of"),
    ("SELECT `a\x1b[2J\n` FROM `orders`", "unknown column"),
]


def test_what_the_server_does_not_name_is_no_part_of_what_is_derived() -> None:
    told = seen(digest(READ, 900)).model_copy(update={"calls_unknown": 300})
    assert derive(told).share_of_calls == pytest.approx(0.75)


@pytest.mark.parametrize(("text", "why"), LEFT_OUT)
def test_what_cannot_be_derived_is_listed_with_its_share(text: str, why: str) -> None:
    derived = derive(seen(digest(READ, 900), digest(text, 100)), writes=True)
    (one,) = derived.left_out
    assert one.calls == 100
    assert derived.share_of_calls == pytest.approx(0.9)
    assert re.search(why, one.why), one.why
    assert "\x1b" not in one.statement + one.why
    assert "\n" not in one.statement


def test_statements_about_the_server_itself_do_not_count() -> None:
    own = digest("SELECT * FROM `performance_schema` . `threads`", 10_000)
    derived = derive(seen(digest(READ), own))
    assert derived.calls == 1000


def test_no_statement_at_all_is_an_error_that_says_why() -> None:
    with pytest.raises(UsageError, match=r"shop: no statement .* \(SHOW: is none of"):
        derive(seen(digest("SHOW TABLES")))


def test_tables_can_be_chosen() -> None:
    of_orders = digest("SELECT `note` FROM `orders` WHERE `id` = ?")
    derived = derive(seen(digest(READ), of_orders), only=["orders"])
    assert list(derived.document["tables"]) == ["orders"]
    with pytest.raises(UsageError, match="--tables: unknown table 'nowhere'"):
        derive(seen(digest(READ)), only=["nowhere"])


def test_no_value_of_a_row_is_in_it_but_ends_of_numbers() -> None:
    text = "SELECT `note` FROM `orders` WHERE `state` = ? AND `customer_id` = ?"
    derived = derive(seen(digest(text), digest("SELECT 'a secret' , 4711 FROM `orders`")))
    written = json.dumps(derived.document) + repr(derived)
    assert "secret" not in written
    assert "4711" not in written
    assert "paid" not in written
    note = next(note for note in derived.notes if "taken of your data" in note)
    assert note.endswith("orders.id, orders.customer_id")


READ_OPERATION = "select_usertable_by_ycsb_key"
WORDS = ["SELECT", "`c`", "FROM", "`sbtest1`", "`orders`", "WHERE", "`id`", "=", "?", "(...)", "IN"]
WORDS += ["BETWEEN", "AND", ",", "(", ")", "UPDATE", "SET", "INSERT INTO", "VALUES", "LIMIT"]
WORDS += ["...", "/* , ... */", "$records", "{x}", "'", "`", "DELETE", "JOIN", ".", ">", "COMMIT"]


@settings(max_examples=30)
@given(texts=st.lists(st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join), max_size=6))
def test_whatever_digests_say_what_comes_out_is_a_sound_workload(texts: list[str]) -> None:
    digests = [digest(text, 10 + number) for number, text in enumerate(texts)]
    derived = derive(seen(digest(READ, 100), *digests), writes=True)  # which reads it again
    assert READ_OPERATION in derived.document["operations"]


@settings(max_examples=30)
@given(text=st.text(max_size=80))
def test_any_text_is_left_out_or_sound(text: str) -> None:
    derived = derive(seen(digest(READ, 100), digest(text, 5)), writes=True)
    assert READ_OPERATION in derived.document["operations"]


def test_estimates_of_rows_give_way_to_a_key_without_gaps() -> None:
    few = ORDERS.model_copy(update={"rows": 90_000})
    read = digest("SELECT `note` FROM `orders` WHERE `id` = ?")
    whole = derive(seen(read).model_copy(update={"tables": (few,)}))
    assert whole.document["default_records"] == 120_000
    sparse = few.model_copy(update={"rows": 5_000})
    gaps = derive(seen(read).model_copy(update={"tables": (sparse,)}))
    assert gaps.document["default_records"] == 5_000


def test_postgresql_has_its_own_field_and_names_in_small_letters() -> None:
    columns = tuple(c.model_copy(update={"type": "text"}) for c in ORDERS.columns[3:])
    key = ORDERS.columns[0].model_copy(update={"type": "bigint"})
    table = ORDERS.model_copy(update={"columns": (key, *columns), "indexes": {}})
    told = StatementsSeen(
        protocol="postgres",
        server="PostgreSQL 18",
        database="public",
        interval_s=None,
        digests=(Digest(text="SELECT note FROM orders WHERE id = $1", calls=9, time_s=0.1),),
        tables=(table,),
    )
    document = derive(told).document
    statement = document["operations"]["select_orders_by_id"]["statements"][0]
    assert statement["postgres"] == "SELECT note FROM {orders} WHERE id = ?"
    assert parse_workload(dump_document(document)).compile(protocol="postgres").engine.operations


def test_updates_of_one_column_that_differ_much_in_their_number_stay_apart() -> None:
    derived = derive(seen(digest(UPDATES[0], 1000), digest(UPDATES[1], 10)), writes=True)
    assert len(derived.operations) == 2


def _plain(text: str) -> str:
    return text.replace(" ", "").replace("`", "")


class Picky:
    """A server that refuses statements which name a column, or any table."""

    def __init__(self, column: str, why_not: str | None = None) -> None:
        self._column, self._why_not = column, why_not
        self.created: list[str] = []
        self.tried: list[str] = []

    def create(self, tables: Sequence[Table]) -> str | None:
        self.created += [table.name for table in tables]
        return self._why_not

    def refuse(self, sql: str) -> str | None:
        self.tried.append(sql)
        return "no such type (1)" if self._column in sql else None


def test_what_a_server_refuses_is_left_out_with_its_reason() -> None:
    of_orders = digest("SELECT `note` FROM `orders` WHERE `id` = ?", 10)
    picky = Picky("note")
    derived = derive(seen(digest(READ), of_orders), trial=picky)
    (one,) = derived.left_out
    assert one.why == "the server refuses it: no such type (1)"
    assert sorted(picky.created) == ["orders", "usertable"]
    assert [one.name for one in derived.operations] == ["select_usertable_by_ycsb_key"]


def test_where_a_server_cannot_try_them_a_note_says_why() -> None:
    picky = Picky("YCSB", why_not="access denied")
    derived = derive(seen(digest(READ)), trial=picky)
    assert derived.notes[-1] == "the statements were not tried on the server: access denied"
    assert (derived.left_out, picky.tried) == ((), [])


def test_a_table_that_is_read_gets_the_key_that_it_lacks() -> None:
    without = ORDERS.model_copy(update={"primary_key": ()})
    read = digest("SELECT `note` FROM `orders` WHERE `customer_id` = ?")
    derived = derive(seen(read).model_copy(update={"tables": (without,)}))
    (table,) = compiled(derived).tables
    assert (table.rows, table.key) == (100_000, ("plimsoll_row",))
    assert any("orders has no primary key: the column plimsoll_row" in n for n in derived.notes)
    # InnoDB orders rows by a unique index without nulls, if there is no key
    unique = without.model_copy(update={"indexes": {"by_id": ("id",)}, "unique": ("by_id",)})
    (table,) = compiled(derive(seen(read).model_copy(update={"tables": (unique,)}))).tables
    assert (table.key, table.index_sql) == (("id",), {})


def test_a_table_into_which_rows_are_inserted_alone_stays_without_a_key() -> None:
    without = LINES.model_copy(update={"primary_key": ()})
    insert = digest("INSERT INTO `order_lines` ( `order_id` , `line` ) VALUES (...)")
    derived = derive(seen(insert).model_copy(update={"tables": (without,)}), writes=True)
    (table,) = compiled(derived).tables
    assert (table.rows, table.key) == (0, ())


def test_each_list_is_as_long_as_the_log_has_it() -> None:
    text = "SELECT `note` FROM `orders` WHERE `id` IN (...) OR `customer_id` IN (...)"
    told = digest(text, rows=90).model_copy(update={"listed": (3.2, 1.0)})
    ((text, _),) = derive(seen(told)).operations[0].statements
    assert text == "SELECT note FROM {orders} WHERE id IN (?, ?, ?) OR customer_id IN (?)"
