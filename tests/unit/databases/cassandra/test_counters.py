"""What is read of a Cassandra node's counters: growth, restarts, and what it has to work off."""

import pytest

from plimsoll.databases import cassandra
from plimsoll.databases.cassandra.counters import COMPACTIONS, EXECUTED, GENERATION
from plimsoll.model.run.fleet import ServerCounters

IDLE = {
    EXECUTED: 1000,
    "coordinator_reads": 700,
    "requests_waiting": 1,  # the one that asks
    "reads_waiting": 0,
    "mutations_waiting": 0,
    "flushes_waiting": 0,
    "compaction_tasks_waiting": 0,
    COMPACTIONS: 0,
    GENERATION: 1_795_269_722,
}


def counters(epoch_ms: int = 0, **changes: int) -> ServerCounters:
    return ServerCounters(epoch_ms=epoch_ms, values=IDLE | changes, family="cql")


def test_what_a_node_did_is_the_growth_of_its_counters() -> None:
    after = counters(2500, prepared_statements_executed=1600, coordinator_reads=1100)
    figures = cassandra.server_figures(counters(), after, statements_by_clients=601)
    assert figures.interval_s == 2.5
    assert (figures.statements_by_server, figures.statements_by_clients) == (600, 601)
    assert figures.counters["coordinator_reads"] == 400
    assert not figures.restarted
    assert GENERATION not in figures.counters
    assert figures.gauges["requests_waiting"] == 1
    assert figures.buffer_pool_miss_share is None  # it has no buffer pool


def test_a_restarted_node_counts_from_nothing_and_no_statements_are_compared() -> None:
    after = counters(1000, prepared_statements_executed=40, gossip_generation=1_795_269_800)
    figures = cassandra.server_figures(counters(), after, statements_by_clients=500)
    assert figures.restarted
    assert figures.counters[EXECUTED] == 40
    assert figures.statements_by_clients is None


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({}, None),
        ({"requests_waiting": 3}, None),
        ({"requests_waiting": 128}, "128 requests are still running"),
        ({"reads_waiting": 40}, "40 requests"),
        ({"flushes_waiting": 2}, "2 memtables are still being flushed"),
        ({"compaction_tasks_waiting": 1}, "1 compactions are still waiting"),
        ({"compactions": 1}, "1 compactions are still running"),
    ],
)
def test_what_a_node_has_to_work_off(changes: dict[str, int], left: str | None) -> None:
    unfinished = cassandra.find_unfinished_work(counters(**changes))
    assert unfinished is None if left is None else left in str(unfinished)


def test_its_counters_tell_of_its_limits() -> None:
    after = counters(requests_blocked=1234, flushes_waiting=2, reads_waiting=40)
    figures = cassandra.server_figures(counters(), after, statements_by_clients=None)
    assert cassandra.signs_of_limits(figures) == [
        "1,234 requests that found all of the server's threads busy",
        "2 memtables were being flushed at its end",
    ]
