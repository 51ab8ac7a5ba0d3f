"""The unmeasured load before a search goes on until it has settled, within bounds."""

from collections.abc import Sequence

import pytest

from plimsoll.model.request.load_request import Preparation
from plimsoll.model.run.fleet import WARMING_STEP, ServerCounters
from plimsoll.model.run.results import Preconditioning, SecondTotals, ServerFigures, StepResult
from plimsoll.workflow.precondition import add_round, needs_round
from tests.support.synthetic_run import synthetic_run

STEP = synthetic_run()[0].steps[0]
ASKED = Preparation(warm_s=20)
LEVEL = [600.0 + (7 * n) % 11 for n in range(20)]
RISING = [540.0 + 5 * n + (7 * n) % 11 for n in range(20)]


def ended(
    number: int, operations: Sequence[float], *, ios_per_operation: float | None = None
) -> StepResult:
    """A round of 20 s: successes of each second, and what InnoDB counted meanwhile."""
    rate = sum(operations) / len(operations)
    plan = STEP.plan.model_copy(
        update={
            "index": WARMING_STEP,
            "round": number,
            "duration_s": float(len(operations)),
            "server_before": ServerCounters(epoch_ms=0, values={}, family="mysql"),
        }
    )
    counters = (
        {}
        if ios_per_operation is None
        else dict.fromkeys(
            [f"Innodb_data_{name}" for name in ("reads", "fsyncs", "read", "written")], 0
        )
        | {"Innodb_data_writes": round(ios_per_operation * sum(operations))}
    )
    server = ServerFigures(
        interval_s=len(operations),
        counters=counters,
        gauges={},
        restarted=False,
        statements_by_clients=None,
        statements_by_server=None,
        buffer_pool_miss_share=None,
    )
    seconds = tuple(
        SecondTotals(
            epoch_s=1000 + n,
            step=WARMING_STEP,
            operation="update",
            succeeded=round(count),
            errors=0,
            max_us=None,
            buckets={},
        )
        for n, count in enumerate(operations)
    )
    step = STEP.step.model_copy(update={"throughput_ops_per_second": rate})
    return STEP.model_copy(
        update={"plan": plan, "server": server, "seconds": seconds, "step": step}
    )


def after(*rounds: StepResult) -> Preconditioning:
    so_far: Preconditioning | None = None
    for each in rounds:
        so_far = add_round(so_far, each)
    assert so_far is not None
    return so_far


def test_a_level_load_is_enough_at_once() -> None:
    so_far = after(ended(0, LEVEL))
    assert so_far.settled
    assert not needs_round(so_far, ASKED)
    assert so_far.text == "20 s of unmeasured load (1 round), and it had settled (605 ops/s)"


def test_a_load_that_rises_goes_on_until_it_is_level() -> None:
    """For 95 s after loading, ycsb-a rose from 540 to 640 ops/s."""
    rising = after(ended(0, RISING))
    assert needs_round(rising, ASKED)
    assert "20 s of unmeasured load (1 round): throughput still rose by 1" in rising.text
    assert not needs_round(after(ended(0, RISING), ended(1, LEVEL)), ASKED)


def test_short_rounds_are_compared_with_each_other() -> None:
    """8 s at 515 ops/s without a trend were followed by steps at 711."""
    waves = [480.0, 550, 510, 560, 450, 540, 520, 510]
    first = after(ended(0, waves))
    assert needs_round(first, Preparation(warm_s=8))
    assert "too short to tell" in first.text
    rising = after(ended(0, waves), ended(1, [1.3 * x for x in waves]))
    assert "throughput still rose by 30 % from the round before" in rising.text
    assert after(ended(0, waves), ended(1, [1.05 * x for x in waves])).settled


def test_ios_per_operation_have_to_settle_too() -> None:
    moving = after(ended(0, LEVEL, ios_per_operation=1.5), ended(1, LEVEL, ios_per_operation=1.9))
    # the first round had no trend, so that nothing asked for a second one; where one ran, it counts
    assert not moving.settled
    assert "I/Os per operation still rose by 26" in moving.text
    assert "1.90 I/Os per operation" in moving.text


@pytest.mark.parametrize(("most_s", "rounds"), [(None, 3), (20, 1), (59, 2), (100, 5), (0, 1)])
def test_what_never_settles_ends_all_the_same(most_s: float | None, rounds: int) -> None:
    asked = Preparation(warm_s=20, warm_max_s=most_s)
    so_far = after(ended(0, RISING))
    while needs_round(so_far, asked):
        so_far = add_round(so_far, ended(len(so_far.rounds), RISING))
    assert len(so_far.rounds) == rounds
    assert not so_far.settled


def test_a_round_that_is_judged_again_counts_once() -> None:
    assert len(after(ended(0, LEVEL), ended(0, LEVEL)).rounds) == 1


def test_a_round_in_which_nothing_was_measured_has_settled_nothing() -> None:
    silent = ended(0, LEVEL)
    nothing = silent.step.model_copy(update={"throughput_ops_per_second": None})
    seen = add_round(None, silent.model_copy(update={"step": nothing}))
    assert not seen.settled
    assert "nothing was measured of it" in seen.text


def test_a_round_of_too_few_seconds_for_a_trend_does_not_settle_it_alone() -> None:
    seen = add_round(None, ended(0, LEVEL[:5]))
    assert seen.rounds[0].trend is None
    assert not seen.settled
    assert "one round is too short to tell" in seen.text


def test_ios_are_divided_by_the_operations_of_the_same_time() -> None:
    """The counters are read before the clients come and after the last has gone."""
    done = ended(0, LEVEL, ios_per_operation=2.0)
    assert done.server is not None
    longer = done.server.model_copy(update={"interval_s": 3 * done.server.interval_s})
    (seen,) = add_round(None, done.model_copy(update={"server": longer})).rounds
    assert seen.ios_per_operation == pytest.approx(2.0)


def test_ios_that_a_server_does_not_tell_all_of_are_told_as_none_for_each_operation() -> None:
    done = ended(1, LEVEL)
    assert done.server is not None
    names = ("wal_writes", "wal_flushes", "wal_bytes", "checkpoint_buffers")
    server = done.server.model_copy(update={"counters": dict.fromkeys(names, 1_000)})
    before = ServerCounters(epoch_ms=0, values={}, family="postgres")
    plan = done.plan.model_copy(update={"server_before": before})
    so_far = after(done.model_copy(update={"plan": plan, "server": server}))
    assert so_far.rounds[0].ios_per_operation is None
    assert "I/Os" not in so_far.text
