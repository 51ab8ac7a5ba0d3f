"""What a digest's text is read as: its statement, and what each value is for."""

import sys

import pytest

from plimsoll.errors import WorkloadError
from plimsoll.workload.derive.parts import CHARACTERS_MOST
from plimsoll.workload.derive.reading import DEPTH_MOST, read_shape
from tests.unit.workload.derive.digests import BY_NAME

READ = [
    (
        "SELECT `lower` ( `c` ) , ? FROM `sbtest1` WHERE ID = ? AND `k` >= ? ",  # as MariaDB does
        "SELECT LOWER(c), ? FROM {sbtest1} WHERE id = ? AND k >= ?",
        ["constant ", "equal id", "low k"],
    ),
    ("SELECT c FROM sbtest1 WHERE id=?", "SELECT c FROM {sbtest1} WHERE id = ?", ["equal id"]),
    (
        "SELECT `c` FROM `shop` . `sbtest1` WHERE `id` BETWEEN ? AND ? AND `c` = ?",
        "SELECT c FROM {sbtest1} WHERE id BETWEEN ? AND ? AND c = ?",
        ["low id", "high id", "equal c"],
    ),
    (
        "SELECT `o` . `k` FROM `sbtest1` AS `o` JOIN `order_lines` `l` ON `l` . `line` = `o` . `k`",
        "SELECT o.k FROM {sbtest1} AS o JOIN {order_lines} l ON l.line = o.k",
        [],
    ),
    (
        "SELECT `id` FROM `orders` `o` WHERE `o` . `customer_id` IN (...) LIMIT ?, ...",
        "SELECT id FROM {orders} o WHERE o.customer_id IN (?, ?, ?) LIMIT ?, ?",
        ["member customer_id", "offset ", "limit "],
    ),
    (
        "INSERT INTO `sbtest1` ( `k` , `c` ) VALUES (...) /* , ... */",
        "INSERT INTO {sbtest1} (k, c) VALUES (?, ?)",
        ["set k", "set c"],
    ),
    (
        "INSERT INTO `orders` ( `state` , `id` , `placed` ) VALUES ( ?, ... , NOW ( ) )",
        "INSERT INTO {orders} (state, id, placed) VALUES (?, ?, NOW())",
        ["set state", "set id"],
    ),
    (
        "UPDATE `sbtest1` SET `k` = `k` + ? , `c` = ? WHERE `id` = ?",
        "UPDATE {sbtest1} SET k = k + ?, c = ? WHERE id = ?",
        ["constant ", "set c", "equal id"],
    ),
    (
        "SELECT `id` FROM `orders` WHERE `id` IN ( SELECT `line` FROM `order_lines` WHERE ID = ? )",
        "SELECT id FROM {orders} WHERE id IN (SELECT line FROM {order_lines} WHERE id = ?)",
        ["equal id"],
    ),
    (
        "INSERT INTO `orders` ( `id` ) VALUES ( ? ) ON DUPLICATE KEY UPDATE `customer_id` = ?",
        "INSERT INTO {orders} (id) VALUES (?) ON DUPLICATE KEY UPDATE customer_id = ?",
        ["set id", "set customer_id"],
    ),
]


@pytest.mark.parametrize(("text", "written", "slots"), READ)
def test_a_statement_is_read(text: str, written: str, slots: list[str]) -> None:
    shape = read_shape(text, "sql", BY_NAME, "shop")
    assert shape.write_text(many=(3,) * 9) == written
    assert [f"{slot.role} {slot.column}" for slot in shape.slots] == slots


def test_numbers_and_texts_that_a_server_left_are_values_too() -> None:
    text = "SELECT c FROM sbtest1 WHERE id = 4711 AND c = 'a secret' LIMIT 5"
    shape = read_shape(text, "sql", BY_NAME)
    assert shape.write_text() == "SELECT c FROM {sbtest1} WHERE id = ? AND c = ? LIMIT ?"


POSTGRES = [
    (
        "SELECT c FROM public.sbtest1 WHERE id = $1 /* by Ada */",
        "SELECT c FROM {sbtest1} WHERE id = ?",
    ),
    (
        "SELECT c FROM sbtest1 WHERE id IN ($1 /*, ... */)",
        "SELECT c FROM {sbtest1} WHERE id IN (?, ?)",
    ),
    ("SELECT c FROM sbtest1 WHERE id = $1::int", "SELECT c FROM {sbtest1} WHERE id = ?"),
]


@pytest.mark.parametrize(("text", "written"), POSTGRES)
def test_a_statement_of_postgresql_is_read(text: str, written: str) -> None:
    assert read_shape(text, "postgres", BY_NAME, "public").write_text(many=(2,) * 9) == written


@pytest.mark.parametrize(
    ("text", "locks", "aggregates"),
    [
        ("SELECT `c` FROM `sbtest1` WHERE `id` = ? FOR UPDATE", True, False),
        ("SELECT `c` FROM `sbtest1` FOR UPDATE", True, False),
        ("SELECT `c` FROM `sbtest1` WHERE `id` = ? LOCK IN SHARE MODE", True, False),
        ("SELECT COUNT ( * ) FROM `sbtest1`", False, True),
        ("SELECT `k` FROM `sbtest1` GROUP BY `k`", False, True),
    ],
)
def test_locks_and_aggregates_are_seen(text: str, locks: bool, aggregates: bool) -> None:
    shape = read_shape(text, "sql", BY_NAME)
    assert (shape.writes, shape.aggregates) == (locks, aggregates)


REFUSED = [
    ("SELECT `c` FROM `sbtest1` WHERE `id` = ...", "cut short"),
    ("SELECT `c` FROM `sbtest1` WHERE `c` REGEXP ?", "not known what it is for"),
    ("SELECT `c` FROM `sbtest1` WHERE UPPER ( `c` ) = ?", "compares upper"),
    ("SELECT `c` FROM `sbtest1` WHERE OWNER = ?", "compares owner, which is no column of a table"),
    (
        "SELECT `c` FROM `view` WHERE `id` = ?",
        "names no table of the database that is seen: a view",
    ),
    ("SELECT `c` FROM `sbtest1` WHERE `id` = ? - ?", "an expression"),
    ("SELECT `c` FROM `sbtest1` WHERE ( `id` , `k` ) IN (...)", "not a column by itself"),
    ("SELECT `c` FROM `sbtest1` WHERE `id` = ?; DROP TABLE `sbtest1`", "more than one statement"),
    ("DROP TABLE `sbtest1`", "begins with DROP"),
    ("SELECT `c", "cannot be read|has no end"),
    ("", "no word"),
    ("SELECT " + "x" * CHARACTERS_MOST, "longer than"),
    ("SELECT `c` FROM `sbtest1` WHERE " + "(" * (DEPTH_MOST + 2), "parentheses"),
    ("SELECT \x00 FROM `sbtest1`", "cannot be read"),
    ("INSERT INTO `sbtest1` ( `k` ) VALUES ( ? , ? )", "more values than columns"),
]


@pytest.mark.parametrize(("text", "why"), REFUSED)
def test_what_cannot_be_taken_says_why(text: str, why: str) -> None:
    with pytest.raises(WorkloadError, match=why):
        read_shape(text, "sql", BY_NAME)


def test_no_error_repeats_a_value() -> None:
    for condition in ("REGEXP 'secret'", "~ 'secret"):
        with pytest.raises(WorkloadError) as refused:
            read_shape(f"SELECT c FROM sbtest1 WHERE c {condition}", "sql", BY_NAME)
        assert "secret" not in str(refused.value)


HOSTILE = ["(", "/*", "`", "? , ", "a = ? AND ", "IN (...) ", "/*, ... */"]


@pytest.mark.parametrize("repeated", HOSTILE)
def test_hostile_text_takes_time_in_line_with_its_length(repeated: str) -> None:
    """Work is counted in interpreted calls, which do not depend on the machine."""
    steps = []
    for length in (500, 1000, 2000):
        text = f"SELECT c FROM sbtest1 WHERE {repeated * (length // len(repeated))}"
        steps.append(_calls(text[:length]))
    assert steps[2] <= 3 * max(steps[1], 200)


def _calls(text: str) -> int:
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        read_shape(text, "sql", BY_NAME)
    except WorkloadError:
        pass
    finally:
        sys.setprofile(None)
    return counted
