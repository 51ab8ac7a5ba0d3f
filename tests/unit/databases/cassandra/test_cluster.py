"""The counters of a cluster's nodes are one server's."""

from plimsoll.databases import cassandra
from plimsoll.databases.cassandra.counters import EXECUTED, GENERATION
from plimsoll.databases.cassandra.session import combine_counters
from tests.unit.databases.cassandra.test_counters import counters


def test_counts_are_added_up_and_of_what_is_so_at_a_moment_the_highest_counts() -> None:
    all_of_them = combine_counters([counters(), counters(requests_waiting=9), counters()])
    assert all_of_them.values[EXECUTED] == 3000
    assert all_of_them.values["requests_waiting"] == 9
    left = cassandra.find_unfinished_work(all_of_them)
    assert left is not None
    assert left.what == "9 requests are still running"
    assert cassandra.find_unfinished_work(combine_counters([counters()] * 3)) is None


def test_a_new_start_of_any_node_is_seen() -> None:
    before = combine_counters([counters(), counters()])
    after = combine_counters(
        [counters(), counters(gossip_generation=counters().values[GENERATION] + 60)]
    )
    assert cassandra.server_figures(before, after, statements_by_clients=None).restarted
    again = combine_counters([counters(), counters()])
    assert not cassandra.server_figures(before, again, statements_by_clients=None).restarted
