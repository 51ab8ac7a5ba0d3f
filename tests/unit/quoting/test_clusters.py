"""A Cassandra of several nodes: what each costs, how long it takes, and how many there may be."""

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.phases import passes
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import QuotePhase
from plimsoll.quoting.budget import divide_budget
from plimsoll.quoting.charges import list_target_charges
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import BETWEEN_ZONES, require_possible
from plimsoll.quoting.times import estimate_pass_s
from plimsoll.requests.checked_request import check_request
from tests.support.requested import REQUESTED, quote_request

ONE = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
}


def asked(**changes: object) -> CassandraTarget:
    return CassandraTarget.model_validate(ONE | changes)


def test_each_node_is_charged_for() -> None:
    one, three = list_target_charges(asked(), 7200), list_target_charges(asked(nodes=3), 7200)
    assert [charge.quantity for charge in three] == [3 * charge.quantity for charge in one]
    assert three[0].what == "3 x r5.large (Linux)"
    assert one[0].what == "r5.large (Linux)"


def test_rows_have_three_copies_where_there_are_as_many_nodes_unless_it_is_said() -> None:
    copies = [asked(nodes=nodes).copies for nodes in (1, 2, 3)]
    assert copies == [1, 2, 3]
    assert asked(nodes=3, replication=1).copies == 1


def test_a_target_says_its_nodes_and_copies() -> None:
    told = describe_target(asked(nodes=3, replication=1))
    assert told.endswith("io1 100 GiB, 1,000 IOPS, 3 nodes with one copy of each row")
    assert "node" not in describe_target(asked())


def requested(**changes: object) -> Request:
    return Request.model_validate(REQUESTED | {"target": ONE | changes})


def test_one_machine_has_room_for_three_and_aws_for_twelve() -> None:
    require_possible(check_request(requested(nodes=3)), read_builtin_prices(), local=True)
    require_possible(check_request(requested(nodes=12)), read_builtin_prices(), local=False)
    why = r"target\.nodes: one machine has no room for .* of so many nodes \(allowed: 1 to 3\)"
    with pytest.raises(UsageError, match=why):
        require_possible(check_request(requested(nodes=4)), read_builtin_prices(), local=True)


def phases(**changes: object) -> dict[str, QuotePhase]:
    return {phase.name: phase for phase in quote_request(requested(**changes)).phases}


def test_further_nodes_are_made_and_deleted_one_after_the_other() -> None:
    one, twelve = phases(), phases(nodes=12)
    made, gone = twelve["provision"], twelve["teardown"]
    assert (made.expected_s, made.most_s) == (600 + 11 * 180, 1800 + 11 * 600)
    assert (gone.expected_s, gone.most_s) == (300 + 11 * 60, 900 + 11 * 180)
    assert made.assumption == (
        f"{one['provision'].assumption}; 11 further nodes, one after the other: 3 minutes, 10 at"
        " most each"
    )
    assert "further" not in one["provision"].assumption


@pytest.mark.parametrize(("nodes", "kept_s"), [(1, 900), (3, 900 + 2 * 180)])
def test_as_long_as_its_deletion_may_take_is_kept_of_a_budget(nodes: int, kept_s: int) -> None:
    asked = requested(nodes=nodes)
    asked = asked.model_copy(update={"budget_usd": 0.8, "time_limit_s": 86_400})
    quoted = quote_request(asked)
    held = divide_budget(asked, quoted)
    assert held is not None
    assert quoted.target_usd_per_hour is not None
    pays_for_s = (0.8 - float(held.fleet_usd)) / quoted.target_usd_per_hour * 3600
    assert pays_for_s - held.target_s == pytest.approx(kept_s, abs=1)


def test_a_quote_says_what_traffic_between_zones_costs() -> None:
    assert BETWEEN_ZONES in quote_request(requested(nodes=2)).notes
    assert BETWEEN_ZONES not in quote_request(requested()).notes


def test_more_volumes_take_the_rows_sooner_and_more_copies_later() -> None:
    one, three, copied = (
        phases(**asked)["prepare"].expected_s - 60
        for asked in ({}, {"nodes": 3, "replication": 1}, {"nodes": 3})
    )
    assert three == pytest.approx(one / 3)
    assert copied == pytest.approx(one)


def test_a_pass_writes_to_the_volumes_of_all_nodes() -> None:
    job = {"records": 600_000, "connections": [1], "repetitions": 1, "longest_s": 800}
    asked = {"phases": [{"name": "job", "to_completion": job}]}
    times = []
    for changes in ({}, {"nodes": 3, "replication": 1}, {"nodes": 3}):
        request = Request.model_validate(REQUESTED | asked | {"target": ONE | changes})
        (one,) = passes(request.phases)
        times.append(estimate_pass_s(request, one))
    assert times == [600, 200, 600]  # 1,000 I/Os a second each; three copies of each row
