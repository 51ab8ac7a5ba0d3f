"""A workload that cannot be is refused with the file, the line and the field."""

import re
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.workload import WorkloadError, list_builtin_names, load_workload, parse_workload

GOOD = """\
about: a test
default_records: 100
parameters:
  width: {about: bytes, default: 20, range: [1, 50]}
  draw: {about: how, default: zipfian, kind: distribution}
  mode: {about: which, default: fast, words: [fast, slow]}
tables:
  item:
    rows: $records
    primary_key: [id]
    indexes: {by_name: [name]}
    columns:
      id: {type: bigint, value: row}
      name: {type: varchar(50), value: {text: $width}}
  part:
    copies: 3
    rows: $records * 2
    first: 1
    primary_key: [id]
    columns:
      id: {type: int, value: row}
operations:
  read:
    weight: 3
    let:
      which: {copy_of: part}
      n: {key: item, distribution: $draw}
      m: {sum: n, plus: 9}
    statements:
      - sql: SELECT * FROM {item} WHERE id BETWEEN ? AND ?
        binds: [n, m]
      - sql: SELECT '?' FROM {part} WHERE id = ?
        choose: which
        repeat: 2
        binds: [{key: part}]
  write:
    weight: 1
    transaction: true
    statements:
      - sql: INSERT INTO {item} (id, name) VALUES (?, ?)
        rows_per_statement: 2
        binds: [{next_key: item}, {text: 10}]
"""


def test_what_is_sound_is_taken() -> None:
    compiled = parse_workload(GOOD).compile(10, {"width": 7, "draw": "latest(constant=0.5)"})
    assert compiled.rows == 10 + 3 * 20
    assert [space.model_dump() for space in compiled.engine.key_spaces] == [
        {"name": "item", "first": 0, "records": 10, "insert_from": None},
        {"name": "part", "first": 1, "records": 20, "insert_from": None},
    ]
    read, write = compiled.engine.operations
    assert read.statements[1].sql == tuple(
        f"SELECT '?' FROM `part{n}` WHERE id = ?" for n in (1, 2, 3)
    )
    assert write.statements[0].sql == ("INSERT INTO `item` (id, name) VALUES (?, ?), (?, ?)",)
    assert compiled.tables[0].row[1].model_dump()["length"] == 7


# what is replaced, by what -> the line, and what the error says
FAULTS: list[tuple[str, str, int, str]] = [
    ("weight: 3", "wieght: 3", 24, "operations.read.wieght: unknown field 'wieght'; did you mean"),
    ("    weight: 3\n", "", 23, "operations.read: lacks the field 'weight'"),
    (
        "weight: 3",
        "weight: -1",
        24,
        "operations.read.weight: input should be greater than or equal to 0, not -1",
    ),
    (
        "weight: 3",
        "weight: heavy",
        24,
        "operations.read.weight: input should be a valid number, not 'heavy'",
    ),
    (
        "weight: 3",
        "weight: .nan",
        24,
        "operations.read.weight: input should be a finite number, not nan",
    ),
    ("binds: [n, m]", "binds: [n]", 30, "statements[0].sql: has 2 ? for 1 binds"),
    ("binds: [n, m]", "binds: [n, m, 1]", 30, "statements[0].sql: has 2 ? for 3 binds"),
    ("        binds: [n, m]\n", "", 30, "statements[0].sql: has 2 ? for 0 binds"),
    ("binds: [n, m]", "binds: [n, q]", 31, "binds[1]: unknown variable 'q'"),
    ("binds: [n, m]", "binds: [n, row]", 31, "binds[1]: unknown variable 'row'"),
    ("binds: [n, m]", "binds: [n, n]", 28, "operations.read.let.m: is used nowhere"),
    ("{key: part}", "{key: prat}", 35, "binds[0].key: unknown table 'prat'; did you mean 'part'?"),
    ("{next_key: item}", "{next_key: x}", 42, "binds[0].next_key: unknown table 'x'"),
    ("FROM {item}", "FROM {itme}", 30, "statements[0].sql: unknown table 'itme'"),
    ("distribution: $draw", "distribution: zipf", 27, "unknown distribution 'zipf'"),
    ("distribution: $draw", "distribution: zipfian(c=1)", 27, "unknown setting of zipfian 'c'"),
    (
        "distribution: $draw",
        "distribution: zipfian(constant=2)",
        27,
        "zipfian: constant: input should be less than 1, not",
    ),
    (
        "distribution: $draw",
        "distribution: hotspot(hot_set=x)",
        27,
        "hotspot: hot_set: input should be a valid number",
    ),
    ("distribution: $draw", "distribution: $drew", 27, "unknown parameter '$drew'"),
    ("default: zipfian", "default: nope", 5, "parameters.draw.default: unknown distribution"),
    ("default: 20", "default: 99", 4, "parameters.width.default: must be a whole number from 1"),
    ("{copy_of: part}", "{copy_of: item}", 26, "unknown table with copies 'item'"),
    ("choose: which", "choose: {text: 3}", 33, "choose: must be a whole number"),
    ("repeat: 2", "repeat: 0", 34, "repeat: input should be greater than or equal to 1, not 0"),
    ("{sum: n, plus: 9}", "{sum: {text: 3}}", 28, "let.m.sum: must be a whole number"),
    (
        "{sum: n, plus: 9}",
        "{sum: n, plus: 1.5}",
        28,
        "let.m.plus: input should be a valid integer, not 1.5",
    ),
    ("{sum: n, plus: 9}", "{integer: [5, 4]}", 28, "the lowest, 5, is above the highest, 4"),
    ("{sum: n, plus: 9}", "{integer: [1, 2, 3]}", 28, "must be [lowest, highest]"),
    ("{sum: n, plus: 9}", "{integer: [1, 2], distribution: latest}", 28, "latest is for keys"),
    ("{sum: n, plus: 9}", "{format: 'a{}b{}', of: [n]}", 28, "has 2 {} for 1 values"),
    (
        "{sum: n, plus: 9}",
        "{text: 9, alphabet: greek}",
        28,
        "input should be 'printable', 'alphanumeric' or 'digits', not 'greek'",
    ),
    ("{sum: n, plus: 9}", "{text: 9, key: item}", 28, "a value has exactly one of"),
    ("{sum: n, plus: 9}", "true", 28, "use 1 and 0"),
    ("{sum: n, plus: 9}", "99999999999999999999", 28, "does not fit 64 bits"),
    ("{text: $width}", "{text: 60}", 14, "60 bytes do not fit varchar(50)"),
    ("{text: $width}", "{key: item}", 14, "rows of a table can be drawn in operations only"),
    ("type: bigint", "type: bigin", 13, "columns.id.type: unknown type 'bigin'"),
    ("type: bigint", "type: int; DROP TABLE x", 13, "unknown type 'int; drop table x'"),
    ("primary_key: [id]", "primary_key: [di]", 10, "primary_key[0]: unknown column 'di'"),
    ("primary_key: [id]", "primary_key: []", 10, "primary_key: names no column"),
    ("{by_name: [name]}", "{by-name: [name]}", 11, "an index's name has letters"),
    (
        "rows: $records\n",
        "rows: many\n",
        9,
        "tables.item.rows: input should be a valid integer, not 'many'",
    ),
    ("rows: $records\n", "rows: $mode * 2\n", 9, "arithmetic needs a whole number"),
    ("rows: $records\n", "rows: $records / 0\n", 9, "divides by zero"),
    (
        "copies: 3",
        "copies: 0",
        16,
        "tables.part.copies: input should be greater than or equal to 1, not 0",
    ),
    (
        "  part:\n    copies: 3",
        "  part:\n    copies: 3\n    copies: 4",
        17,
        "copies: is given twice",
    ),
    ("  item:\n", "  it-em:\n", 8, "a name has letters, digits and _"),
    (
        "transaction: true",
        "transaction: yes please",
        38,
        "input should be a valid boolean, not 'yes please'",
    ),
    ("INSERT INTO {item}", "SELECT 1; INSERT INTO {item}", 40, "holds more than one statement"),
    ("VALUES (?, ?)", "SELECT ?, ?", 40, "needs a statement that ends in VALUES"),
    (
        "rows_per_statement: 2",
        "rows_per_statement: 0",
        41,
        "rows_per_statement: input should be greater than or equal to 1, not 0",
    ),
    ("rows_per_statement: 2", "one_of: {x: [a]}", 41, "{x} is not in the statement"),
    ("about: a test", "about: ''", 1, "about: must not be empty"),
    ("repeat: 2", "repeat: 100001", 34, "repeat: input should be less than or equal to 100000"),
    (
        "copies: 3",
        "copies: 1001",
        16,
        "copies: input should be less than or equal to 1000, not 1001",
    ),
    ("copies: 3", "copies: '3'", 16, "copies: input should be a valid integer, not '3'"),
    ("copies: 3", "copies:", 16, "tables.part.copies: must not be empty"),
    ("repeat: 2", "repeat: true", 34, "repeat: input should be a valid integer, not True"),
    ("range: [1, 50]", "range: [1, 50], words: [a]", 4, "needs one of 'range', 'words' and 'kind'"),
    (", range: [1, 50]", "", 4, "parameters.width: needs one of 'range', 'words' and 'kind'"),
    ("  width:", "  Width:", 4, "parameters.Width: a parameter's name is in lower case"),
    ("columns:\n      id:", "columns: 7\n    colums:\n      id:", 13, "unknown field 'colums'"),
    ("binds: [n, m]", "binds: {n: m}", 31, "statements[0].binds: must be a list"),
    ("about: a test", "about: [a", 2, "not YAML"),
    ("about: a test", "about: !!python/object:os.system x", 1, "about: must be a single value"),
]


@pytest.mark.parametrize(("old", "new", "line", "message"), FAULTS)
def test_a_fault_is_named_with_its_line(old: str, new: str, line: int, message: str) -> None:
    assert old in GOOD
    with pytest.raises(WorkloadError) as error:
        parse_workload(GOOD.replace(old, new, 1), source="my.yaml")
    text = str(error.value)
    assert message in text
    assert text.startswith(f"my.yaml:{line}: ")
    assert "\n" not in text


def test_weights_that_sum_to_nothing_are_refused() -> None:
    text = GOOD.replace("weight: 3", "weight: 0").replace("weight: 1", "weight: 0.0")
    with pytest.raises(WorkloadError, match="operations: the weights sum to nothing"):
        parse_workload(text)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"widht": 3}, "unknown parameter of workload 'widht'; did you mean 'width'?"),
        ({"width": 51}, "width: must be a whole number from 1 to 50, not 51"),
        ({"width": "x"}, "width: must be a whole number from 1 to 50, not 'x'"),
        ({"draw": "specail"}, "draw: unknown distribution 'specail'; did you mean 'special'?"),
        ({"mode": "slwo"}, "mode: unknown choice 'slwo'; did you mean 'slow'?"),
    ],
)
def test_parameters_are_checked(parameters: dict[str, str | int], message: str) -> None:
    with pytest.raises(WorkloadError, match=re.escape(message)):
        parse_workload(GOOD).compile(10, parameters)


@pytest.mark.parametrize("records", [0, -1, 10**13])
def test_the_number_of_records_is_checked(records: int) -> None:
    with pytest.raises(UsageError, match=r"records: must be from 1 to"):
        parse_workload(GOOD).compile(records)


def test_an_inline_workload_is_checked_as_strictly_and_names_the_field() -> None:
    document: dict[str, Any] = yaml.safe_load(GOOD)
    assert parse_workload(document).compile(10) == parse_workload(GOOD).compile(10)
    document["operations"]["read"]["wieght"] = 3
    with pytest.raises(WorkloadError, match=r"^request.workload: operations.read.wieght: unknown"):
        parse_workload(document, source="request.workload")


def test_aliases_that_expand_without_end_are_refused() -> None:
    lines = ["about: x", "default_records: 1", "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    bomb = GOOD.replace("rows: $records\n", "rows: *a8\n")
    text = "\n".join(lines[2:]) + "\n" + bomb
    with pytest.raises(WorkloadError, match=r"unknown field 'a0'|more than 50000 parts"):
        parse_workload(text)
    with pytest.raises(WorkloadError, match="more than 50000 parts"):
        parse_workload(
            GOOD.replace(
                "rows: $records\n",
                "rows: [&a0 [1,1,1,1,1,1,1,1,1,1], "
                + ", ".join(f"&a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 6))
                + "]\n",
            )
        )


def test_an_alias_to_itself_is_refused() -> None:
    with pytest.raises(WorkloadError, match=r"parts, aliases counted out|nested too deeply"):
        parse_workload(GOOD.replace("rows: $records\n", "rows: &a [*a]\n"))


def test_a_missing_file_and_an_unknown_name_are_one_line() -> None:
    with pytest.raises(UsageError, match=r"^/no/such.yaml: No such file"):
        load_workload("/no/such.yaml")
    with pytest.raises(UsageError, match=re.escape("'ycsb-aa'; did you mean 'ycsb-a'?")):
        load_workload("ycsb-aa")


def refusal(document: str | dict[str, Any]) -> str:
    """The line that a workload is refused with; empty if it is taken."""
    try:
        parse_workload(document, source="x.yaml")
    except UsageError as error:
        line = str(error)
    else:
        return ""
    assert line
    assert "\n" not in line
    return line


BUILTIN_TEXTS = [load_workload(name).text for name in list_builtin_names()]


@given(st.data())
def test_whatever_is_cut_or_changed_gives_a_workload_or_one_clear_line(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(BUILTIN_TEXTS))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 40)))
    text = text[:start] + data.draw(st.text(max_size=6)) + text[end:]
    line = refusal(text)
    assert not line or line.startswith(("x.yaml", "datasets/"))


GOOD_DOCUMENT: dict[str, Any] = yaml.safe_load(GOOD)
nodes = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["sql", "binds", "weight", "key", "text", "rows", "x"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(["about", "parameters", "tables", "operations", "default_records"]), nodes)
def test_any_value_anywhere_gives_a_workload_or_one_clear_line(field: str, value: object) -> None:
    refusal({**GOOD_DOCUMENT, field: value})
