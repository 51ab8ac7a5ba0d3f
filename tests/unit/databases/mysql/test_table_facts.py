"""The indexes of a table, as information_schema.statistics has them."""

from plimsoll.databases.mysql.table_facts import count_distinct, read_indexes
from plimsoll.model.run.statements_seen import IndexLeft

PARTS = [
    ("PRIMARY", "id", 6000, None, 1, 0, "BTREE"),
    ("qsa", "queue", 4, None, 0, 0, "BTREE"),
    ("qsa", "state", 12, None, 0, 0, "BTREE"),
    ("qsa", "placed", 6000, None, 0, 1, "BTREE"),
    ("slug", "slug", 5000, 191, 1, 0, "BTREE"),
    ("by_owner", "owner", 20, None, 0, 0, "BTREE"),
    ("low", None, 20, None, 0, 0, "BTREE"),
    ("words", "slug", None, None, 0, 0, "FULLTEXT"),
]


def test_an_index_is_kept_as_it_is_or_left_with_its_reason() -> None:
    found, left = read_indexes(PARTS, {"id", "queue", "state", "placed", "slug"})
    assert found == {
        "PRIMARY": ["id"],
        "qsa": ["queue", "state", "placed desc"],
        "slug": ["slug(191)"],
    }
    assert left == {
        "by_owner": IndexLeft(columns=("owner",), why="has a generated column"),
        "low": IndexLeft(columns=(), why="has an expression"),
        "words": IndexLeft(columns=("slug",), why="is fulltext"),
    }


def test_a_column_inside_an_index_has_the_values_that_its_prefix_tells() -> None:
    found = count_distinct(PARTS)
    assert (found["queue"], found["state"], found["placed"]) == (4, 3, 500)
    assert found["slug"] == 5000  # only its first characters were counted
