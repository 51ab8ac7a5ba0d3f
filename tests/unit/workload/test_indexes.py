"""The indexes of a workload's tables: unique ones, lengths and orders."""

import pytest

from plimsoll.errors import WorkloadError
from plimsoll.model.engine.asked import Protocol
from plimsoll.workload import parse_workload

WORKLOAD = """
about: a test
tables:
  article:
    rows: $records
    primary_key: [id]
    columns:
      id: {{type: bigint, value: row}}
      slug: {{type: varchar(200), value: {{format: "a{{}}", of: [row]}}}}
      placed: {{type: datetime, value: {{literal: "2026-01-01 00:00:00"}}}}
    {indexes}
operations:
  do: {{weight: 1, statements: [{{sql: "SELECT id FROM {{article}} WHERE id = 1"}}]}}
"""


def created(indexes: str, protocol: Protocol = "mysql") -> list[str]:
    (table,) = parse_workload(WORKLOAD.format(indexes=indexes)).compile(9, {}, protocol).tables
    return list(table.index_sql.values())


def test_an_index_has_the_lengths_and_orders_of_its_columns() -> None:
    assert created("indexes: {by_slug: ['slug(191)', 'placed desc', id]}") == [
        "CREATE INDEX `by_slug` ON `article` (`slug`(191), `placed` DESC, `id`)"
    ]
    assert created("indexes: {by_placed: ['placed desc', id]}", "postgres") == [
        'CREATE INDEX "article_by_placed" ON "article" ("placed" DESC, "id")'
    ]


def test_a_unique_index_is_unique() -> None:
    assert created("unique: {one_slug: [slug]}") == [
        "CREATE UNIQUE INDEX `one_slug` ON `article` (`slug`)"
    ]
    assert created("unique: {one_slug: [slug]}", "postgres") == [
        'CREATE UNIQUE INDEX "article_one_slug" ON "article" ("slug")'
    ]


@pytest.mark.parametrize(
    ("indexes", "protocol", "problem"),
    [
        ("unique: {u: [title]}", "mysql", "unknown column 'title'"),
        ("indexes: {i: ['title(9)']}", "mysql", "unknown column 'title'"),
        ("indexes: {i: ['slug(9) up']}", "mysql", "unknown column"),
        ("indexes: {i: [slug]}\n    unique: {i: [slug]}", "mysql", "'i' is an index too"),
        ("indexes: {i: ['slug(9)']}", "postgres", "no indexes of a part of a column"),
    ],
)
def test_what_an_index_cannot_have_is_refused(
    indexes: str, protocol: Protocol, problem: str
) -> None:
    with pytest.raises(WorkloadError, match=problem):
        created(indexes, protocol)
