"""The statements of an SQL file."""

from pathlib import Path

import pytest

from plimsoll.errors import UsageError
from plimsoll.gate.sql_file import read_statements, split_statements


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("", ()),
        (" ;; \n", ()),
        ("A; B", ("A", "B")),
        ("-- it; has\nA;\n", ("A",)),
        ("# it; has\nA /* ; */ B;", ("A   B",)),
        ("A ';' \";\" `;`; B", ("A ';' \";\" `;`", "B")),
        ("A 'it''s;' B", ("A 'it''s;' B",)),
        (r"A 'it\'s;' B", (r"A 'it\'s;' B",)),
        ("/*!40101 SET x=1; */", ("/*!40101 SET x=1", "*/")),
        (
            "CREATE FUNCTION f() AS $$ BEGIN; END; $$ LANGUAGE x; B",
            ("CREATE FUNCTION f() AS $$ BEGIN; END; $$ LANGUAGE x", "B"),
        ),
        ("A $one$ ; $$ ; $one$; B", ("A $one$ ; $$ ; $one$", "B")),
        ("SELECT $1 - 2 / 3; B", ("SELECT $1 - 2 / 3", "B")),
        ("A 'never closed; B", ("A 'never closed", "B")),
        ("SELECT a$b$c FROM t; B", ("SELECT a$b$c FROM t", "B")),
    ],
)
def test_it_is_split_at_semicolons_outside_of_quotes(
    text: str, statements: tuple[str, ...]
) -> None:
    assert split_statements(text) == statements


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("/* " * 300_000, id="comments"),
        pytest.param("".join(f"$a{number}$ " for number in range(60_000)), id="tags"),
        pytest.param("'" + "\\'" * 300_000, id="quotes"),
    ],
)
def test_what_is_never_closed_is_read_once(text: str) -> None:
    """Looked for again at each place, its end took minutes: the suite's time limit."""
    assert split_statements(text + ";B") == (text.strip(), "B")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"-- nothing\n", "has no statement"),
        (b"\xff", "is not UTF-8 text"),
        (b"DELIMITER //\n", "--after-cmd"),
        (b"\\i other.sql\n", "--after-cmd"),
    ],
)
def test_what_cannot_be_executed_is_refused(content: bytes, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "migration.sql"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"--after .*migration.sql") as refused:
        read_statements(file, "--after")
    assert problem in str(refused.value)
