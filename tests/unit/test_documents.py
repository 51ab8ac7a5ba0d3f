"""A document gives plain values, and says on which line of it something wrong with them stands."""

from pathlib import Path
from typing import Any

import pytest

from plimsoll.complaints import Complaint, Place, complain_of_missing
from plimsoll.documents import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    Document,
    is_deeper,
    make_document,
    read_document,
    read_text,
)
from plimsoll.errors import UsageError

TEXT = """\
name: a
list:
  - 1
  - {deep: [x, 2.5, true, null]}
same: &same
  b: 1
again: *same
"""


def refuse(*path: str | int) -> Any:
    """A check that complains of one field."""

    def check(_: dict[str, Any]) -> None:
        raise UsageError(Complaint(path, "is wrong"))

    return check


def test_its_value_is_plain() -> None:
    assert read_document(TEXT, "d.yaml").value == {
        "name": "a",
        "list": [1, {"deep": ["x", 2.5, True, None]}],
        "same": {"b": 1},
        "again": {"b": 1},
    }


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ((), 1),
        (("name",), 1),
        (("list", 0), 3),
        (("list", 1, "deep", 2), 4),
        (("again",), 7),
        (("again", "b"), 6),
        (("list", 7), 2),
        (("list", 1, "no", "such"), 4),
        (("name", "more"), 1),
    ],
)
def test_a_complaint_is_placed_at_the_deepest_part_that_is_there(
    path: tuple[str | int, ...], line: int
) -> None:
    with pytest.raises(UsageError) as error:
        read_document(TEXT, "d.yaml").check(refuse(*path))
    assert error.value.complaints == (Complaint(path, "is wrong", place=Place("d.yaml", line)),)


def test_what_is_placed_already_stays_where_it_is() -> None:
    complaint = Complaint(("name",), "is wrong", place=Place("other.yaml", 9))
    assert read_document(TEXT, "d.yaml").locate_complaints(UsageError(complaint)).complaints == (
        complaint,
    )


def test_the_same_complaint_is_made_once() -> None:
    error = UsageError(
        complain_of_missing(("list", "a")),
        complain_of_missing(("list", "a")),
        complain_of_missing(("list", "b")),
    )
    lines = str(read_document(TEXT, "d.yaml").locate_complaints(error)).splitlines()
    assert lines == ["d.yaml:2: list: lacks the field 'a'", "d.yaml:2: list: lacks the field 'b'"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2", "d.yaml:4: b.c: is given twice"),
        ("a: 1\n<<: {b: 1}", "d.yaml:2: a field's name must be plain text"),
        ("a:\n  [1, 2]: 3", "d.yaml:2: a: a field's name must be plain text"),
        ("a: !!python/object:os.system x", "d.yaml:1: a: must be a single value, a list or a"),
        ("a: 1\nb: 2024-05-06", "d.yaml:2: b: must be a single value, a list or a mapping, not"),
        ("a: !!set {x, y}", "d.yaml:1: a: must be a single value"),
        ("a: !!map text", "d.yaml:1: a: must be a single value"),
        ("a: !!int x", "d.yaml:1: a: 'x' is no int"),
        ("a: !!bool x", "d.yaml:1: a: 'x' is no bool"),
        ("a: !!float ''", "d.yaml:1: a: '' is no float"),
        ("- 1", "d.yaml:1: must be a mapping"),
        ("text", "d.yaml:1: must be a mapping"),
        ("", "d.yaml: is empty"),
        ("a: [1", "d.yaml:1: not YAML: expected ',' or ']'"),
        ("a: *b", "d.yaml:1: not YAML: found undefined alias 'b'"),
        ("a: &a [*a]", "d.yaml:1: "),
        ("a: " + "[" * 2000, "d.yaml: nested too deeply"),
        ("a: " + " " * MAX_CHARACTERS, f"d.yaml: longer than {MAX_CHARACTERS} characters"),
    ],
)
def test_what_is_no_plain_document_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        read_document(text, "d.yaml").check(lambda value: value)
    assert str(error.value).startswith(message)
    assert "\n" not in str(error.value)


def test_aliases_that_expand_without_end_are_refused_at_once() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    with pytest.raises(UsageError, match="more than 50000 parts, aliases counted out"):
        _ = read_document("\n".join(lines), "d.yaml").value


def test_a_long_text_is_counted_for_each_alias() -> None:
    text = f"a: &a {'x' * 1000}\nb: [{', '.join(['*a'] * 300)}]"
    with pytest.raises(UsageError, match="longer than 262144 characters, aliases written out"):
        _ = read_document(text, "d.yaml").value


def test_plain_values_make_a_document_without_lines() -> None:
    document, text = make_document({"b": [1, "two"], "a": None}, "request")
    assert text == "b:\n- 1\n- two\na: null\n"
    assert document.value == {"b": [1, "two"], "a": None}
    with pytest.raises(UsageError, match=r"^request: b\[1\]: is wrong$"):
        document.check(refuse("b", 1))


def test_what_is_no_plain_value_makes_no_document() -> None:
    with pytest.raises(UsageError, match=r"^request: holds something that is not a plain value$"):
        make_document({"a": object()}, "request")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes(b"a: \xff")
    with pytest.raises(UsageError, match=r"latin.yaml: is not UTF-8 text: save it as UTF-8$"):
        read_text(tmp_path / "latin.yaml")
    with pytest.raises(UsageError, match=r"none.yaml: No such file or directory$"):
        read_text(tmp_path / "none.yaml")


def test_a_document_is_made_of_a_parsed_tree_too() -> None:
    root = read_document(TEXT, "d.yaml").root
    assert Document(root, "other.yaml").value == read_document(TEXT, "d.yaml").value


def test_documents_are_as_deep_as_is_said_and_no_deeper() -> None:
    inner = "[" * (MAX_DEPTH - 1) + "]" * (MAX_DEPTH - 1)
    assert read_document(f"a: {inner}", "d.yaml").value
    with pytest.raises(UsageError, match=r"^d\.yaml: nested too deeply$"):
        read_document(f"a: [[{inner}]]", "d.yaml")
    anchored = "\n".join(f"{name}: &{name} [{'[' * 60}{'*' + before if before else 1}{']' * 60}]"
                         for before, name in (("", "a"), ("a", "b")))  # fmt: skip
    with pytest.raises(UsageError, match=r"nested too deeply$"):
        _ = read_document(anchored, "d.yaml").value


@pytest.mark.parametrize(
    ("text", "deeper"),
    [
        ("[[1], {}]", False),
        ("[[[1]]]", True),
        ("[[]" * 5, True),  # not JSON, and never closed
        ('["[[[[", "\\"[[["]', False),  # brackets of a text
        ('["[[[[', False),
        ("", False),
    ],
)
def test_the_depth_of_json_is_that_of_its_lists_and_objects_and_not_of_its_texts(
    text: str, deeper: bool
) -> None:
    assert is_deeper(text, 2) is deeper
