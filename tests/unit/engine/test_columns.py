"""A column gives its values one after another, and round again."""

import json

import pytest

import plimsoll_engine


def drawn(values: list[object], count: int) -> list[object]:
    value = json.dumps({"kind": "column", "values": values})
    return list(plimsoll_engine.sample(value, "[]", 1, count))


def test_whole_numbers_come_in_their_order_and_round_again() -> None:
    assert drawn([7, -3, 9], 7) == [7, -3, 9, 7, -3, 9, 7]


def test_a_list_with_a_text_is_of_texts() -> None:
    assert drawn([7, "x", ""], 4) == ["7", "x", "", "7"]


@pytest.mark.parametrize(("values", "problem"), [([], "needs values"), ([1.5], "whole numbers")])
def test_what_is_no_column_is_refused(values: list[object], problem: str) -> None:
    with pytest.raises(plimsoll_engine.EngineError, match=problem):
        drawn(values, 1)
