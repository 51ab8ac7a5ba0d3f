"""Complaints about a value: how many there are, and how long, whatever somebody else wrote."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model import validation
from plimsoll.model.request.request import Request
from plimsoll.model.schema import Spot, find_spot
from plimsoll.model.validation import COMPLAINTS_MOST, validate
from tests.support.requested import REQUESTED


def refuse(value: dict[str, Any]) -> UsageError:
    with pytest.raises(UsageError) as error:
        validate(Request, value)
    return error.value


@pytest.mark.parametrize(
    "wrong",
    [
        {f"x{number}": 1 for number in range(5_000)},
        {"phases": [{"a": 1}] * 5_000},
        {"expect": ["x"] * 5_000},
    ],
    ids=["fields", "phases", "rules"],
)
def test_of_thousands_of_wrong_fields_the_first_are_named_and_the_others_are_counted(
    wrong: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    described: list[Any] = []

    def note(*of: Any) -> Spot:
        described.append(of)
        return find_spot(*of)

    monkeypatch.setattr(validation, "find_spot", note)
    *named, last = refuse({**REQUESTED, **wrong}).complaints
    assert len(named) == COMPLAINTS_MOST
    assert all(complaint.path for complaint in named)
    assert "more fields are wrong" in str(last)
    assert len(described) <= COMPLAINTS_MOST + 1


@pytest.mark.parametrize(
    "wrong", [{"name": "x" * 5_000}, {"limits": "x" * 5_000}, {"tags": 10**400}]
)
def test_a_long_value_is_repeated_in_part(wrong: dict[str, Any]) -> None:
    for complaint in refuse({**REQUESTED, **wrong}).complaints:
        assert len(str(complaint)) < 1_000
