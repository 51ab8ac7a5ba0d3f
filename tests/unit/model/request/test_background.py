"""A background's schedule runs on the clock of each step, and every window meets it."""

from typing import Any

import pytest

from plimsoll.complaints import Complaint
from plimsoll.errors import UsageError
from plimsoll.model.request.background import Background
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from tests.support.requested import REQUESTED

SCAN = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 5000}}


def background(**changes: Any) -> Background:
    return Background.model_validate({**SCAN, **changes})


def request(*backgrounds: dict[str, Any], **changes: Any) -> dict[str, Any]:
    load = {"warmup_s": 10, "duration_s": 60}
    return {**REQUESTED, "load": load, "background": list(backgrounds), **changes}


@pytest.mark.parametrize(
    ("schedule", "spans"),
    [
        ({}, ((0, 70),)),
        ({"every_s": 30, "for_s": 10}, ((0, 10), (30, 40), (60, 70))),
        ({"every_s": 60, "for_s": 20}, ((0, 20), (60, 70))),  # the step ends meanwhile
        ({"every_s": 23, "for_s": 3}, ((0, 3), (23, 26), (46, 49), (69, 70))),
        ({"at_s": 40, "for_s": 5}, ((40, 45),)),
        ({"at_s": 40, "for_s": 500}, ((40, 70),)),
    ],
)
def test_its_spans_lie_within_the_step(
    schedule: dict[str, int], spans: tuple[tuple[float, float], ...]
) -> None:
    assert background(**schedule).spans(70) == spans


def test_a_rest_under_a_second_is_left_out() -> None:
    assert background(every_s=30, for_s=10).spans(60.5) == ((0, 10), (30, 40))


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"every_s": 30}, "for_s", "is needed with every_s"),
    ({"at_s": 3}, "for_s", "is needed with at_s"),
    ({"for_s": 3}, "for_s", "needs every_s or at_s"),
    ({"every_s": 30, "at_s": 3, "for_s": 3}, "at_s", "does not go with every_s"),
    ({"every_s": 30, "for_s": 30}, "for_s", "less than every_s = 30"),
    ({"every_s": 61, "for_s": 3}, "every_s", "holds no whole period"),
    ({"at_s": 70, "for_s": 3}, "at_s", "lies outside the window"),
    ({"at_s": 0, "for_s": 10}, "at_s", "lies outside the window"),  # all of it in the warm-up
    ({"tables": "others"}, "tables", "own"),
    ({"clients": 0}, "clients", "1"),
    ({"rate_ops_per_second": 0}, "rate_ops_per_second", "0"),
]


@pytest.mark.parametrize(("changes", "field", "problem"), WRONG)
def test_what_cannot_be_is_refused_by_its_field(
    changes: dict[str, Any], field: str, problem: str
) -> None:
    with pytest.raises(UsageError) as refused:
        validate(Request, request({**SCAN, **changes}))
    (complaint,) = refused.value.complaints
    assert complaint.path == ("background", 0, field)
    assert problem in str(complaint)


def test_two_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError) as refused:
        validate(Request, request(SCAN, SCAN))
    (complaint,) = refused.value.complaints
    assert isinstance(complaint, Complaint)
    assert complaint.path == ("background", 1, "name")


def test_a_request_counts_its_clients_and_pairs() -> None:
    asked = Request.model_validate(request({**SCAN, "clients": 3}, {**SCAN, "name": "other"}))
    assert (asked.clients_beside, asked.steps_beside) == (4, 8)
    assert Request.model_validate(REQUESTED).steps_beside == 0
