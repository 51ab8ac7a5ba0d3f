"""A Cassandra of several nodes: what each costs, and where there is none."""

import pytest

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.cassandra_target import CassandraTarget
from plimsoll.model.request import Request
from plimsoll.prices import builtin
from plimsoll.quoting.charges import target_charges
from plimsoll.quoting.possible import require_possible
from tests.support.requested import REQUESTED

ONE = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
}


def asked(**changes: object) -> CassandraTarget:
    return CassandraTarget.model_validate(ONE | changes)


def test_each_node_is_charged_for() -> None:
    one, three = target_charges(asked(), 7200), target_charges(asked(nodes=3), 7200)
    assert [charge.quantity for charge in three] == [3 * charge.quantity for charge in one]
    assert three[0].what == "3 x r5.large (Linux)"
    assert one[0].what == "r5.large (Linux)"


def test_rows_have_three_copies_where_there_are_as_many_nodes_unless_it_is_said() -> None:
    copies = [asked(nodes=nodes).copies for nodes in (1, 2, 3)]
    assert copies == [1, 2, 3]
    assert asked(nodes=3, replication=1).copies == 1


def test_a_target_says_its_nodes_and_copies() -> None:
    told = words.target(asked(nodes=3, replication=1))
    assert told.endswith("io1 100 GiB, 1,000 IOPS, 3 nodes with one copy of each row")
    assert "node" not in words.target(asked())


def test_aws_has_no_cluster() -> None:
    request = Request.model_validate(REQUESTED | {"target": ONE | {"nodes": 2}})
    why = r"target\.nodes: a Cassandra of several nodes is made on one machine only, not yet on AWS"
    with pytest.raises(UsageError, match=why):
        require_possible(request, builtin(), local=False)
    require_possible(request, builtin(), local=True)
