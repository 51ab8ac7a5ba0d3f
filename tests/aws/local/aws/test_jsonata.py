import re
from typing import Any

import pytest

from plimsoll.local.aws.corrections.jsonata import QueryError, evaluate

STATES = {
    "states": {
        "input": {"text": 'a"b\n', "none": None, "list": [{"n": 1}, {"n": 2}], "one": [{"n": 1}]},
    },
    "count": 3,
    "nothing": None,
}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("$states.input.text & 'c'", 'a"b\nc'),
        ("$states.input.none = null", True),
        ("$nothing", None),
        ("[1, null]", [1, None]),
        ("{'a': $count + 1, 'b': null}", {"a": 4, "b": None}),
        ("$states.input.list[n = 2].n", 2),
        ("$states.input.one", [{"n": 1}]),
        ("[$states.input.list[$.n != 1]]", [{"n": 2}]),
        ("[0..$count - 1]", [0, 1, 2]),
        ("$map([1..2], function($v) { $v * $count })", [3, 6]),
        ("($x := 5; $x)", 5),
        ("$exists($states.input.no)", False),
        ("4 / 2", 2),
        # the functions that Step Functions adds
        ("$partition([1, 2, 3], 2)", [[1, 2], [3]]),
        ("$range(0, 10, 5)", [0, 5, 10]),
        ("$parse('{\"a\": 1}')", {"a": 1}),
        ("$hash('abc', 'SHA-256') ~> $substring(0, 8)", "ba7816bf"),
        ("$random(7) = $random(7)", True),
        ("$length($uuid())", 36),
    ],
)
def test_gives_what_step_functions_gives(expression: str, value: Any) -> None:
    assert evaluate(expression, STATES) == value


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("$states.input.no", "returned nothing (undefined)"),
        ("$missing", "$missing is not defined"),
        ("{'a': $missing}", "$missing is not defined"),
        ("$exists($missing)", "$missing is not defined"),
        ("$nofunction(1)", "$nofunction is not defined"),
        ("$eval('1')", "$eval is not defined"),
        ("'a' + 1", "failed"),
        ("$sum", "unsupported result type"),
        ("($f := function($n) { $f($n + 1) + 1 }; $f(1))", "failed"),
    ],
)
def test_a_fault_is_an_error_wherever_it_stands(expression: str, told: str) -> None:
    with pytest.raises(QueryError, match=re.escape(told)):
        evaluate(expression, STATES)
