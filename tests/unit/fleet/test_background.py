"""What runs beside a step has clients, keys and figures of its own, and none in the step's."""

from typing import Any

import pytest

from plimsoll.fleet.background import (
    is_even,
    measure_background_s,
    plan_background,
)
from plimsoll.fleet.background_client import join_spans, list_span_loads
from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.sense import check_sense, describe_absent
from plimsoll.model.engine.asked import ClosedLoop, EngineTarget, EngineWorkload, OpenLoop
from plimsoll.model.request.request import Request
from plimsoll.model.run.fleet import ClientResult, FailedClient, StepPlan
from tests.support.merged import merge_step
from tests.support.requested import REQUESTED
from tests.unit.fleet.test_merge import START_MS, after, planned, result

TARGET = EngineTarget(
    protocol="mysql", host="db", port=3306, user="u", password="p", database="plimsoll"
)
WORKLOAD = EngineWorkload(key_spaces=(), operations=())
SCAN = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 5000}}


def planned_beside(
    *backgrounds: dict[str, Any], warmup_s: float = 1, duration_s: float = 4
) -> StepPlan:
    """A step of two clients with a background; its window is 1 to 5 s."""
    request = Request.model_validate(
        {
            **REQUESTED,
            "load": {"warmup_s": warmup_s, "duration_s": duration_s},
            "background": [{**SCAN, **one} for one in backgrounds],
        }
    )
    return plan_background(request, planned(warmup_s=warmup_s, duration_s=duration_s))


def of_background(client: int, values: list[int], **changes: Any) -> ClientResult:
    return result(client, values, **changes).model_copy(update={"background": "nightly"})


def test_its_clients_are_numbered_after_the_steps_own() -> None:
    plan = planned_beside({"clients": 2}, {"name": "other", "clients": 3})
    assert plan.clients_in_all == 7
    names = [load.name if (load := plan.background_of(n)) else None for n in range(8)]
    assert names == [None, None, "nightly", "nightly", "other", "other", "other", None]


@pytest.mark.parametrize("purpose", ["without_background", "warm", "phase"])
def test_nothing_runs_beside_a_step_without_it_nor_one_of_no_known_end(
    purpose: str,
) -> None:
    request = Request.model_validate({**REQUESTED, "background": [SCAN]})
    phase = "load" if purpose == "phase" else None
    plan = planned().model_copy(update={"purpose": purpose, "phase": phase})
    assert plan_background(request, plan).background == ()


def test_its_clock_begins_after_what_warms_a_toggled_server() -> None:
    states = [{"name": name, "parameters": {"sync_binlog": name}} for name in ("0", "1")]
    request = Request.model_validate(
        {
            **REQUESTED,
            "prepare": {"warm_s": 40},
            "toggle": {"states": states},
            "load": {"warmup_s": 1, "duration_s": 4},
            "background": [{**SCAN, "at_s": 2, "for_s": 1}],
        }
    )
    plan = planned(warmup_s=41, duration_s=4).model_copy(update={"state": "1"})
    (load,) = plan_background(request, plan).background
    assert load.spans_s == ((42, 43),)
    assert measure_background_s(plan, load) == 1


def test_each_span_is_a_load_of_its_own_on_the_steps_clock() -> None:
    (load,) = (plan := planned_beside({"every_s": 2, "for_s": 1})).background
    spans = list(list_span_loads(plan, load, 2, workload=WORKLOAD, target=TARGET))
    assert [span.spec.start_at_epoch_ms for span in spans] == [
        START_MS,
        START_MS + 2000,
        START_MS + 4000,
    ]
    assert [(span.spec.warmup_s, span.spec.duration_s) for span in spans] == [(0, 1)] * 3
    assert [span.counts for span in spans] == [False, True, True], "the first is in the warm-up"


def test_no_two_spans_nor_clients_insert_the_same_rows() -> None:
    (load,) = (plan := planned_beside({"every_s": 2, "for_s": 1, "clients": 2})).background
    spans = [
        span.spec
        for client in (2, 3)
        for span in list_span_loads(plan, load, client, workload=WORKLOAD, target=TARGET)
    ]
    assert {spec.client_count for spec in spans} == {6}
    assert sorted(spec.client_index for spec in spans) == list(range(6))


def test_a_span_that_begins_in_the_warm_up_is_measured_from_the_windows_start() -> None:
    (load,) = (plan := planned_beside({})).background
    (span,) = list_span_loads(plan, load, 2, workload=WORKLOAD, target=TARGET)
    assert (span.spec.warmup_s, span.spec.duration_s) == (1, 4)


@pytest.mark.parametrize(
    ("changes", "loop"),
    [
        ({}, ClosedLoop()),
        ({"rate_ops_per_second": 30, "clients": 3}, OpenLoop(rate_ops_per_second=10)),
    ],
)
def test_its_rate_is_of_all_its_clients(changes: dict[str, Any], loop: object) -> None:
    (load,) = (plan := planned_beside(changes)).background
    (span,) = list_span_loads(plan, load, 2, workload=WORKLOAD, target=TARGET)
    assert span.spec.loop == loop


def test_the_spans_of_a_client_are_one_report_and_those_before_the_window_do_not_count() -> None:
    (load,) = (plan := planned_beside({"every_s": 2, "for_s": 1})).background
    spans = list_span_loads(plan, load, 2, workload=WORKLOAD, target=TARGET)
    reports = [result(2, [100 * n] * 10, per_second=n).report for n in (1, 2, 3)]
    found = join_spans(plan, list(zip(spans, reports, strict=True)))
    assert found.operations["read"].succeeded == 20
    assert found.operations["read"].latency_us.p50 == 200
    assert found.statements_sent == 150, "the server counted those of the warm-up too"
    assert {second.second for second in found.seconds} >= {0, 2, 4}
    assert sorted(second.second for second in found.seconds) == sorted(
        offset + n for offset in (0, 2, 4) for n in range(5)
    )


@pytest.mark.parametrize(("rows", "sum_of_rows"), [((3, 4), 7), ((3, None), None)])
def test_the_rows_that_its_spans_met_are_added_up_if_all_are_known(
    rows: tuple[int | None, ...], sum_of_rows: int | None
) -> None:
    (load,) = (plan := planned_beside({"every_s": 2, "for_s": 1})).background
    counted = list(list_span_loads(plan, load, 2, workload=WORKLOAD, target=TARGET))[1:]
    reports = []
    for met in rows:
        report = result(2, [100], per_second=1).report
        read = report.operations["read"].model_copy(update={"rows": met})
        reports.append(report.model_copy(update={"operations": {"read": read}}))
    found = join_spans(plan, list(zip(counted, reports, strict=True)))
    assert found.operations["read"].rows == sum_of_rows


def test_what_it_does_is_in_no_figure_of_the_step() -> None:
    plan = planned_beside({})
    own, others = [result(0, [100] * 40), result(1, [100] * 60)], [of_background(2, [9000] * 8)]
    alone = merge_step(planned(), own, [], server_after=after(1100))
    beside = [fold_clients(plan, others)]
    step = merge_step(plan, own, [], server_after=after(1150), beside=beside)
    for field in ("throughput_ops_per_second", "operations", "errors", "latency_us", "clients_ran"):
        assert getattr(step.step, field) == getattr(alone.step, field)
    assert step.operations == alone.operations
    assert step.seconds == alone.seconds
    (found,) = step.background
    assert found.throughput_ops_per_second == 2  # 8 in the 4 s of the window
    assert found.operations["read"].latency_us.p50 == pytest.approx(9000, rel=0.001)
    assert [second.epoch_s for second in found.seconds] == [1000, 1001, 1002, 1003, 1004]
    assert step.without_seconds.background[0].seconds == ()


def test_the_servers_count_is_held_against_that_of_all_clients() -> None:
    plan = planned_beside({})
    own, others = [result(0, [1]), result(1, [1])], [of_background(2, [1])]
    step = merge_step(plan, own, [], server_after=after(1150), beside=[fold_clients(plan, others)])
    assert step.server is not None
    assert (step.server.statements_by_clients, step.server.statements_by_server) == (150, 150)
    lacking = merge_step(plan, own, [], server_after=after(1150), beside=[fold_clients(plan, [])])
    assert lacking.server is not None
    assert lacking.server.statements_by_clients is None


def test_its_rate_is_of_the_time_in_which_it_ran() -> None:
    plan = planned_beside({"every_s": 2, "for_s": 1})  # seconds 2 and 4 of the window 1 to 5
    own, others = [result(0, [1]), result(1, [1])], [of_background(2, [1] * 10)]
    step = merge_step(plan, own, [], server_after=None, beside=[fold_clients(plan, others)])
    (found,) = step.background
    assert (found.ran_s, found.throughput_ops_per_second) == (2, 5)


@pytest.mark.parametrize(
    ("schedule", "even"),
    [
        ({}, True),
        ({"every_s": 20, "for_s": 10}, True),
        ({"every_s": 20, "for_s": 11}, True),
        ({"every_s": 40, "for_s": 10}, False),
        ({"every_s": 40, "for_s": 23}, False),  # 20 s and 3 s
        ({"at_s": 5, "for_s": 5}, False),
    ],
)
def test_halves_that_meet_it_unlike_say_nothing_of_a_steady_state(
    schedule: dict[str, int], even: bool
) -> None:
    plan = planned_beside(schedule, warmup_s=0, duration_s=40)
    assert is_even(plan) is even
    own, others = [result(0, [1]), result(1, [1])], [of_background(2, [1])]
    step = merge_step(plan, own, [], server_after=None, beside=[fold_clients(plan, others)])
    assert (step.step.halves is not None) is even


def test_a_step_without_it_is_void() -> None:
    plan = planned_beside({})
    own, none = [result(0, [100] * 40), result(1, [100] * 60)], [fold_clients(plan, [])]
    failed = [FailedClient(client=2, error="EngineError", cause="no such table")]
    step = merge_step(plan, own, failed, server_after=after(1100), beside=none)
    assert "1 client of the background nightly did not run: client 2 failed" in str(
        describe_absent(step)
    )
    marked, nothing = check_sense(step, fold_clients(plan, own))
    assert nothing is not None
    assert nothing.passing, "it is tried again"
    assert marked.step.void is not None
    assert "no such table" in marked.step.void


def test_its_failed_and_cut_off_operations_are_told() -> None:
    plan = planned_beside({})
    own = [result(0, [1]), result(1, [1])]
    broken = fold_clients(plan, [of_background(2, [], errors={"1205": 3})])
    step = merge_step(plan, own, [], server_after=None, beside=[broken])
    assert "background nightly: 3 operations failed" in step.problems
    assert "background nightly: no operation was answered in the window" in step.problems


@pytest.mark.parametrize(("answered", "there"), [([], False), ([60_000_000], True)])
def test_one_whose_operations_all_fail_is_not_there(answered: list[int], there: bool) -> None:
    """As good as none: its pairs would say that it takes nothing. One that times out is there."""
    plan = planned_beside({})
    own = [result(0, [1]), result(1, [1])]
    broken = fold_clients(plan, [of_background(2, answered, errors={"1146": 3, "1205": 1})])
    step = merge_step(plan, own, [], server_after=None, beside=[broken])
    said = "no operation of the background nightly succeeded: most failed with 1146"
    assert describe_absent(step) == (None if there else said)
