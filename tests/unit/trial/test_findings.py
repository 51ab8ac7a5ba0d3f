"""What a canary asserts of its run: each assertion is seen to hold, and to fail where it should."""

from typing import Any

import pytest

from plimsoll.model.run.results import RunResult
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.trial.place import Left
from plimsoll.trial.trial import ANSWERS, METRICS, check_nothing_left, check_result
from tests.support.synthetic_run import synthetic_run

RUN, _ = synthetic_run()
VERDICT = "the verdict is an answer"
LIMIT = "what limits is named"
THERE = "the target's metrics are there"
DELETED = "the target was seen deleted"
ALL = [VERDICT, LIMIT, THERE, DELETED]


def changed(**changes: Any) -> RunResult:
    """The run, with a field changed however deep: `moments__deleted`."""
    whole = RUN
    for path, value in changes.items():
        outer, _, inner = path.partition("__")
        new = getattr(whole, outer).model_copy(update={inner: value}) if inner else value
        whole = whole.model_copy(update={outer: new})
    return whole


def without_metrics(name: str | None, index: int = 2) -> RunResult:
    """The run, a step of which has no such metric; None: none at all."""
    steps = list(RUN.steps)
    target = steps[index].target
    assert target is not None
    lacking = target.model_copy(update={name: None}) if name else None
    steps[index] = steps[index].model_copy(update={"target": lacking})
    return changed(steps=tuple(steps))


def failing(run: RunResult) -> list[str]:
    return [finding.what for finding in check_result(run) if not finding.holds]


def test_all_of_it_is_asserted_and_holds_for_a_whole_run() -> None:
    assert [finding.what for finding in check_result(RUN)] == ALL
    assert failing(RUN) == []


@pytest.mark.parametrize("verdict", ["CLIENT_BOUND", "NOISY", "INCONSISTENT"])
def test_a_verdict_without_an_answer_is_none(verdict: str) -> None:
    assert failing(changed(capacity__verdict=verdict)) == [VERDICT]


@pytest.mark.parametrize("verdict", ANSWERS)
def test_any_answer_will_do(verdict: str) -> None:
    assert failing(changed(capacity__verdict=verdict)) == []


def test_a_run_that_failed_says_why() -> None:
    failure = Failure(phase="provision", error="TargetCreationError", cause="no such class here")
    failed = changed(state=RunState.FAILED, failure=failure, capacity=None, limiting=None, steps=())
    assert failing(failed) == [VERDICT, LIMIT, THERE]
    assert check_result(failed)[0].seen == "FAILED: no such class here"


def test_a_limit_that_is_not_named_is_seen() -> None:
    assert failing(changed(limiting__resource="unknown")) == [LIMIT]


@pytest.mark.parametrize("name", METRICS)
def test_one_missing_metric_of_one_step_is_seen(name: str) -> None:
    run = without_metrics(name)
    assert failing(run) == [THERE]
    assert f"step 3: no {name}" in next(f.seen for f in check_result(run) if f.what == THERE)


def test_a_step_without_any_point_is_seen() -> None:
    assert failing(without_metrics(None)) == [THERE]


def test_a_void_step_needs_no_metrics() -> None:
    run = without_metrics(None)
    steps = list(run.steps)
    void = steps[2].step.model_copy(update={"void": "nobody came"})
    steps[2] = steps[2].model_copy(update={"step": void})
    assert failing(run.model_copy(update={"steps": tuple(steps)})) == []


def test_a_target_whose_deletion_was_not_seen_is_told() -> None:
    assert failing(changed(moments__deleted=None)) == [DELETED]


def test_what_is_left_is_named() -> None:
    assert check_nothing_left("the target", []).holds
    left = check_nothing_left("the target", [Left("arn:aws:rds:::db:plimsoll-r1", "aws rds ...")])
    assert not left.holds
    assert "arn:aws:rds:::db:plimsoll-r1" in left.seen
