"""pgbench's expressions: each has the value that pgbench gives it, or is refused with the reason.

The tables hold what PostgreSQL's own tests of pgbench hold
(src/bin/pgbench/t/001_pgbench_with_server.pl), and what pgbench 15 said of further expressions.
"""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plimsoll_engine
from plimsoll.errors import WorkloadError
from plimsoll.workload.pgbench.formulas import read_formula
from plimsoll_engine import EngineError

Scalar = bool | int | float | None

LOWEST, HIGHEST = -(2**63), 2**63 - 1
GIVEN = {
    "foo": "-10.1",
    "i": "+3",
    "n": "null",
    "t": "t",
    "f": "of",
    "d": "1.0",
    "bla": "bla",
    "badtrue": "trueXXX",
    "empty": "",
    "huge": "9223372036854775808",
    "default_seed": "777",
    "min": str(LOWEST),
    "max": str(HIGHEST),
}


def draw(expression: str, count: int, **variables: str) -> list[Scalar]:
    """Return what the engine computes, again and again."""
    starts = [
        {"name": name, "starts": {"kind": "text", "value": value}}
        for name, value in {**GIVEN, **variables}.items()
    ]
    formula = read_formula(expression).model_dump_json()
    return list(plimsoll_engine.compute(formula, json.dumps(starts), 1, count))


def compute(expression: str, **variables: str) -> Scalar:
    (value,) = draw(expression, 1, **variables)
    return value


VALUES: list[tuple[str, Scalar]] = [
    # whole numbers
    ("abs(-4)", 4),
    ("greatest(5, 4, 3, 2)", 5),
    ("11 + least(-5, -4, -3, -2)", 6),
    ("int(7.3)", 7),
    ("17 / (4|1) + ( 4 + (7 >> 2))", 8),
    ("- (3 * 4 - (-(~ 1) + -(~ 0))) / -1 + 3 % -1", 9),
    ("10 + (0 + 0 * 0 - 0 / 1)", 10),
    ("64 % (((2 + 1 * 2 + (1 # 2) | 4 * (2 & 11)) - (1 << 2)) + 2)", 12),
    ("10 + mod(13 * 7 + 12, 13) - mod(-19 * 11 - 17, 19)", 39),
    ("-9223372036854775808", LOWEST),
    ("-(:min + 1)", HIGHEST),
    ("-7 / 2", -3),
    ("-7 % 3", -1),
    (":min % -1", 0),
    ("int(2.5)", 2),
    ("int(3.5)", 4),
    ("1 << 65", 2),
    ("-1 >> 3", -1),
    # doubles
    ("sqrt(+1.5 * 2.0) * abs(-0.8E1)", math.sqrt(3.0) * 8),
    ("double(1 + 1) * (-75.0 / :foo)", 2 * (-75 / -10.1)),
    ("pi() * 4.9", math.pi * 4.9),
    ("greatest(4, 2, -1.17) * 4.0 * Ln(Exp(1.0))", 16.0),
    ("least(-5.18, .0E0, 1.0/0) * -3.3", -5.18 * -3.3),
    ("pow(-3,3)", -27.0),
    ("pow(2.0,10)", 1024.0),
    ("pow(0,0)", 1.0),
    ("pow(-2,-3)", -0.125),
    ("power(-5.0,-5.0)", -0.00032),
    ("pow(9223372036854775807, 2)", 8.507059173023462e37),
    ("pow(10,30)", 1e30),
    ("1.0 / 0", math.inf),
    ("least(3, 2.5)", 2.5),
    # what binds how tightly
    ("~ 1 + 2", -4),
    ("2 * ~ 1 + 3", -10),
    ("1 | 2 + 3 * 4", 15),
    ("10 % 4 * 3", 6),
    ("2 + 3 < 4 | 8", True),
    ("- - 3", 3),
    ("1 - -1", 2),
    ("not 1 = 2", True),
    ("1 = 1 is true", True),
    ("1 is null is null", False),
    # conditions
    ("1.0 = 0.0 and 1.0 != 0.0", False),
    ("0 = 1 Or 1.0 = 1", True),
    ("case when 0 < 1 then 32 else 0 end", 32),
    ("case when false THEN -1 when 1 = 1 then 13 + 19 + 2.0 end ", 34.0),
    ("case when (1 > 0) and (1 >= 0) and (0 <> 1) then 35 else 0 end", 35),
    ("CASE \\\n WHEN (1.0 > 0.0) AND (0.0 <= 1.0) \\\n THEN 36 ELSE 0 END", 36),
    ("case when false then 0 when 1-1 <> 0 then 1 else 38 end", 38),
    ("NOT (0 > 1) AND NOT (false and true) AND (false OR TRUE) AND (NOT :f)", True),
    # null
    ("NULL + NULL * exp(NULL)", None),
    ("NOT (:n IS NOT NULL OR :f IS NULL)", True),
    (":n IS NULL AND :f IS NOT NULL AND :f NOTNULL", True),
    (":n ISNULL AND NOT :n IS TRUE AND :n IS NOT FALSE", True),
    ("CASE WHEN :n IS NULL THEN 46 ELSE NULL END", 46),
    ("CASE WHEN 1 THEN TRUE END AND CASE WHEN :n THEN NULL ELSE TRUE END", True),
    ("true and null", None),
    ("false and null", False),
    ("null and false", None),
    ("null or true", None),
    # variables
    (":i", 3),
    (":d", 1.0),
    (":foo", -10.1),
    ("not :t", False),
    # hashes and permutations
    ("hash(10, 5432)", -5817877081768721676),
    ("hash(10, 5432) = hash_murmur2(10, 5432)", True),
    ("hash_fnv1a(10, 5432)", -7793829335365542153),
    ("hash(10) = hash(10, :default_seed)", True),
    ("permute(0, 2, 5431) * 10 + permute(1, 2, 5431)", 1),
    ("permute(0, 2, 5433) * 10 + permute(1, 2, 5433)", 10),
    ("permute(5, 1)", 0),
    ("permute(:max - 11, :max - 10, 5432)", 520382784483822430),
    ("permute(:max - 12, :max - 10, 5432)", 1143715004660802862),
    ("permute(:max - 13, :max - 10, 5432)", 447293596416496998),
    ("permute(:max - 14, :max - 10, 5432)", 916527772266572956),
    ("permute(:max - 15, :max - 10, 5432)", 2763809008686028849),
    ("permute(:max - 16, :max - 10, 5432)", 8648551549198294572),
    ("permute(:max - 17, :max - 10, 5432)", 4542876852200565125),
    # no more than is needed
    ("case when :i = 3 then -1 else (1 / 0) end", -1),
    ("case when :i = 3 or (1 / 0) < 0 then -1 else (1 / 0) end", -1),
    ("case when :i > 3 and (1 / 0) < 0 then (1 / 0) else 1 end", 1),
    # a load does not print
    ("debug(7)", 7),
]


@pytest.mark.parametrize(("expression", "value"), VALUES)
def test_an_expression_has_pgbenchs_value(expression: str, value: Scalar) -> None:
    computed = compute(expression)
    assert type(computed) is type(value)
    assert computed == (pytest.approx(value, rel=1e-15) if isinstance(value, float) else value)


MISTAKES = [
    ("1/0", "division by zero"),
    ("5 % 0", "division by zero"),
    ("random(5, 3)", "empty range given to random"),
    ("random(:min, :max)", "random range is too large"),
    ("random_gaussian(0, 10, 1.0)", "gaussian parameter must be at least 2 (not 1)"),
    ("random_exponential(0, 10, 0.0)", "exponential parameter must be greater than zero"),
    ("random_zipfian(0, 10, 1)", "zipfian parameter must be in range [1.001, 1000] (not 1)"),
    ("random_zipfian(0, 10, 1000000)", "zipfian parameter must be in range"),
    (":bla + 1", 'malformed variable "bla" value: "bla"'),
    (":badtrue or true", 'malformed variable "badtrue" value: "trueXXX"'),
    (":empty + 1", "malformed"),
    (":huge + 1", "malformed"),
    ("NOT 0.0", "cannot coerce double to boolean"),
    ("TRUE + 2", "cannot coerce boolean to int"),
    ("ln(TRUE)", "cannot coerce boolean to double"),
    ("random(FALSE, TRUE)", "cannot coerce boolean to int"),
    ("int(1E32)", "double to int overflow for 100000000000000"),
    ("(1<<62) + (1<<62)", "bigint add out of range"),
    ("0 - (1<<62) - (1<<62) - (1<<62)", "bigint sub out of range"),
    ("2 * (1<<62)", "bigint mul out of range"),
    (":min / -1", "bigint div out of range"),
    ("permute(0, 0)", "permute size parameter must be greater than zero"),
]


@pytest.mark.parametrize(("expression", "problem"), MISTAKES)
def test_what_has_no_value_is_refused_with_pgbenchs_reason(expression: str, problem: str) -> None:
    with pytest.raises(EngineError) as refused:
        compute(expression)
    assert problem in str(refused.value)


REFUSED = [
    ("1 +", "has 'its end' where a value should be"),
    ("", "lacks an expression"),
    ("noSuchFunction()", "nosuchfunction is no function of pgbench"),
    (";", "has the unexpected character ';'"),
    ("least(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16)", "least takes 1 to 16 values, not 17"),
    ("CASE TRUE THEN 1 ELSE 0 END", "case: `when` is allowed after it"),
    ("ln(1.0, 2.0)", "ln takes 1 values, not 2"),
    ("greatest()", "greatest takes 1 to 16 values, not 0"),
    ("1 < 2 < 3", "cannot be read from '<' on"),
    ("9223372036854775808", "out of range"),
    ("5 - 9223372036854775808", "out of range"),
    ("1e999", "out of range of a double"),
    ("1 is 2", "null, true or false is allowed after it"),
    ("then", "has 'then' where a value should be"),
    ("(" * 200, "has more than 100 parts within each other"),
]


@pytest.mark.parametrize(("expression", "problem"), REFUSED)
def test_what_is_no_expression_is_refused(expression: str, problem: str) -> None:
    with pytest.raises(WorkloadError) as refused:
        read_formula(expression)
    assert problem in str(refused.value)


def test_a_mistake_that_is_never_reached_does_no_harm() -> None:
    assert draw("case when random(1, 2) > 2 then 1/0 else 5 end", 10) == [5] * 10


@given(st.integers(LOWEST, HIGHEST), st.integers(LOWEST, HIGHEST))
def test_division_is_towards_zero_and_leaves_its_remainder(number: int, by: int) -> None:
    given_numbers = {"a": str(number), "b": str(by)}
    if by == 0 or (number == LOWEST and by == -1):
        with pytest.raises(EngineError):
            compute(":a / :b", **given_numbers)
        return
    quotient, rest = compute(":a / :b", **given_numbers), compute(":a % :b", **given_numbers)
    assert isinstance(quotient, int)
    assert isinstance(rest, int)
    assert quotient * by + rest == number
    assert abs(rest) < abs(by)
    assert rest == 0 or (rest < 0) == (number < 0)


@given(st.integers(1, 300), st.integers(LOWEST, HIGHEST))
def test_a_permutation_has_each_number_once(size: int, seed: int) -> None:
    places = [compute(f"permute({number}, {size}, :s)", s=str(seed)) for number in range(size)]
    assert sorted(places, key=str) == sorted(range(size), key=str)


DRAWS = 40_000


@pytest.mark.parametrize(
    ("expression", "mass"),
    [
        ("random(3, 12)", lambda _: 0.1),
        # the chance of each tenth of the range: the density's integral over it
        (
            "random_exponential(3, 12, 2.5)",
            lambda place: (
                (math.exp(-0.25 * place) - math.exp(-0.25 * (place + 1))) / (1 - math.exp(-2.5))
            ),
        ),
        (
            "random_gaussian(3, 12, 2.5)",
            lambda place: (
                (
                    math.erf((0.5 * (place + 1) - 2.5) / math.sqrt(2))
                    - math.erf((0.5 * place - 2.5) / math.sqrt(2))
                )
                / (2 * math.erf(2.5 / math.sqrt(2)))
            ),
        ),
        (
            "random_zipfian(3, 12, 1.3)",
            lambda place: (place + 1) ** -1.3 / sum(number**-1.3 for number in range(1, 11)),
        ),
    ],
)
def test_random_numbers_have_the_documented_distribution(expression: str, mass) -> None:  # type: ignore[no-untyped-def]
    drawn = np.array(draw(expression, DRAWS), dtype=np.int64)
    assert (drawn.min(), drawn.max()) == (3, 12)
    counts = np.bincount(drawn - 3, minlength=10)
    expected = np.array([mass(place) for place in range(10)]) * DRAWS
    assert expected.sum() == pytest.approx(DRAWS)
    # chi-squared with 9 degrees of freedom: above 27.9 once in a thousand
    assert ((counts - expected) ** 2 / expected).sum() < 27.9
