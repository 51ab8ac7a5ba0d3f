"""A phase is passes of a fixed number of records, each a slice of its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.phase_plan import plan_pass, slice_pass
from plimsoll.fleet.plan import compute_period_wait_ms, make_load_spec
from plimsoll.fleet.step import Window
from plimsoll.model.engine.asked import ClosedLoop, EngineTarget
from plimsoll.model.request.phases import (
    compute_records_per_operation,
    count_phase_steps,
    number_phases,
    passes,
)
from plimsoll.model.request.request import Request
from plimsoll.model.validation import validate
from plimsoll.requests.checked_request import validate_request
from tests.support.merged import merge_step
from tests.support.requested import REQUESTED
from tests.unit.fleet.test_merge import planned, result
from tests.unit.fleet.test_plan import planned as planned_of_search

LOAD = {
    "name": "load",
    "workload": {"name": "batch-1-bulk-insert", "parameters": {"rows_per_statement": 20}},
    "to_completion": {"records": 1000, "connections": [1, 6], "connections_per_client": 4,
                      "repetitions": 2, "longest_s": 90},
}  # fmt: skip
CHARGE = {
    "name": "charge",
    "workload": {"name": "batch-3-charges"},
    "to_completion": {"records": 500, "connections": [8], "repetitions": 3},
}
SEARCH = {"strategy": "steps", "clients": [1, 2]}
ASK = {"name": "ask", "workload": {"name": "batch-2-validation"}, "search": SEARCH}
JOB = {
    **REQUESTED,
    "workload": {"name": "batch-3-charges", "records": 2000},
    "phases": [LOAD, CHARGE],
}
CHECKED = validate_request(JOB)
REQUEST = CHECKED.request
TARGET = EngineTarget(
    protocol="mysql",
    host="h",
    port=3306,
    user="u",
    password="p",
    database="d",
)


def test_the_loads_of_a_phase_take_turns_and_phases_follow_one_another() -> None:
    planned = passes(REQUEST.phases)
    assert [(one.index, one.phase.name, one.connections, one.clients) for one in planned] == [
        (1, "load", 1, 1), (2, "load", 6, 2), (3, "load", 1, 1), (4, "load", 6, 2),
        (5, "charge", 8, 1), (6, "charge", 8, 1), (7, "charge", 8, 1),
    ]  # fmt: skip


def test_a_pass_is_so_many_operations_and_its_window_ends_with_them() -> None:
    fourth = passes(REQUEST.phases)[3]
    each = compute_records_per_operation(CHECKED.phases["load"].engine.operations)
    assert each == 20
    plan = plan_pass(fourth, REQUEST, records_each=each, server_before=None)
    assert (plan.index, plan.phase, plan.purpose, plan.operations) == (4, "load", "phase", 50)
    assert (plan.warmup_s, plan.duration_s) == (0, 90)
    assert plan.sequence_from == 3000  # three passes of 1,000 were before it
    assert plan.why == "phase load: 1,000 records to completion, pass 2 of 2"
    assert compute_period_wait_ms(plan, 60) == 0


def test_its_clients_divide_operations_and_input_by_their_connections() -> None:
    plan = plan_pass(passes(REQUEST.phases)[3], REQUEST, records_each=20, server_before=None)
    workload = CHECKED.phases["load"].engine
    specs = [make_load_spec(plan, client, workload=workload, target=TARGET) for client in (0, 1)]
    assert [spec.connections for spec in specs] == [3, 3]
    assert [spec.operations_limit for spec in specs] == [25, 25]
    assert [spec.sequence_from for spec in specs] == [3000, 3500]
    assert specs[0].loop == ClosedLoop()


@given(
    connections=st.integers(1, 200), per_client=st.integers(1, 50), records=st.integers(1, 10_000)
)
def test_slices_are_all_of_the_input_once(connections: int, per_client: int, records: int) -> None:
    phase = REQUEST.phases[1]
    assert phase.to_completion is not None
    completion = phase.to_completion.model_copy(
        update={"connections": (connections,), "connections_per_client": per_client,
                "records": records + connections}
    )  # fmt: skip
    (one, *_) = passes((phase.model_copy(update={"to_completion": completion}),))
    plan = plan_pass(one, REQUEST, records_each=1.0, server_before=None)
    slices = [slice_pass(plan, client, 1.0) for client in range(plan.clients)]
    assert all(operations >= 1 for operations, _ in slices)
    assert sum(operations for operations, _ in slices) == records + connections
    ends = [begin + operations for operations, begin in slices]
    assert [begin for _, begin in slices] == [0, *ends[:-1]]


def test_a_step_of_the_search_is_numbered_after_the_phases() -> None:
    assert planned_of_search(4, 12).index == 3
    request = REQUEST.model_copy(update={"search": REQUEST.search})
    assert count_phase_steps(request.phases) == 7


def test_a_pass_lasts_from_its_first_record_to_the_last_of_the_slowest_client() -> None:
    """The window in which all ran would leave out what the slowest had still to do."""
    plan = planned(warmup_s=0, duration_s=600).model_copy(
        update={"phase": "load", "operations": 100, "purpose": "phase"}
    )
    quick = result(0, [100] * 60, window=(0, 2_000))
    slow = result(1, [100] * 40, window=(0, 5_000))
    step = merge_step(plan, [quick, slow], [], server_after=None)
    assert step.step.window_s == 5.0
    assert step.step.throughput_ops_per_second == pytest.approx(20.0)
    assert step.plan.duration_s == 5.0  # what it cost follows from how long it took
    assert step.step.purpose is None
    assert not any("ran together" in problem for problem in step.problems)
    fold = fold_clients(planned(warmup_s=0, duration_s=600), [quick, slow])
    assert Window(fold).length_s == 2.0  # of a step of the search


@pytest.mark.parametrize(
    ("changes", "path", "problem"),
    [
        ({"phases": [LOAD, LOAD]}, ("phases", 1, "name"), "another phase has this name"),
        ({"workload": {"name": "ycsb-a", "records": 2000}}, ("phases", 0, "workload"),
         "uses the dataset billing, but the run's own is ycsb"),
        ({"phases": [{**LOAD, "workload": {"name": "no-such"}}]}, ("phases", 0, "workload", "name"),
         "no-such"),
        ({"phases": [{**LOAD, "to_completion": {"records": 9, "connections": [10, 2]}}]},
         ("phases", 0, "to_completion", "connections"), "ascending"),
        ({"phases": [{**LOAD, "to_completion": {"records": 9, "connections": [10]}}]},
         ("phases", 0, "to_completion", "records"),
         "are fewer than its 10 connections, each of which sends 20 at a time"),
        ({"phases": [{**CHARGE, "to_completion": {"records": 9, "connections": [10]}}]},
         ("phases", 0, "to_completion", "records"), "are fewer than its 10 connections"),
        ({"phases": [{"name": "x", "workload": {"name": "batch-3-charges"}}]},
         ("phases", 0), "give either `to_completion` or `search`"),
        ({"phases": [{**CHARGE, "search": SEARCH}]},
         ("phases", 0), "give either `to_completion` or `search`"),
        ({"phases": [{**CHARGE, "limits": {}}]},
         ("phases", 0, "limits"), "a pass to completion is not judged"),
        ({"phases": [{**ASK, "limits": {"limits_us": {"read": 5}}}]},
         ("phases", 0, "limits", "limits_us", "read"), "unknown operation 'read'"),
        ({"phases": [{**ASK, "limits": {"soak_s": 1200}, "search": {**SEARCH, "probes_max": 2}}]},
         ("phases", 0, "limits", "soak_s"), "takes 2 steps of search.probes_max"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_with_its_field(
    changes: dict[str, object], path: tuple[str | int, ...], problem: str
) -> None:
    with pytest.raises(UsageError) as raised:
        validate_request({**JOB, **changes})
    (complaint,) = raised.value.complaints
    assert complaint.path == path
    assert problem in str(complaint)


def test_a_request_without_phases_has_none() -> None:
    assert validate(Request, REQUESTED).phases == ()
    assert passes(()) == []


def test_of_a_phase_with_a_search_as_many_numbers_are_kept_as_it_may_take() -> None:
    request = validate_request({**JOB, "phases": [LOAD, ASK, CHARGE]}).request
    assert [first for _, first in number_phases(request.phases)] == [0, 4, 34]
    assert [one.index for one in passes(request.phases)] == [1, 2, 3, 4, 35, 36, 37]
    assert count_phase_steps(request.phases) == 37


def test_what_a_phase_seeks_is_the_runs_on_its_own_workload_and_search() -> None:
    """Without the run's soak, and without limits of operations that it does not have."""
    limits = {"limits_us": {"charge": 9000}, "soak_s": 60, "deterioration": 7}
    checked = validate_request({**JOB, "limits": limits, "phases": [LOAD, ASK]})
    own = checked.search_request("ask")
    assert (own.workload.name, own.workload.records) == ("batch-2-validation", 2000)
    assert own.search.probes_max == 30
    assert (own.limits.limits_us, own.limits.soak_s) == ({}, 0)
    assert own.limits.deterioration == 7
    assert own.phases == ()
    assert checked.search_request(None) is checked.request
