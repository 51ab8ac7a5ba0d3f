"""A request whose clients would wait for one another until their time is up is refused."""

import pytest
from pydantic import ValidationError

from plimsoll.model.request.request import Request
from tests.support.requested import REQUESTED


def requested(clients: int, duration_s: float) -> Request:
    search = {"strategy": "steps", "clients": [1, clients]}
    load = {"warmup_s": 160, "duration_s": duration_s}
    changes = {"search": search, "load": load, "time_limit_s": 7200}
    return Request.model_validate({**REQUESTED, **changes})


def test_thousands_of_clients_leave_less_time_to_the_load() -> None:
    requested(10_000, 600)
    requested(5_000, 600)
    load = {"warmup_s": 161, "duration_s": 600}
    with pytest.raises(
        ValidationError,
        match=r"the first of up to 10,000 clients waits 120 s for the last, which leaves 760 s",
    ):
        Request.model_validate(
            {**REQUESTED, "load": load, "search": {"strategy": "steps", "clients": [10_000]}}
        )
