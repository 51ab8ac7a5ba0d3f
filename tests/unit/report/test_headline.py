"""The sentence on top says what was found, with its bound, and never more."""

from datetime import date

import pytest

from plimsoll.capacity.judge import judge
from plimsoll.model.judging.capacity import Rules
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.expectations import Expectation
from plimsoll.model.run.quote import RunCost
from plimsoll.model.run.results import Candidate, LimitingResource, RunResult
from plimsoll.model.run.run_record import Failure, RunState
from plimsoll.quoting.costs import compute_usd_per_million
from plimsoll.report.headline import build_headline
from tests.support.judged import judged
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()


def with_steps(*steps: tuple[int, float, float]) -> RunResult:
    """Steps of clients, ops/s and p99 in microseconds."""
    return RESULT.model_copy(update={"capacity": judged(*steps), "limiting": None})


def test_what_became_of_a_rule_is_a_fact() -> None:
    met = Expectation(rule="capacity >= 1", answer="met", because="the capacity is 2 ops/s")
    facts = build_headline(RESULT.model_copy(update={"expect": (met,)})).facts
    assert ("Expected", "capacity >= 1: met; the capacity is 2 ops/s") in facts
    assert "Expected" not in dict(build_headline(RESULT).facts)


def test_a_knee_is_a_figure_with_interval_bracket_and_resource() -> None:
    found = build_headline(RESULT)
    capacity = RESULT.capacity
    assert capacity is not None
    assert capacity.max_sustainable_throughput_ops_per_second is not None
    assert found.figure == f"{capacity.max_sustainable_throughput_ops_per_second:,.0f}"
    assert found.tag == "knee found"
    assert found.decided
    assert capacity.interval is not None
    low, high = (
        f"{end:,.0f}"
        for end in (capacity.interval.low_ops_per_second, capacity.interval.high_ops_per_second)
    )
    assert found.sentence == (
        "MariaDB 11.4.5 on this machine, for MariaDB 11.4.5 on db.m6i.large, io1 100 GiB,"
        f" 1,000 IOPS {capacity.summary};"
        f" the 95 % interval is {low} to {high} ops/s; storage set the limit."
    )
    facts = dict(found.facts)
    assert facts["Bracket"] == "passes at 3 clients, fails at 4 clients"
    assert facts["Edge"].startswith("most steps fail from a load between 3 and ")
    assert "clients on (90 % interval" in facts["Edge"]
    assert "4 repetitions" in facts["95 % interval"]
    assert "update p99 2.58 ms (limit 6.74 ms)" in facts["Latency at this load"]


def test_the_answer_is_one_sentence_that_goes_on_from_the_figure() -> None:
    """It says no figure twice, and what it costs stands below."""
    found = build_headline(RESULT, usd_per_hour=1.0)
    assert found.brief == (
        "is the most that this database sustains, with a p99 latency of 1.84 ms for read (limit"
        " 4.96 ms) and 2.58 ms for update (limit 6.74 ms). Storage set the limit."
    )
    at_least = build_headline(with_steps((1, 2000, 500), (2, 4000, 520))).brief
    assert (
        "sustains at least, with a p99 latency of 520 µs for read (limit 1.00 ms); no load"
        in at_least
    )
    too_much = build_headline(with_steps((2, 2000, 5000), (4, 2100, 9000))).brief
    assert too_much.startswith("is more than this database sustains")
    assert "set the limit" not in too_much
    nothing = RESULT.model_copy(update={"capacity": None, "limiting": None})
    assert build_headline(nothing).brief == build_headline(nothing).sentence


def test_of_many_operations_the_answer_names_none() -> None:
    capacity = with_steps((1, 2000, 500), (2, 4000, 520), (4, 4100, 5000)).capacity
    assert capacity is not None
    many = dict.fromkeys(["a", "b", "c", "d"], 500.0)
    changed = {"latency_us": many, "limit_us": many}
    loads = [step.model_copy(update=changed) for step in capacity.steps]
    found = build_headline(
        RESULT.model_copy(update={"capacity": capacity.model_copy(update={"steps": tuple(loads)})})
    )
    assert ", with the p99 of each of its 4 operations within its limit." in found.brief


def test_a_lower_bound_is_never_shown_as_a_maximum() -> None:
    found = build_headline(with_steps((1, 2000, 500), (2, 4000, 520)))
    assert found.figure == "≥ 4,000"
    assert found.tag == "lower bound only"
    assert not found.decided


def test_a_first_step_that_fails_gives_an_upper_bound_and_no_price() -> None:
    result = with_steps((2, 2000, 5000), (4, 2100, 9000))
    found = build_headline(result, usd_per_hour=1.0)
    assert found.figure == "< 2,000"
    assert "per million" not in found.sentence


def test_the_price_of_a_million_operations() -> None:
    result = with_steps((1, 2000, 500), (2, 4000, 520), (4, 4100, 5000))
    assert compute_usd_per_million(result.capacity, 0.72) == pytest.approx(0.05)
    assert "$0.05 per million operations" in build_headline(result, usd_per_hour=0.72).sentence
    assert "$" not in build_headline(result).sentence


def test_a_verdict_without_a_figure_says_so_of_the_target_and_names_no_limit() -> None:
    """Nothing was reached whose limit there could be, and no figure for an interval to be of."""
    alike = dict.fromkeys(("p99",), 500.0)
    made = [
        Step(
            clients=1,
            connections=100,
            throughput_ops_per_second=figure,
            latency_us={"read": alike},
        )
        for figure in (1000.0, 2000.0, 3000.0)
    ]
    noisy = judge(made, Rules(limits_us={"read": 1000}, confirmation=None))
    unknown = LimitingResource(resource="unknown", host_bound=None, step=4, evidence=())
    found = build_headline(RESULT.model_copy(update={"capacity": noisy, "limiting": unknown}))
    assert (found.tag, found.figure, found.decided) == ("too noisy", None, False)
    assert "1,000 IOPS: no figure can be given: 3 repetitions" in found.sentence
    assert "do not show what set the limit" not in found.sentence
    facts = dict(found.facts)
    assert "Limited by" not in facts
    assert "figure above" not in facts["95 % interval"]


def test_a_lower_bound_is_told_what_is_nearest_to_its_limit() -> None:
    open_end = with_steps((1, 2000, 500), (2, 4000, 520))
    nearest = LimitingResource(
        resource="cpu", reached=False, share=0.62, to_change="a larger class",
        second=Candidate(
            resource="log", share=0.3, threshold=0.8, reached=False, evidence="", to_change="more"
        ),
        host_bound=None, step=2, evidence=(),
    )  # fmt: skip
    found = build_headline(open_end.model_copy(update={"limiting": nearest}))
    assert "set the limit" not in found.sentence
    assert found.sentence.endswith(
        "; nothing that was measured was at its limit; closest: CPU (62 %)."
    )
    facts = dict(found.facts)
    assert facts["Nearest to its limit"] == "CPU, 62 % (step 2)"
    assert facts["Remedy"] == "a larger class"
    assert facts["Next limit"] == "redo log, 30 %; remedy: more"


def test_a_limit_that_cannot_be_told_is_said_so_where_one_was_reached() -> None:
    unknown = LimitingResource(resource="unknown", host_bound=None, step=2, evidence=())
    knee = with_steps((1, 2000, 500), (2, 2000, 5000)).model_copy(update={"limiting": unknown})
    assert "do not show what set the limit" in build_headline(knee).sentence
    bound = with_steps((1, 2000, 500)).model_copy(update={"limiting": unknown})
    assert "do not show what" not in build_headline(bound).sentence


def test_a_run_that_failed_says_where_and_why() -> None:
    failed = RESULT.model_copy(
        update={
            "capacity": None,
            "limiting": None,
            "state": RunState.FAILED,
            "failure": Failure(phase="prepare", error="LoadError", cause="the disk is full"),
        }
    )
    found = build_headline(failed)
    assert found.figure is None
    assert not found.decided
    assert found.sentence == "The run ended FAILED in its prepare phase: the disk is full."


def costed(*, local: bool, usd: float | None = 0.4) -> RunResult:
    cost = RunCost(
        basis="as-if-on-aws" if local else "aws",
        usd=None if local else usd,
        items=(),
        missing=() if usd is not None else ("rds-iops io2",),
        target_usd_per_hour=0.72,
        usd_per_million_operations=0.05,
        region="us-east-1",
        as_of=date(2026, 9, 24),
        method="test",
    )
    result = with_steps((1, 2000, 500), (2, 4000, 520), (4, 4100, 5000))
    return result.model_copy(update={"cost": cost, "local": local})


def test_a_run_on_aws_is_priced_by_its_own_estimate() -> None:
    found = build_headline(costed(local=False))
    assert "; that is $0.05 per million operations." in found.sentence
    facts = dict(found.facts)
    assert facts["Cost"].endswith("at $0.72 an hour, list price of us-east-1, 2026-09-24")
    assert facts["The run"] == "$0.40, estimated by list prices of us-east-1 (2026-09-24)"
    unknown = build_headline(costed(local=False, usd=None))
    assert dict(unknown.facts)["The run"] == "not known: no price for rds-iops io2"


def test_on_one_machine_the_price_is_said_to_be_that_of_such_a_target() -> None:
    found = build_headline(costed(local=True))
    assert "per million operations at the AWS list price of such a target." in found.sentence
    facts = dict(found.facts)
    assert "of such a target, with this machine's throughput" in facts["Cost"]
    assert "The run" not in facts  # nothing was spent


def test_a_price_that_was_given_stands_before_the_estimate() -> None:
    found = build_headline(costed(local=True), usd_per_hour=1.44)
    assert "; that is $0.10 per million operations." in found.sentence
    assert dict(found.facts)["Cost"].endswith("at $1.44 an hour, as given")
