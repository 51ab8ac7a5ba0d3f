"""Pairs of steps with and without the background say what it takes, and how sure that is."""

from typing import Any

import pytest

from plimsoll.capacity.beside import WITH, WITHOUT, measure_background_cost, plan_run_step
from plimsoll.model.judging.steps import Step
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import Done, NextStep
from tests.support.requested import REQUESTED

SCAN = {"name": "nightly", "workload": {"name": "batch-full-scan", "records": 5000}}


def request(**changes: Any) -> Request:
    return Request.model_validate(
        {
            **REQUESTED,
            "limits": {"confirmation": None},
            "background": [SCAN],
            "background_pairs": 3,
            **changes,
        }
    )


def answered(asked: NextStep, throughput: float, p99_us: float = 900.0) -> Step:
    return Step(
        purpose=asked.purpose,
        state=asked.state,
        clients=asked.clients,
        connections=asked.connections,
        rate_ops_per_second=asked.rate_ops_per_second,
        throughput_ops_per_second=throughput,
        operations=100_000,
        errors=0,
        window_s=60,
        latency_us={"read": {"p99": p99_us}},
    )


def run(asked: Request, throughputs: dict[str | None, float]) -> list[Step]:
    """Steps until the search is done, each with the throughput of its purpose."""
    steps: list[Step] = []
    while isinstance(following := plan_run_step(asked, steps), NextStep):
        assert following.index == len(steps)
        rate = throughputs.get(following.purpose, 1000.0 * following.clients)
        steps.append(answered(following, rate))
    return steps


def pairs(
    *ratios: float, p99s: tuple[float, float] = (1000.0, 1000.0), **changes: Any
) -> list[Step]:
    """Steps in the order in which a run takes them, one pair for each ratio."""
    steps = []
    for number, ratio in enumerate(ratios):
        both = [
            Step(
                purpose=purpose,
                connections=8,
                throughput_ops_per_second=rate,
                latency_us={"read": {"p99": p99}},
                **changes,
            )
            for purpose, rate, p99 in ((WITH, 1000 * ratio, p99s[1]), (WITHOUT, 1000.0, p99s[0]))
        ]
        steps += both[:: -1 if number % 2 else 1]
    return steps


def test_pairs_follow_the_answer_at_its_load_and_take_turns() -> None:
    steps = run(request(), {})
    paired = [step for step in steps if step.purpose in (WITH, WITHOUT)]
    assert steps[-6:] == paired
    assert [step.purpose for step in paired] == [WITH, WITHOUT, WITHOUT, WITH, WITHOUT, WITH]
    assert {step.clients for step in paired} == {2}, "the answer's load: nothing failed at two"


def test_the_target_recovers_before_each() -> None:
    steps = run(request(background_pairs=0), {})
    following = plan_run_step(request(), steps)
    assert isinstance(following, NextStep)
    assert following.recover_first


@pytest.mark.parametrize("changes", [{"background": []}, {"background_pairs": 0}])
def test_none_are_asked_for_without_a_background_or_where_they_are_not_wanted(
    changes: dict[str, Any],
) -> None:
    steps = run(request(**changes), {})
    assert not [step for step in steps if step.purpose in (WITH, WITHOUT)]


def test_they_are_no_part_of_the_searchs_probes() -> None:
    search = {**REQUESTED["search"], "probes_max": 2}
    steps = run(request(search=search), {})
    assert len(steps) == 2 + 6


def test_beside_a_toggle_they_come_after_it_in_the_state_of_the_answer() -> None:
    states = [
        {"name": name, "parameters": {"innodb_doublewrite": name.upper()}} for name in ("on", "off")
    ]
    search = {**REQUESTED["search"], "probes_max": 20}
    steps = run(request(search=search, toggle={"states": states, "pairs": 3}), {})
    purposes = [step.purpose for step in steps]
    assert purposes[-12:] == ["toggle"] * 6 + [WITH, WITHOUT, WITHOUT, WITH, WITHOUT, WITH]
    assert {step.state for step in steps[-6:]} == {"on"}


def test_a_void_step_is_measured_again_but_not_for_ever() -> None:
    asked, steps = request(), run(request(background_pairs=0), {})
    while isinstance(following := plan_run_step(asked, steps), NextStep):
        void = answered(following, 0).model_copy(update={"void": "nobody came"})
        steps.append(void)
        assert following.purpose == WITH, "the one that said nothing"
    assert len([step for step in steps if step.purpose == WITH]) == 6 + 2
    assert isinstance(following, Done)


def test_without_an_answer_they_are_at_the_lightest_load() -> None:
    limits = {"confirmation": None, "limits_us": {"read": 1.0}}
    paired = [s for s in run(request(limits=limits), {}) if s.purpose == WITH]
    assert {step.clients for step in paired} == {1}


def test_what_it_takes_is_the_ratio_of_throughputs() -> None:
    found = measure_background_cost(request(), pairs(0.60, 0.62, 0.64))
    assert found is not None
    assert found.throughput.ratio == pytest.approx((0.60 * 0.62 * 0.64) ** (1 / 3))
    assert found.throughput.pairs == 3
    assert found.detail == (
        "nightly costs 38 % of the throughput (95 % interval [33, 43] %); read p99 is 1.00 [1.00,"
        " 1.00] times as long; at 8 connections (3 pairs of steps with and without it)"
    )


def test_the_order_within_a_pair_does_not_matter() -> None:
    steps = pairs(0.5, 0.5, 0.5, 0.5)
    found = measure_background_cost(request(), steps)
    assert found is not None
    assert found.throughput.ratio == pytest.approx(0.5)


def test_what_cannot_be_told_from_nothing_is_not_called_a_loss() -> None:
    found = measure_background_cost(request(), pairs(0.90, 1.02, 1.10))
    assert found is not None
    assert "no measurable share of the throughput" in found.detail


def test_two_pairs_have_no_interval() -> None:
    found = measure_background_cost(request(), pairs(0.5, 0.5))
    assert found is not None
    assert found.throughput.low is None
    assert found.detail.startswith("nightly costs 50 % of the throughput; ")


def test_an_open_loop_tells_latencies() -> None:
    steps = pairs(1.0, 1.0, 1.0, p99s=(1000.0, 4200.0), rate_ops_per_second=300.0)
    found = measure_background_cost(request(background=[SCAN, {**SCAN, "name": "backup"}]), steps)
    assert found is not None
    assert found.latency["read"].ratio == pytest.approx(4.2)
    assert found.detail == (
        "with nightly and backup, read p99 is 4.20 [4.20, 4.20] times as long; at 300 ops/s (3"
        " pairs of steps with and without it)"
    )


def test_a_half_pair_is_left_out_and_none_says_so() -> None:
    assert measure_background_cost(request(), []) is None
    found = measure_background_cost(request(), pairs(0.5)[:1])
    assert found is not None
    assert found.throughput.ratio is None
    assert found.detail == "the cost of nightly is not known: no pair of steps counts"
    found = measure_background_cost(request(), pairs(0.5, 0.5, 0.5, 0.1)[:7])
    assert found is not None
    assert found.throughput.pairs == 3


def disturbed(step: Step) -> Step:
    return step.model_copy(update={"host_others_percent": 90.0, "source": "steps/7"})


def test_a_step_that_an_audit_disputes_is_measured_again() -> None:
    """Others had the machine: what its pair showed would be told as what the background takes."""
    asked, steps = request(), run(request(background_pairs=0), {})
    while isinstance(following := plan_run_step(asked, steps), NextStep):
        paired = [step for step in steps if step.purpose in (WITH, WITHOUT)]
        rate = 500.0 if following.purpose == WITH else 1000.0
        step = answered(following, 10.0 if len(paired) == 2 else rate)
        steps.append(disturbed(step) if len(paired) == 2 else step)
    purposes = [step.purpose for step in steps if step.purpose in (WITH, WITHOUT)]
    assert purposes == [WITH, WITHOUT, WITHOUT, WITHOUT, WITH, WITHOUT, WITH]
    found = measure_background_cost(asked, steps)
    assert found is not None
    assert found.throughput.ratio == pytest.approx(0.5)
    assert found.throughput.pairs == 3


def test_where_all_are_disputed_it_says_why() -> None:
    found = measure_background_cost(request(), [disturbed(step) for step in pairs(0.5, 0.5, 0.5)])
    assert found is not None
    assert found.detail.startswith("the cost of nightly is not known: step 7: ")
    assert "90" in found.detail


def test_a_step_that_is_disputed_afterwards_costs_its_pair_alone() -> None:
    """On AWS the target's metrics come late: no audit by them is there while pairs are measured."""
    steps = pairs(0.5, 0.6, 0.5, 0.5)
    steps[1] = disturbed(steps[1])
    found = measure_background_cost(request(background_pairs=4), steps)
    assert found is not None
    assert found.throughput.ratio == pytest.approx(0.5), "of steps next to each other"
    assert found.throughput.pairs == 3
    assert found.detail.endswith("; only 3 of 4 pairs could be measured")
