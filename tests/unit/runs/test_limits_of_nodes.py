"""A cluster's limit says how many of its nodes are at theirs."""

from plimsoll.model.capacity import Capacity
from plimsoll.model.results import NodeTotals, StepResult, TargetFigures
from plimsoll.runs.limits import limiting_resource
from tests.unit.fleet.test_merge import NONE
from tests.unit.runs.test_limits import IO1, knee


def node(number: int, iops: float) -> NodeTotals:
    return NodeTotals(
        address=f"10.0.0.{number}:9042", ring_share=1 / 3, succeeded=100 * number, errors={},
        latency_us=NONE, histogram="", statements_sent=0, taken_over=0, lost=0,
        target=TargetFigures(period_s=1, points=2, read_iops=iops, write_iops=0.0, queue=4.0),
    )  # fmt: skip


def cluster(*iops: float) -> tuple[Capacity, list[StepResult]]:
    figures = {"read_iops": sum(iops), "write_iops": 0.0, "queue": 12.0, "cpu_percent": 40.0}
    capacity, steps = knee(figures)
    nodes = tuple(node(number, each) for number, each in enumerate(iops, 1))
    return capacity, [steps[0], steps[1].model_copy(update={"nodes": nodes})]


def test_the_nodes_at_their_iops_are_counted() -> None:
    limiting = limiting_resource(*cluster(950.0, 500.0, 990.0), IO1)
    assert (limiting.resource, limiting.reached) == ("storage_iops", True)
    assert limiting.share == 0.99
    told = "2 of 3 nodes at their IOPS, the nearest with storage: 990 of 1,000 IOPS (99 %)"
    assert limiting.evidence[0].startswith(told)
    assert limiting.to_change is not None
    assert limiting.to_change.startswith("on each node: a volume with more than 1,000 IOPS")
    # 990 I/Os of the node that has half of 1,100 operations/s
    assert "1.80 now" in limiting.to_change


def test_a_cluster_whose_volumes_have_room_is_not_at_their_limit() -> None:
    limiting = limiting_resource(*cluster(500.0, 510.0, 520.0), IO1)
    assert not limiting.reached
    assert "0 of 3 nodes at their IOPS" in "; ".join(limiting.evidence)
