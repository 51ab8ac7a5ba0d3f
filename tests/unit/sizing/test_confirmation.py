"""The run that confirms a prediction: where its search begins, and how far it may go."""

from typing import Any

import pytest

from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.request.request import Request
from plimsoll.sizing.confirmation import write_confirming_request
from plimsoll.sizing.predict import Bound, Prediction
from tests.support.requested import REQUESTED

FOUND = Prediction(
    ops_per_second=3000,
    low=2000,
    high=6000,
    binds=Bound(resource="storage_iops", ops_per_second=6000),
    next=None,
    load=32,
    least_load=6,
)


@pytest.mark.parametrize(
    ("search", "begins"),
    [
        ({"strategy": "ramp"}, {"connections_first": 3, "connections_max": 512}),
        (
            {"strategy": "ramp", "connections_first": 4, "connections_max": 256},
            {"connections_first": 4, "connections_max": 256},
        ),
        (
            {"strategy": "rate", "rate_first_ops_per_second": 10, "rate_max_ops_per_second": 100},
            {"rate_first_ops_per_second": 1000, "rate_max_ops_per_second": 12_000},
        ),
        (
            {"strategy": "steps", "clients": [1], "connections_per_client": 8},
            {"clients": [1, 2, 3, 4, 5, 6, 8]},
        ),
    ],
)
def test_it_begins_below_the_least_that_may_be_the_limit(
    search: dict[str, Any], begins: dict[str, Any]
) -> None:
    """At half of the likeliest, 16 connections, a target whose limit is 6 fails all its repetitions
    before a lighter load is tried.
    """
    asked = Request.model_validate({**REQUESTED, "search": search})
    assert isinstance(asked.target, RdsTarget)
    made = write_confirming_request(
        asked, asked.target, FOUND, name="confirm", statistic="p99", limits_us={"read": 20_000}
    )
    assert begins.items() <= made.search.model_dump(mode="json").items()
