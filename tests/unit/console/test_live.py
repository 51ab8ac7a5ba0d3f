"""A run as it goes on: what is new since a cursor, and where the run stands."""

from datetime import timedelta

import pytest

from plimsoll.console.live import Cursor, is_over, show_live
from plimsoll.errors import UsageError
from plimsoll.model.run.quote import Amounts, Quote
from plimsoll.model.run.run_record import Failure, Recovery, RunState
from plimsoll.workflow.past import rebuild_record
from tests.support.live_run import running_look, whole_steps
from tests.support.requested import quote_request
from tests.support.synthetic_run import START, synthetic_run

STEP_S = 15  # warm-up and window


def quote(expected_steps: float = 12) -> Quote:
    amounts = Amounts(least=1, expected=expected_steps, most=30)
    return Quote(
        region="us-east-1",
        as_of=None,
        phases=(),
        time_s=amounts,
        steps=amounts,
        lines=(),
        usd=None,
        missing=(),
        target_usd_per_hour=0.5,
        budget_usd=None,
        notes=(),
    )


def test_it_says_which_step_is_under_way_of_about_how_many() -> None:
    shown = show_live(running_look(4, quote=quote()), Cursor())
    assert shown.plan is not None
    assert shown.plan.sentence == "step 5 of about 12: 6 clients, 48 connections"
    assert (shown.plan.load, shown.plan.steps_expected, shown.plan.steps_most) == (6.0, 12, 30)
    assert shown.plan.then == "then the answer is confirmed by repetitions"


def test_more_steps_than_expected_are_not_said_to_be_of_fewer() -> None:
    shown = show_live(running_look(4, quote=quote(3)), Cursor())
    assert shown.plan is not None
    assert shown.plan.sentence == "step 5: 6 clients, 48 connections"
    assert shown.time.left_s is None


def test_the_time_left_is_of_this_step_and_those_expected_after_it() -> None:
    """Two seconds of the window of 12 are over; each later step takes 15 and 3 between two."""
    shown = show_live(running_look(4, quote=quote(7)), Cursor())
    assert shown.time.left_s == pytest.approx(10 + 3 + 2 * (STEP_S + 3), abs=0.01)
    assert shown.time.elapsed_s == (shown.at - START).total_seconds()
    assert shown.time.limit_left_s == shown.time.time_limit_s - shown.time.elapsed_s


def test_without_a_quote_nothing_is_guessed() -> None:
    shown = show_live(running_look(4), Cursor())
    assert (shown.time.left_s, shown.money.target_usd_per_hour) == (None, None)


def test_on_one_machine_nothing_is_spent() -> None:
    money = show_live(running_look(4, quote=quote()), Cursor()).money
    assert (money.basis, money.spent_usd, money.target_usd_per_hour) == ("as-if-on-aws", None, 0.5)


def test_on_aws_the_target_is_charged_from_its_creation_until_now() -> None:
    look = running_look(4)
    priced = quote_request(look.request)
    provision_at = look.at - timedelta(hours=2)
    on_aws = {"local": False, "provision_at": provision_at, "stack_id": "stack"}
    record = look.record.model_copy(update=on_aws)
    money = show_live(running_look(4, quote=priced, record=record), Cursor()).money
    assert (money.basis, money.target_usd_per_hour) == ("aws", priced.target_usd_per_hour)
    assert money.target_usd_per_hour is not None
    assert money.spent_usd is not None
    of_the_load = money.spent_usd - 2 * money.target_usd_per_hour
    assert 0 < of_the_load < 0.02  # ten clients for seconds, and the loaders


def test_a_price_that_is_missing_leaves_the_sum_unknown() -> None:
    look = running_look(4)
    priced = quote_request(look.request).model_copy(update={"missing": ("a price",)})
    record = look.record.model_copy(update={"local": False})
    assert show_live(running_look(4, quote=priced, record=record), Cursor()).money.spent_usd is None


def test_loads_are_judged_as_far_as_they_were_measured() -> None:
    shown = show_live(running_look(4), Cursor())
    assert [load.load for load in shown.loads] == [1.0, 2.0, 3.0, 4.0]
    assert [load.passed for load in shown.loads] == [True, True, True, False]
    assert shown.loads[-1].reasons[0] == "latency:update"
    assert shown.bracket == (3.0, 4.0)
    assert shown.limits_us["update"] == pytest.approx(3 * shown.loads[0].latency_us["update"])
    assert shown.axis == "clients"


def test_a_cursor_brings_what_is_new_alone() -> None:
    first = show_live(running_look(3), Cursor())
    after = Cursor.parse(first.cursor)
    assert after.step == 3
    then = show_live(running_look(4, after=3, sample_ms=after.sample_ms), after)
    assert [step.step for step in first.steps] == [1, 2, 3]
    assert [step.step for step in then.steps] == [4]
    assert set(then.seconds.step) == {4}
    assert len(then.loads) == 4  # a judgment may change: all of them, each time
    overlap = set(first.resources.epoch_s) & set(then.resources.epoch_s)
    assert overlap == {first.resources.epoch_s[-1]}  # it may have been half full


def test_a_look_without_news_leaves_the_cursor_where_it_was() -> None:
    after = Cursor(4, 1_000, 5)
    shown = show_live(running_look(4, after=4, samples=()), after)
    assert shown.cursor == "4.1000.5"
    assert (shown.steps, shown.seconds.epoch_s) == ((), ())


def test_the_width_of_bins_follows_the_time_so_far_and_stays_with_the_cursor() -> None:
    long_ago = running_look(4).record.model_copy(
        update={"submitted_at": START - timedelta(hours=10)}
    )
    assert show_live(running_look(4), Cursor()).every_s == 1
    thinned = show_live(running_look(4, record=long_ago), Cursor())
    assert thinned.every_s == 120  # 36,000 s in at most 600 bins
    assert show_live(running_look(4), Cursor.parse(thinned.cursor)).every_s == 120
    assert show_live(running_look(4, record=long_ago), Cursor(), points=2000).every_s == 30


def test_figures_of_the_target_have_no_narrower_bins_than_its_metrics() -> None:
    shown = show_live(running_look(4, period_s=60), Cursor())
    assert (shown.every_s, shown.resources.every_s) == (1, 60)


@pytest.mark.parametrize(
    "text", ["", "1", "1.2", "1.2.3.4", "-1.0.0", "1.0.x", "9" * 40, "1.999999999999999.1"]
)
def test_a_cursor_of_nobodys_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="after"):
        Cursor.parse(text)


def test_its_log_is_in_order_and_names_what_a_reader_has_to_know() -> None:
    look = running_look(2)
    odd = look.steps[1].model_copy(update={"problems": ("one client came late",)})
    shown = show_live(running_look(2, steps=[look.steps[0], odd]), Cursor())
    ids = [line.id for line in shown.log]
    assert ids[:2] == ["recorded", "provision"]
    assert ids[-6:] == [
        "step-1-planned",
        "step-1",
        "step-2-planned",
        "step-2",
        "step-2-problem-0",
        "step-3-planned",
    ]
    assert [line.text for line in shown.log if line.problem] == ["step 2: one client came late"]
    times = [line.at for line in shown.log]
    assert times == sorted(times)


def test_a_line_of_a_wait_changes_under_its_id() -> None:
    look = running_look(2)
    seen = Recovery(
        what="9 dirty pages", left=9, since_epoch_ms=1000, moved_epoch_ms=1000, seen_epoch_ms=4000
    )
    record = look.record.model_copy(update={"recovery": seen})
    [line] = [
        x for x in show_live(running_look(2, record=record), Cursor()).log if "recover" in x.id
    ]
    assert line.id == "recovery-1000"
    assert "9 dirty pages" in line.text


def test_teardown_is_told_stage_by_stage() -> None:
    look = running_look(4)
    asked = look.record.model_copy(update={"teardown_asked_at": look.at})
    shown = show_live(running_look(4, record=asked), Cursor())
    assert [stage.stage for stage in shown.teardown.stages] == ["asked", "deleting"]
    assert shown.plan is not None
    assert shown.plan.then is None
    gone = asked.model_copy(update={"deleted_at": look.at})
    shown = show_live(running_look(4, record=gone), Cursor())
    assert [stage.stage for stage in shown.teardown.stages] == ["asked", "seen deleted"]
    assert shown.teardown.gone


def test_a_teardown_that_failed_is_not_said_to_be_under_way() -> None:
    look = running_look(4)
    failed = look.record.model_copy(
        update={"teardown_asked_at": look.at, "teardown_error": "denied", "ended_at": look.at}
    )
    shown = show_live(running_look(4, record=failed), Cursor())
    assert [stage.stage for stage in shown.teardown.stages] == ["asked", "failed"]
    assert not shown.teardown.gone


def test_at_its_end_it_is_the_report() -> None:
    result, seconds = synthetic_run()
    record = rebuild_record(result, past=False)
    ended = running_look(
        8,
        record=record,
        result=result,
        steps=whole_steps(result, seconds),
        samples=seconds.target,
    )
    shown = show_live(ended, Cursor())
    assert shown.answer is not None
    assert shown.answer.tag == "knee found"
    assert shown.answer.sentence.startswith("is the most that this database sustains")
    assert shown.teardown.gone
    assert shown.time.limit_left_s is None
    assert shown.run.bound == "="
    assert shown.log[-1].text == "ended: SUCCEEDED, KNEE"
    assert is_over(shown)


def test_a_failure_is_in_the_log() -> None:
    look = running_look(4)
    failure = Failure(phase="step", error="StepError", cause="no client ran")
    failed = look.record.model_copy(
        update={"state": RunState.FAILED, "failure": failure, "ended_at": look.at}
    )
    shown = show_live(running_look(4, record=failed), Cursor())
    assert [line.text for line in shown.log if line.problem] == ["StepError: no client ran"]
    assert not is_over(shown)  # its results are still to come


def test_nothing_measured_yet_is_nothing_judged() -> None:
    look = running_look(0)
    record = look.record.model_copy(update={"step": None, "step_at": None})
    shown = show_live(running_look(0, record=record, plan=None, caps=None), Cursor())
    assert (shown.plan, shown.bracket, shown.caps, shown.answer) == (None, None, None, None)
    assert (shown.loads, shown.limits_us) == ((), {})
