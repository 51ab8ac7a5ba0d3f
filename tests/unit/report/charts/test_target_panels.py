"""The volumes' own figures are drawn beside what they promise: one, or all of a cluster's."""

from typing import Any

from plimsoll.model.request.cassandra_target import CassandraTarget
from plimsoll.report.charts.chart import Label, Panel
from plimsoll.report.charts.panels import Panels
from plimsoll.report.charts.target_panels import add_target_panels
from plimsoll.report.charts.timeline import draw_timeline
from tests.support.synthetic_run import synthetic_run

RESULT, SECONDS = synthetic_run(iops=1000)
CLUSTER = CassandraTarget.model_validate(
    {
        "kind": "cassandra",
        "instance_type": "r5.large",
        "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
        "nodes": 3,
    }
)


def iops_panel(target: Any) -> Panel:
    request = RESULT.request.model_copy(update={"target": target})
    drawn = draw_timeline(RESULT.model_copy(update={"request": request}), SECONDS)
    assert drawn is not None
    return next(panel for panel in drawn.panels if panel.id == "iops")


def test_a_latency_without_any_io_is_a_gap() -> None:
    """A logarithmic axis has no zero, and nothing took no time."""
    values = {0: 800.0, 1: 0.0, 2: 900.0}
    panels = Panels(3, 1, [])
    add_target_panels(
        panels,
        lambda fields: [
            {"t": t, "series": fields["read_latency_us"], "value": value}
            for t, value in values.items()
            if "read_latency_us" in fields
        ],
        1.5,
        None,
    )
    (panel,) = panels.panels
    assert panel.y.log
    assert panel.readout is not None
    assert list(panel.readout.moments) == [0, 2]


def test_one_volume_is_drawn_beside_its_own_promise() -> None:
    panel = iops_panel(RESULT.request.target)
    labels = [mark.text for mark in panel.marks if isinstance(mark, Label)]
    assert labels == ["limit 1,000 IOPS"]
    assert panel.y.title == "volume, I/O per second, stacked"


def test_all_volumes_of_a_cluster_are_drawn_beside_all_their_promises() -> None:
    panel = iops_panel(CLUSTER)
    labels = [mark.text for mark in panel.marks if isinstance(mark, Label)]
    assert labels == ["limit 3,000 IOPS"]
    assert panel.y.title == "3 volumes, I/O per second, stacked"
