"""The record that stands for a run which is over."""

from plimsoll.workflow.past import rebuild_record
from tests.support.synthetic_run import synthetic_run


def test_it_has_the_whole_figure_so_that_it_is_rounded_once() -> None:
    result, _ = synthetic_run()
    assert result.capacity is not None
    figure = 2066.48329048017
    capacity = result.capacity.model_copy(
        update={"max_sustainable_throughput_ops_per_second": figure}
    )
    told = rebuild_record(result.model_copy(update={"capacity": capacity}))
    assert told.capacity_ops_per_second is not None
    assert float(told.capacity_ops_per_second) == figure
