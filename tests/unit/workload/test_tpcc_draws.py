"""What TPC-C's rows and keys are drawn from, by the engine's own draws."""

import json
from collections import Counter
from itertools import product

import pytest

import plimsoll_engine
from benchmarks.tpcc import compare_with_nurand, count_nurand_ways, draw_clauses, draw_numbers
from plimsoll.model.engine.values import IntegerValue, LastNameValue, LiteralValue, Nurand, Value
from plimsoll.workload import load_workload
from plimsoll.workload.values import Scope, read_value


def draw(value: Value, n: int) -> list[object]:
    return list(plimsoll_engine.sample(value.model_dump_json(), "[]", 11, n))


def test_a_hundred_thousand_transactions_are_what_the_standard_says() -> None:
    """Each share, mean and chi-square within five standard errors of the standard's."""
    found = {clause: away for clause, *_, away in draw_clauses(100_000)}
    assert len(found) == 9
    assert {clause: away for clause, away in found.items() if abs(away) >= 5} == {}


@pytest.mark.parametrize(("a", "low", "high", "c"), [(7, 0, 20, 3), (7, 1, 5, 0), (15, 3, 90, 11)])
def test_the_ways_of_nurand_are_those_of_clause_2_1_6(a: int, low: int, high: int, c: int) -> None:
    n = high - low + 1
    ways = Counter(
        ((one | other) + c) % n + low for one, other in product(range(a + 1), range(low, high + 1))
    )
    assert (
        count_nurand_ways(IntegerValue(low=low, high=high, distribution=Nurand(a=a, c=c))) == ways
    )


def test_a_constant_in_place_of_nurand_is_seen() -> None:
    uniform = IntegerValue(low=0, high=999)
    skewed = IntegerValue(low=0, high=999, distribution=Nurand(a=255, c=86))
    drawn = Counter(draw_numbers(uniform, 20_000, seed=1))
    chi_square, degrees = compare_with_nurand(skewed, drawn)
    assert chi_square > 10 * degrees


def test_last_names_are_made_of_three_syllables() -> None:
    names = [draw(LastNameValue(of=LiteralValue(value=n)), 1)[0] for n in (0, 371, 999)]
    assert names == ["BARBARBAR", "PRICALLYOUGHT", "EINGEINGEING"]


def test_texts_decimals_and_weights_have_their_ranges() -> None:
    scope = Scope()
    texts = draw(read_value({"text": [6, 10], "alphabet": "alphanumeric"}, scope), 2000)
    assert {len(str(text)) for text in texts} == {6, 7, 8, 9, 10}
    taxes = draw(read_value({"decimal": {"integer": [0, 2000]}, "scale": 4}, scope), 2000)
    assert all(0 <= float(str(tax)) <= 0.2 and len(str(tax)) == 6 for tax in taxes)
    weighted = read_value({"weighted": [[9, {"literal": "GC"}], [1, {"literal": "BC"}]]}, scope)
    bad = Counter(draw(weighted, 10_000))["BC"]
    assert abs(bad - 1000) < 5 * 30


def test_the_lines_of_the_first_orders_are_as_many_as_their_orders_say() -> None:
    """Two orders in a row have 20 lines: `order_line` numbers them as `orders` counts them."""
    tables = {table.name: table for table in load_workload("tpcc").compile(1).tables}

    def rows(name: str, column: str, first: int, n: int) -> list[int]:
        table = tables[name]
        value = table.row[table.columns.index(column)]
        text = json.dumps(value.model_dump(mode="json"))
        drawn = []
        for row in range(first, first + n):
            at = text.replace('{"kind": "row"}', json.dumps({"kind": "number", "value": row}))
            (number,) = plimsoll_engine.sample(at, "[]", 1, 1)
            drawn.append(int(number))
        return drawn

    counts = rows("orders", "o_ol_cnt", 0, 40)
    assert set(counts) <= set(range(5, 16))
    orders, numbers = rows("order_line", "ol_o_id", 0, 400), rows("order_line", "ol_number", 0, 400)
    assert Counter(orders) == dict(enumerate(counts, start=1))
    assert list(zip(orders, numbers, strict=True)) == [
        (order, line) for order, count in enumerate(counts, 1) for line in range(1, count + 1)
    ]
    customers = rows("orders", "o_c_id", 3000, 3000)
    assert sorted(customers) == list(range(1, 3001))
