"""Expressions: how they are read, what they are refused for, and what the engine computes."""

import json
from typing import Any

import pytest

import plimsoll_engine
from plimsoll.errors import WorkloadError
from plimsoll.model.engine.values import ExpressionValue
from plimsoll.workload.expressions import read_expression


def compute(text: object) -> Any:
    """The value that the engine computes."""
    value = ExpressionValue(of=read_expression(text, {}, row=False))
    return plimsoll_engine.sample(value.model_dump_json(), "[]", 1, 1)[0]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2 - -7 / 2", 7),
        ("-7 % 3", 2),
        ("5 / 0", 0),
        ("1 < 2 and not 2 <= 1 or 0", 1),
        ("3 > 2 = 1", None),
        ("3 >= 3", 1),
        ("1 <> 1", 0),
        ("if(1 = 1, 10, 20)", 10),
        ("bit(5, 3)", 1),
        ("bits(3, 1)", 7),
        ("random(4, 4)", 4),
        (12, 12),
    ],
)
def test_an_expression_has_the_value_that_arithmetic_gives_it(text: object, value: object) -> None:
    if value is None:
        with pytest.raises(WorkloadError, match="after its end"):
            compute(text)
    else:
        assert compute(text) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "must be an expression"),
        ("1 +", "where a value should be"),
        ("(1", r"where \) should be"),
        ("nosuch + 1", "nosuch"),
        ("nosuch(1)", "nosuch"),
        ("random(1)", "random takes 2 values, not 1"),
        ("name + 1", "computes with none"),
        ("name", "computes with none"),
        ("name < 'a'", "compares a text"),
        ("number = 'a'", "compares a text with a text"),
        ("name = name", "a text in quotes"),
        ("1 is null", "between a variable and null"),
        ("row + 1", "row"),
        ("1 ; 2", "cannot be read from"),
        ("(" * 50 + "1" + ")" * 50, "within each other"),
    ],
)
def test_what_is_no_expression_is_refused_with_the_reason(text: str, problem: str) -> None:
    with pytest.raises(WorkloadError, match=problem):
        read_expression(text, {"name": False, "number": True}, row=False)


def test_texts_are_compared_and_nulls_are_found() -> None:
    read = read_expression(
        "name <> 'BC' and number is not null", {"name": False, "number": True}, row=False
    )
    written = json.dumps(read.model_dump(mode="json"))
    assert written.count('"not"') == 2
    assert '"is_null"' in written
