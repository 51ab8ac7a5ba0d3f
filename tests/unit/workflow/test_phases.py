"""Which pass comes next, and what a phase says when it has come to its end."""

import pytest

from plimsoll.fleet.plan import reduce_step
from plimsoll.model.aws.volumes import Volume, limits
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.phases import passes
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.results import OperationTotals, StepResult
from plimsoll.workflow.phases import find_next_pass, plan_phase_pass, summarize_phases
from tests.unit.fleet.test_merge import NONE
from tests.unit.fleet.test_phase_plan import CHECKED, REQUEST
from tests.unit.workflow.limit_samples import result

PASSES = {one.index: one for one in passes(REQUEST.phases)}
IO1 = limits(Volume(type="io1", size_gib=100, iops=1000), service="rds-mysql")
IDLE = {"read_iops": 100.0, "write_iops": 50.0, "cpu_percent": 20.0, "queue": 0.5}
FULL = {"read_iops": 900.0, "write_iops": 95.0, "cpu_percent": 30.0, "queue": 12.0}


def done(
    index: int, rate: float, figures: object = None, *, errors: int = 0, void: str | None = None
) -> StepResult:
    """A pass of the request that took a second for `rate` records."""
    plan: StepPlan = plan_phase_pass(PASSES[index], CHECKED, None)
    ops = plan.operations or 0
    step = Step(
        index=index, source=f"steps/{index}", connections=plan.connections,
        clients=plan.clients, operations=ops - errors,
        errors=errors, throughput_ops_per_second=float(ops), window_s=1.0, void=void,
        latency_us={"w": {"p99": 900.0, "mean": 800.0}},
    )  # fmt: skip
    totals = OperationTotals(
        succeeded=ops - errors, records=round(rate), errors={}, latency_us=NONE, histogram=""
    )
    made = result(index, 1, 1, 1, figures)
    return made.model_copy(update={"plan": plan, "step": step, "operations": {"w": totals}})


def test_the_passes_come_one_after_another_and_none_twice() -> None:
    load, charge = REQUEST.phases
    coming = find_next_pass(load, REQUEST, [])
    assert coming is not None
    assert (coming.index, coming.phase.name) == (1, "load")
    passed = [reduce_step(done(index, 100)) for index in range(1, 8)]
    assert find_next_pass(load, REQUEST, passed[:4]) is None
    last = find_next_pass(charge, REQUEST, passed[:6])
    assert last is not None
    assert (last.index, last.phase.name) == (7, "charge")
    assert find_next_pass(charge, REQUEST, passed) is None


def test_records_per_second_are_of_each_pass_with_an_interval_over_them() -> None:
    steps = [done(1, 100, IDLE), done(2, 400, FULL), done(3, 110, IDLE), done(4, 420, FULL)]
    (load,) = summarize_phases(CHECKED, steps, IO1)
    one, six = load.loads
    assert (one.connections, one.steps, one.records_per_second) == (1, (1, 3), (100.0, 110.0))
    assert one.middle_records_per_second == pytest.approx((100 * 110) ** 0.5)
    assert six.low_records_per_second is not None
    assert six.high_records_per_second is not None
    assert six.low_records_per_second < 410 < six.high_records_per_second
    assert load.sentence.startswith("410 records/s with 6 connections (95 % ")
    assert "3.91 times those with 1; pushing harder may gain more" in load.sentence


def test_connections_that_do_not_push_harder_are_told_from_storage_at_its_limit() -> None:
    steps = [done(1, 100, IDLE), done(2, 400, FULL), done(3, 110, IDLE), done(4, 420, FULL)]
    (load,) = summarize_phases(CHECKED, steps, IO1)
    one, six = load.loads
    assert (one.reached, six.reached) == (False, True)
    assert one.limit is not None
    assert one.limit.startswith("nothing was at its limit: its connections did not push harder")
    assert (six.resource, six.limit) == ("storage_iops", "storage IOPS set the limit")


def test_where_more_connections_gain_nothing_that_is_said() -> None:
    (load,) = summarize_phases(CHECKED, [done(1, 400, FULL), done(2, 410, FULL)], IO1)
    assert "pushing harder gains no more (1.03 times in the last step up)" in load.sentence
    assert load.loads[0].low_records_per_second is None  # one pass has no interval


def test_a_pass_that_was_cut_off_or_says_nothing_is_told() -> None:
    cut = done(1, 100)
    cut = cut.model_copy(update={"step": cut.step.model_copy(update={"operations": 3})})
    (load,) = summarize_phases(
        CHECKED, [cut, done(3, 0, void="all of its clients came too late")], IO1
    )
    (one,) = load.loads
    assert (one.unfinished, one.records_per_second) == (1, (100.0, None))
    assert "cut off after 1 min 30 s" in load.sentence


def changed(step: StepResult, **changes: object) -> StepResult:
    return step.model_copy(update={"step": step.step.model_copy(update=changes)})


def test_a_pass_without_all_of_its_clients_is_left_out_and_told() -> None:
    """Its rate is of fewer connections than it would stand beside."""
    steps = [done(2, 400), changed(done(4, 200), clients_ran=1)]
    (load,) = summarize_phases(CHECKED, steps, IO1)
    assert load.loads[0].records_per_second == (400.0, None)
    assert load.loads[0].unfinished == 0
    assert load.sentence.endswith(
        "; 6 connections: 1 of 2 passes left out (step 4: 1 of 2 clients returned results)"
    )


def test_a_pass_that_this_machine_disturbed_is_told() -> None:
    steps = [done(1, 100), changed(done(3, 50), host_others_percent=60.0)]
    (load,) = summarize_phases(CHECKED, steps, IO1)
    assert load.loads[0].records_per_second == (100.0, 50.0)
    assert "1 connection: 1 of 2 passes in doubt (" in load.sentence
    assert "this machine was busy: other processes used 60 % of the CPU" in load.sentence


def test_failed_operations_end_a_pass_and_are_no_records() -> None:
    (load,) = summarize_phases(CHECKED, [done(1, 90, errors=5)], IO1)
    assert (load.loads[0].errors, load.loads[0].unfinished) == (5, 0)


def test_phases_that_have_not_begun_are_left_out() -> None:
    assert summarize_phases(CHECKED, [], IO1) == ()
