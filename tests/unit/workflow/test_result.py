"""The conclusion of a search: its answer, and what set the limit."""

from plimsoll.model.run.results import CheckedCondition
from plimsoll.report.headline import predict_more_iops
from plimsoll.workflow.result import conclude_steps
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
BROKEN = CheckedCondition(name="c1", about="no gap", breaches=2)


def test_rows_that_break_a_condition_leave_no_limit_and_nothing_to_buy() -> None:
    found = [conclude_steps(RESULT.request, RESULT.steps, these) for these in ((), (BROKEN,))]
    assert [one.limiting.reached for one in found] == [True, False]
    updates = [{"capacity": one.capacity, "limiting": one.limiting} for one in found]
    kept, disputed = (RESULT.model_copy(update=update) for update in updates)
    assert predict_more_iops(kept) is not None
    assert predict_more_iops(disputed) is None
    assert found[1].capacity.closing is None
