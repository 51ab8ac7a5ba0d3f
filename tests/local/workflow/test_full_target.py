"""A target that refuses connections has failed the step; the run goes on to its answer."""

from typing import Any, get_args

import pytest

from plimsoll.model.judging.capacity import AuditName
from plimsoll.model.run.results import RunResult
from tests.local.workflow.conftest import ANSWERED, Bench, tiny

SLOW_IS_FINE: dict[str, Any] = {
    **ANSWERED,
    # too few clients would not fill the server
    "limits__audits_off": sorted(set(get_args(AuditName)) - {"clients_ran"}),
    "limits__confirmation": None,
    "limits__limits_us": {"read": 2e7},
}


def searched(bench: Bench, name: str, clients: list[int]) -> RunResult:
    """Search with four connections for each client on a server that takes ten in all."""
    request = tiny(
        name,
        target__parameters={"max_connections": 10},
        workload__name="ycsb-c",  # seconds of writes may be what a log lends
        search={"strategy": "steps", "clients": clients, "connections_per_client": 4},
        **SLOW_IS_FINE,
    )
    _, result = bench.succeed(bench.start(request))
    assert result.capacity is not None
    assert result.capacity.cause == "connections"
    assert result.limiting is not None
    assert (result.limiting.resource, result.limiting.reached) == ("connections", True)
    assert "Too many connections" in result.limiting.evidence[0]
    assert result.limiting.to_change is not None
    assert "max_connections above 10" in result.limiting.to_change
    return result


def test_a_load_that_is_refused_is_the_end_of_the_climb(bench: Bench) -> None:
    result = searched(bench, "full", [1, 6])
    assert result.capacity is not None
    assert (result.capacity.verdict, result.capacity.bracket) == ("KNEE", (1, 6))


@pytest.mark.whole  # one load further, it is the knee
def test_where_the_lightest_load_is_refused_there_is_no_figure(bench: Bench) -> None:
    result = searched(bench, "fuller", [6])
    assert result.capacity is not None
    assert result.capacity.verdict == "BELOW_FIRST_STEP"
    assert result.capacity.max_sustainable_throughput_ops_per_second is None
