r"""The schema of scripts: its statements, and what is refused with file, line and reason."""

import pytest

from plimsoll.errors import WorkloadError
from plimsoll.workload.pgbench.schema import read_schema

SCHEMA = r"""
-- made by hand
SET search_path = public;
BEGIN;
CREATE UNLOGGED TABLE item (id int PRIMARY KEY, name text DEFAULT 'a; b' /* why; */);
CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2; $$;
/* all */ CREATE UNIQUE INDEX of_name ON item (name)
"""


def test_statements_end_at_semicolons_outside_quotes_comments_and_dollars() -> None:
    assert read_schema(SCHEMA) == (
        "SET search_path = public",
        "BEGIN",
        "CREATE UNLOGGED TABLE item (id int PRIMARY KEY, name text DEFAULT 'a; b' /* why; */)",
        "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS $$ SELECT 1; SELECT 2; $$",
        "CREATE UNIQUE INDEX of_name ON item (name)",
    )


def test_a_space_follows_the_first_word_where_the_administration_puts_its_mark() -> None:
    assert read_schema("SELECT'a b'::text") == ("SELECT 'a b'::text",)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("\n\\shell rm -r /", 2, r"\shell is a command of psql"),
        ("CREATE TABLE a ();\n\\i more.sql", 2, r"\i is a command of psql"),
        ("DROP DATABASE app", 1, "DROP DATABASE is no statement of a schema"),
        ("\nCREATE\nROLE me", 2, "CREATE ROLE is no statement of a schema"),
        ("ALTER SYSTEM SET a = 1", 1, "ALTER SYSTEM is no statement of a schema"),
        ("CREATE", 1, "CREATE is no statement of a schema"),
        ("GRANT ALL ON a TO b", 1, "GRANT is no statement of a schema"),
        ("COPY a FROM stdin;\n1\n\\.", 1, "COPY needs rows that a client sends"),
        ("COPY a TO PROGRAM 'sh'", 1, "COPY needs rows that a client sends"),
        ("SELECT 1 \\; DROP DATABASE app", 1, "DROP DATABASE is no statement of a schema"),
        ("SELECT :id", 1, ":id is a variable of psql"),
        ("SELECT 1;\nSELECT 'a", 2, "a quoted part has no end"),
        ("-- nothing", 1, "has 0 statements"),
        ("SELECT 1;" * 10_001, 1, "has 10,001 statements"),
    ],
)
def test_what_is_no_schema_is_refused_by_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(WorkloadError) as error:
        read_schema(text, "shop.sql")
    assert str(error.value).startswith(f"shop.sql:{line}: {problem}")
    with pytest.raises(WorkloadError) as error:
        read_schema(text)
    assert str(error.value).startswith(f"line {line}: {problem}")
