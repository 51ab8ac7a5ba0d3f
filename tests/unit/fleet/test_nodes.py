"""What clients saw of a cluster's nodes is added up by the node."""

from hdrh.histogram import HdrHistogram

from plimsoll.fleet.fold import fold_clients
from plimsoll.model.engine.answered import LatencySummary, NodeReport
from plimsoll.model.run.fleet import ClientResult
from tests.unit.fleet.test_merge import NONE, histogram, planned, result


def node(address: str, values: list[int], **changes: object) -> NodeReport:
    told: dict[str, object] = {
        "address": address, "ring_share": 0.5, "succeeded": len(values), "errors": {},
        "latency_us": NONE, "histogram": histogram(values), "statements_sent": len(values),
        "taken_over": 0, "lost": 0,
    }  # fmt: skip
    return NodeReport.model_validate(told | changes)


def seeing(client: int, *nodes: NodeReport) -> ClientResult:
    one = result(client, [1])
    return one.model_copy(update={"report": one.report.model_copy(update={"nodes": nodes})})


def test_a_node_has_the_operations_of_all_clients_and_their_merged_latencies() -> None:
    clients = [
        seeing(
            0,
            node("10.0.0.1:9042", [100] * 9, lost=1, errors={"timeout": 2}),
            node("10.0.0.2:9042", [200] * 4),
        ),
        seeing(  # whom a client asks for the ring, that node it tells of first
            1,
            node("10.0.0.2:9042", [900] * 4, taken_over=3),
            node("10.0.0.1:9042", [100], errors={"timeout": 1, "unavailable": 1}),
        ),
    ]
    first, second = fold_clients(planned(2), clients).nodes()
    assert (first.address, second.address) == ("10.0.0.1:9042", "10.0.0.2:9042")
    assert (first.succeeded, second.succeeded) == (10, 8)
    assert first.errors == {"timeout": 3, "unavailable": 1}
    assert (first.lost, second.taken_over, first.ring_share) == (1, 3, 0.5)
    merged = HdrHistogram.decode(second.histogram)
    assert merged.get_total_count() == 8
    assert isinstance(second.latency_us, LatencySummary)
    assert second.latency_us.max is not None
    assert 899 <= second.latency_us.max <= 901


def test_a_target_of_one_node_has_none() -> None:
    assert fold_clients(planned(1), [result(0, [1])]).nodes() == ()
