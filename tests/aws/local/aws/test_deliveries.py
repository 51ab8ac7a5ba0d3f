import json
from typing import Any

import pytest

from plimsoll.local.aws.deliveries import build_target_input

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
    assert json.loads(build_target_input(target, EVENT)) == body
