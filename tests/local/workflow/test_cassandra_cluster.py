"""A run of three nodes on one machine: each has its share of operations, and nothing is left."""

import pytest

from plimsoll.model.run.results import RunResult
from tests.local.workflow.conftest import Bench, measured, tiny

pytestmark = pytest.mark.whole  # test_cassandra.py has a run of one node
CLUSTER = {
    "kind": "cassandra",
    "instance_type": "r5.large",
    "volume": {"type": "io1", "size_gib": 100, "iops": 2000},
    "nodes": 3,
}


@pytest.fixture(scope="module")
def finished(shared_bench: Bench) -> RunResult:
    request = tiny(
        "cluster",
        target=CLUSTER,
        workload={"name": "ycsb-read-50-update-50", "records": 300},
        search__connections_per_client=16,
        load__warmup_s=2,
        load__duration_s=6,
    )
    _, result = shared_bench.succeed(shared_bench.start(request))  # sees that nothing is left
    return result


def test_each_node_has_its_share_of_the_operations(finished: RunResult) -> None:
    step = measured(finished)[0]
    assert len(step.nodes) == 3
    total = sum(node.succeeded for node in step.nodes)
    assert total == sum(operation.succeeded for operation in step.operations.values())
    for node in step.nodes:
        assert node.ring_share == pytest.approx(1 / 3, abs=1e-6)
        # each row is on all nodes, asked for in turn; of few operations the share itself scatters
        scatter = 4 * (2 / 9 / total) ** 0.5
        assert node.succeeded / total == pytest.approx(1 / 3, abs=max(0.02 / 3, scatter))
        assert (node.taken_over, node.lost) == (0, 0)


def test_the_nodes_counted_what_the_clients_sent(finished: RunResult) -> None:
    server = measured(finished)[0].server
    assert server is not None
    assert server.statements_by_clients is not None
    assert server.statements_by_server == pytest.approx(server.statements_by_clients, rel=0.01)
    assert finished.rows == 300


def test_each_node_has_figures_of_its_own_volume(finished: RunResult) -> None:
    step = measured(finished)[0]
    assert step.target is not None
    assert step.target.read_iops is not None
    each = [node.target.read_iops for node in step.nodes if node.target is not None]
    assert len(each) == 3
    assert None not in each
    assert sum(one or 0.0 for one in each) == pytest.approx(step.target.read_iops, rel=0.05, abs=5)
