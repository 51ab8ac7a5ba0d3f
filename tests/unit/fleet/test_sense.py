"""Steps that say nothing are void; an answer's closing steps take nothing with them."""

from collections.abc import Sequence

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.fleet.fold import fold_clients
from plimsoll.fleet.sense import Nothing, check_sense, explain_nothing
from plimsoll.fleet.step import build_step
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Purpose
from plimsoll.model.run.fleet import ClientResult, FailedClient
from tests.support.merged import merge_step
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_failures import refused
from tests.unit.fleet.test_merge import after, planned, result

STEP = synthetic_run()[0].steps[0]
REFUSED = "the target refused connections of 1 of 1 client: Too many connections"


@pytest.mark.parametrize(
    ("purpose", "void"),
    [
        ("climb", None),  # that load fails
        ("soak", None),  # so does the answer's own
        ("twice_clients", REFUSED),
        ("open_loop", REFUSED),
        ("sentinel", REFUSED),
    ],
)
def test_a_closing_step_that_was_refused_says_nothing_of_the_answer(
    purpose: Purpose, void: str | None
) -> None:
    full = STEP.step.model_copy(update={"refused": REFUSED, "throughput_ops_per_second": 0.0})
    plan = STEP.plan.model_copy(update={"purpose": purpose})
    step = STEP.model_copy(update={"plan": plan, "step": full})
    seen, _ = check_sense(step, fold_clients(plan, [result(0, [100])]))
    assert seen.step.void == void


def told(*results: ClientResult, failed: Sequence[FailedClient] = ()) -> Nothing | None:
    fold = fold_clients(planned(), results)
    return explain_nothing(
        build_step(fold, failed, server_after=after(1100), statistic="p99"), fold
    )


def test_a_step_with_an_answer_to_each_operation_tells_something() -> None:
    assert told(result(0, [100]), result(1, [])) is None


def test_clients_that_all_came_too_late_may_be_in_time_the_next_time() -> None:
    assert told(failed=[refused(0), refused(1)]) == Nothing(
        "no client of step 1 ran: 2 clients (0, 1) failed: called 4.0 s after it",
        passing=True,
    )


def test_clients_that_failed_otherwise_or_never_started_will_again() -> None:
    killed = FailedClient(client=1, error="Lambda.Unknown", cause="signal: killed")
    assert told(failed=[refused(0), killed]) == Nothing(
        "no client of step 1 ran: client 0 failed: called 4.0 s after it;"
        " client 1 failed: Lambda.Unknown: signal: killed",
        passing=False,
    )
    assert told(failed=[refused(0)]) == Nothing(
        "no client of step 1 ran: client 0 failed: called 4.0 s after it",
        passing=False,
    )
    none = Nothing("no client of step 1 ran: none of them started", passing=False)
    assert told() == none


def test_a_silent_step_says_how_late_its_clients_were() -> None:
    late = [result(client, [], late_ms=9_000, window=(5_000, 5_000)) for client in (0, 1)]
    assert told(*late) == Nothing(
        "no operation was answered in the window of step 1:"
        " 2 clients were late, at most by 9 s: 0, 1",
        passing=True,
    )


def test_clients_that_never_ran_together_measured_nothing_together() -> None:
    """One's window ends as the other's begins: no rate is the sum of theirs."""
    apart = result(0, [100], window=(1_000, 3_200)), result(1, [100], window=(2_900, 5_000))
    assert told(*apart) == Nothing(
        "the clients of step 1 did not run together for a whole second", passing=True
    )


def test_a_silent_step_says_what_its_operations_failed_with() -> None:
    failing = result(0, [], errors={"1146": 70, "connection_lost": 2})
    report = failing.report.model_copy(update={"error_examples": {"1146": "no such table"}})
    assert told(failing.model_copy(update={"report": report}), result(1, [])) == Nothing(
        "no operation was answered in the window of step 1:"
        " 70 failed with 1146 (no such table); 2 failed with connection_lost",
        passing=False,
    )


def test_operations_that_waited_for_their_answers_may_get_them_the_next_time() -> None:
    waiting = result(0, [])
    client = waiting.report.client.model_copy(update={"unanswered": 2})
    report = waiting.report.model_copy(update={"client": client})
    assert told(waiting.model_copy(update={"report": report}), result(1, [])) == Nothing(
        "no operation was answered in the window of step 1: 2 still waited for a reply at its end",
        passing=True,
    )


FULL = [
    FailedClient(client=n, error="ConnectionsRefusedError", cause="Too many connections")
    for n in (0, 1)
]


def test_a_target_without_room_for_connections_has_failed_the_step() -> None:
    nobody = fold_clients(planned(), [])
    step = build_step(nobody, FULL, server_after=after(1100), statistic="p99")
    assert explain_nothing(step, nobody) is None
    assert step.step.throughput_ops_per_second == 0
    assert step.step.refused == (
        "the target refused connections of 2 of 2 clients: Too many connections"
    )


def test_those_that_were_let_in_still_count() -> None:
    step = merge_step(planned(), [result(0, [100])], FULL[1:], server_after=after(1100))
    assert step.step.throughput_ops_per_second == 0.25
    assert step.step.refused == (
        "the target refused connections of 1 of 2 clients: Too many connections"
    )
    assert merge_step(planned(), [result(0, [100])], [], server_after=None).step.refused is None


def test_those_that_were_let_in_for_less_than_a_second_change_nothing_of_it() -> None:
    """On a busy machine they come late: the step still says that connections were refused."""
    many = result(0, [100] * 4000, per_second=1000)
    lighter = merge_step(planned(1), [many], [], server_after=after(1050))
    for answered in ([], [100]):
        late = result(0, answered, late_ms=3_200, window=(4_200, 5_000))
        fold = fold_clients(planned(), [late])
        step = build_step(fold, FULL[1:], server_after=after(1100), statistic="p99")
        assert explain_nothing(step, fold) is None
        heavier = step.step.model_copy(update={"index": 2})
        capacity = judge([lighter.step, heavier], Rules(confirmation=None))
        assert (capacity.verdict, capacity.cause) == ("KNEE", "connections")


def test_one_silent_operation_is_named() -> None:
    one = result(0, [100])
    reads = one.report.operations["read"]
    scans = reads.model_copy(
        update={"histogram": result(0, []).report.operations["read"].histogram}
    )
    report = one.report.model_copy(update={"operations": {"read": reads, "scan": scans}})
    assert told(one.model_copy(update={"report": report}), result(1, [100])) == Nothing(
        "no scan was answered in the window of step 1: none was sent within its 4 s", passing=True
    )
