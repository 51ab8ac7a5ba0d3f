import datetime as dt
import json
from typing import Any

import pytest

from plimsoll.local.aws.deliveries import target_input
from plimsoll.local.aws.schedules import next_firing

EVENT = {"id": "1", "detail": {"name": 'run "7"', "status": "ABORTED", "stopDate": 12}}
PATHS = {"run": "$.detail.name", "at": "$.detail.stopDate"}


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ({}, EVENT),
        ({"Input": '{"a": 1}'}, {"a": 1}),
        ({"InputPath": "$.detail.status"}, "ABORTED"),
        (
            {
                "InputTransformer": {
                    "InputPathsMap": PATHS,
                    "InputTemplate": '{"run_id": <run>, "at": <at>, "quoted": "<run>"}',
                }
            },
            {"run_id": 'run "7"', "at": 12, "quoted": 'run "7"'},
        ),
    ],
)
def test_an_event_becomes_a_targets_input(target: dict[str, Any], body: Any) -> None:
    assert json.loads(target_input(target, EVENT)) == body


MADE = dt.datetime(2026, 11, 21, 9, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("expression", "due"),
    [
        ("at(2026-11-21T10:30:05)", MADE.replace(hour=10, minute=30, second=5)),
        ("rate(15 minutes)", MADE.replace(minute=15)),
        ("rate(1 hour)", MADE.replace(hour=10)),
    ],
)
def test_a_schedule_tells_when_it_fires(expression: str, due: dt.datetime) -> None:
    assert next_firing(expression, MADE) == due


def test_a_kind_of_schedule_that_does_not_fire_here_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"cron\(0 8 \* \* \? \*\) is not carried out here"):
        next_firing("cron(0 8 * * ? *)", MADE)
