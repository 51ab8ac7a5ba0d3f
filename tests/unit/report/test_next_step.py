"""What to do next: a prediction only where it has its grounds, and marked as one."""

from typing import Any, get_args

import pytest

from plimsoll.model.judging.capacity import Verdict
from plimsoll.model.judging.verdicts import find_verdict_facts
from plimsoll.model.run.results import RunResult
from plimsoll.report.headline import predict_more_iops, suggest_next_step
from plimsoll.report.page import answer_first_questions
from tests.support.synthetic_run import synthetic_run

PLAIN, _ = synthetic_run()
assert PLAIN.capacity is not None
STEP = 4


def limited(
    *,
    iops: float = 990,
    throughput: float = 33_000,
    cpu: float = 40,
    provisioned: int = 1000,
    **limiting: Any,
) -> RunResult:
    """The run with a step whose volume did so many I/Os per second, a third of them reads."""
    assert PLAIN.limiting is not None
    named = {"resource": "storage_iops", "reached": True, "share": 0.99, "step": STEP} | limiting
    steps = []
    for step in PLAIN.steps:
        assert step.target is not None
        done = {"read_iops": iops / 3, "write_iops": iops * 2 / 3, "cpu_percent": cpu}
        measured = step.step.model_copy(update={"throughput_ops_per_second": throughput})
        changed = {"target": step.target.model_copy(update=done), "step": measured}
        steps.append(step.model_copy(update=changed if step.plan.index == STEP else {}))
    target = PLAIN.request.target
    volume = target.volume.model_copy(update={"iops": provisioned})  # type: ignore[union-attr]
    request = PLAIN.request.model_copy(
        update={"target": target.model_copy(update={"volume": volume})}
    )
    found = PLAIN.limiting.model_copy(update=named)
    return PLAIN.model_copy(update={"limiting": found, "steps": tuple(steps), "request": request})


@pytest.mark.parametrize(
    ("iops", "throughput", "provisioned", "more", "carried"),
    [
        (990, 33_000, 1000, 2000, 66_666.7),
        (2000, 50_000, 2000, 4000, 100_000),
        (4900, 49_000, 5000, 5000, None),  # io1 has 50 IOPS for each GiB, and no more
        (3950, 39_500, 4000, 5000, 50_000),
    ],
)
def test_more_iops_carry_what_the_forced_flow_law_says(
    iops: float, throughput: float, provisioned: int, more: int, carried: float | None
) -> None:
    found = predict_more_iops(limited(iops=iops, throughput=throughput, provisioned=provisioned))
    if carried is None:
        assert found is None
    else:
        assert found is not None
        assert found.iops == more
        assert found.throughput_ops_per_second == pytest.approx(carried, rel=1e-4)


def test_the_sentence_is_marked_and_says_what_it_rests_on() -> None:
    told = suggest_next_step(limited())
    assert "Predicted, not measured: 2,000 IOPS instead of 1,000 would carry at most" in told
    assert "about 66,667 ops/s (forced-flow law, 0.03 I/Os per operation in step 4)" in told
    assert "if nothing else limits it first" in told


def test_where_a_period_of_the_metrics_is_longer_than_the_window_the_warm_up_is_told() -> None:
    """CloudWatch's minute of a window of 12 s holds what was before the window, too."""
    whole = limited()
    steps = tuple(
        step.model_copy(
            update={"target": step.target and step.target.model_copy(update={"period_s": 60})}
        )
        for step in whole.steps
    )
    told = suggest_next_step(whole.model_copy(update={"steps": steps}))
    assert "0.03 I/Os per operation in step 4, I/Os counted over its warm-up too)" in told
    assert "warm-up" not in suggest_next_step(whole)


def test_processors_that_would_be_full_before_are_named() -> None:
    assert "but the CPUs would be full at about 41,250 ops/s" in suggest_next_step(limited(cpu=80))


@pytest.mark.parametrize(
    "ungrounded",
    [
        limited(resource="cpu"),
        limited(reached=False),
        limited(reached=None),
        limited(iops=500),  # the instance's own credits were spent, not the volume's IOPS
        limited(step=None),
        limited(throughput=0),
        limited(throughput=3300),  # it carried more before it fell
        PLAIN,
    ],
)
def test_without_grounds_nothing_is_predicted(ungrounded: RunResult) -> None:
    assert predict_more_iops(ungrounded) is None
    assert "Predicted" not in suggest_next_step(ungrounded)


def test_an_unknown_part_of_the_io_predicts_nothing() -> None:
    whole = limited()
    steps = tuple(
        step.model_copy(
            update={"target": step.target and step.target.model_copy(update={"read_iops": None})}
        )
        for step in whole.steps
    )
    assert predict_more_iops(whole.model_copy(update={"steps": steps})) is None


def test_every_verdict_has_a_next_step() -> None:
    for verdict in get_args(Verdict):
        assert PLAIN.capacity is not None
        capacity = PLAIN.capacity.model_copy(update={"verdict": verdict})
        result = PLAIN.model_copy(update={"capacity": capacity, "limiting": None})
        assert suggest_next_step(result).startswith(find_verdict_facts(verdict).next_step)


def test_a_lower_bound_names_the_load_beyond_which_to_search() -> None:
    assert PLAIN.capacity is not None
    capacity = PLAIN.capacity.model_copy(update={"verdict": "LOWER_BOUND"})
    result = PLAIN.model_copy(update={"capacity": capacity})
    assert suggest_next_step(result).endswith("the limit lies beyond 8 clients")


def test_what_to_do_next_stands_first_and_what_the_facts_say_is_not_said_again() -> None:
    ((question, answer),) = answer_first_questions(limited(), usd_per_hour=0.72)
    assert question == "What to do next"
    assert "Predicted, not measured" in answer


def test_what_is_not_known_says_so() -> None:
    assert PLAIN.capacity is not None
    once = PLAIN.capacity.model_copy(update={"interval": None})
    changed = {"limiting": None, "capacity": once}
    answers = dict(answer_first_questions(PLAIN.model_copy(update=changed)))
    assert answers["How sure"] == "measured once, so there is no interval"
    assert answers["What limits it"].startswith("not known")
    assert answers["What it costs"] == "not known: no cost was estimated"
