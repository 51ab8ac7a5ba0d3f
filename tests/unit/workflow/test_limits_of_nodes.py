"""A cluster's limit says how many of its nodes are at theirs."""

from statistics import fmean

from plimsoll.limiting import find_limiting_resource
from plimsoll.model.judging.capacity import Capacity
from plimsoll.model.judging.steps import TargetFigures
from plimsoll.model.run.results import NodeTotals, StepResult
from tests.unit.fleet.test_merge import NONE
from tests.unit.workflow.limit_samples import IO1, knee


def node(number: int, iops: float, **figures: float) -> NodeTotals:
    return NodeTotals(
        address=f"10.0.0.{number}:9042", ring_share=1 / 3, succeeded=100 * number, errors={},
        latency_us=NONE, histogram="", statements_sent=0, taken_over=0, lost=0,
        target=TargetFigures(
            period_s=1, points=2, read_iops=iops, write_iops=0.0, queue=4.0, **figures
        ),
    )  # fmt: skip


def cluster(*iops: float) -> tuple[Capacity, list[StepResult]]:
    figures = {"read_iops": sum(iops), "write_iops": 0.0, "queue": 12.0, "cpu_percent": 40.0}
    capacity, steps = knee(figures)
    nodes = tuple(node(number, each) for number, each in enumerate(iops, 1))
    return capacity, [steps[0], steps[1].model_copy(update={"nodes": nodes})]


def test_the_nodes_at_their_iops_are_counted() -> None:
    limiting = find_limiting_resource(*cluster(950.0, 500.0, 990.0), IO1)
    assert (limiting.resource, limiting.reached) == ("storage_iops", True)
    assert limiting.share == 0.99
    told = "2 of 3 nodes at the limit of their IOPS; closest: storage: 990 of 1,000 IOPS (99 %)"
    assert limiting.evidence[0].startswith(told)
    assert limiting.to_change is not None
    assert limiting.to_change.startswith("on each node: a volume with more than 1,000 IOPS")
    # 990 I/Os of the node that has half of 1,100 operations/s
    assert "1.80 now" in limiting.to_change


def test_nodes_without_figures_of_their_own_are_not_judged_by_those_of_all_together() -> None:
    capacity, (first, last) = cluster(950.0, 500.0, 990.0)
    blind = tuple(one.model_copy(update={"target": None}) for one in last.nodes)
    limiting = find_limiting_resource(
        capacity, [first, last.model_copy(update={"nodes": blind})], IO1
    )
    assert limiting.resource != "storage_iops"
    assert not limiting.reached


def busy(*cpu_percent: float, **of_machine: float) -> tuple[Capacity, list[StepResult]]:
    figures = {"read_iops": 30.0, "write_iops": 0.0, "cpu_percent": fmean(cpu_percent)}
    capacity, steps = knee(figures | of_machine)
    nodes = tuple(
        node(number, 10.0, cpu_percent=each, **of_machine)
        for number, each in enumerate(cpu_percent, 1)
    )
    return capacity, [steps[0], steps[1].model_copy(update={"nodes": nodes})]


def test_each_instances_processors_are_a_limit_of_its_own() -> None:
    limiting = find_limiting_resource(*busy(95.0, 40.0, 45.0), IO1)  # 60 % of all
    assert (limiting.resource, limiting.reached) == ("cpu", True)
    told = "1 of 3 nodes at the limit of their CPU; closest: cpu: the server used 95 % of its CPU"
    assert limiting.evidence[0].startswith(told)


def test_on_one_machine_the_nodes_share_its_processors() -> None:
    limiting = find_limiting_resource(*busy(30.0, 30.0, 32.0, host_idle_percent=60.0), IO1)
    assert "nodes at the limit of their CPU" not in "; ".join(limiting.evidence)


def test_a_cluster_whose_volumes_have_room_is_not_at_their_limit() -> None:
    limiting = find_limiting_resource(*cluster(500.0, 510.0, 520.0), IO1)
    assert not limiting.reached
    assert "0 of 3 nodes at the limit of their IOPS" in "; ".join(limiting.evidence)
