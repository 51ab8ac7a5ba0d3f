"""What lasts, and what only credits pay for."""

from typing import Any

import pytest

from plimsoll.capacity.credits import BUCKETS, _describe_spending, judge_sustained
from plimsoll.model.judging.capacity import Capacity, Confirmation, LoadRange, Rules
from plimsoll.model.judging.steps import CreditUse, Step
from tests.unit.capacity.samples import GP2_FULL, gp2, offered, step

ONCE = Rules(confirmation=None, limits_us={"update": 300})


def test_what_lasts_and_what_credits_pay_for_are_two_figures() -> None:
    steps = [
        offered(200, 200, **gp2(150)),
        offered(300, 300, **gp2(225)),
        offered(800, 800, **gp2(600)),
        offered(4000, 4000, **gp2(3000)),
        offered(5000, 4000, p99_us=900, **gp2(3000)),
    ]
    capacity = judge_sustained(steps, ONCE)
    assert (capacity.verdict, capacity.bound) == ("LOWER_BOUND", ">=")
    assert capacity.max_sustainable_throughput_ops_per_second == 300
    assert capacity.bracket == (300, 800), "800 a second passed on credits alone"
    assert capacity.burst is not None
    assert (capacity.burst.verdict, capacity.burst.max_throughput_ops_per_second) == ("KNEE", 4000)
    assert capacity.burst.lasts_s == pytest.approx(GP2_FULL / 2700)
    assert "33 min 20 s from a full bucket (the volume's burst credits; computed" in (
        capacity.burst.summary
    )


def test_where_nothing_failed_the_lightest_load_that_spent_credits_bounds_what_lasts() -> None:
    steps = [step(1, 250, **gp2(200)), step(2, 500, **gp2(400)), step(4, 1000, **gp2(800))]
    capacity = judge_sustained(steps, ONCE)
    assert (capacity.verdict, capacity.bound) == ("LOWER_BOUND", ">=")
    assert (capacity.max_sustainable_throughput_ops_per_second, capacity.bracket) == (250, (1, 2))
    assert capacity.cause == "credits"
    assert "heavier loads spent credits" in capacity.summary
    by_load = {judged.load: judged.reasons for judged in capacity.steps}
    assert by_load == {1: (), 2: ("credits",), 4: ("credits",)}
    assert "steps" in capacity.notes[0]


def test_where_every_load_spends_credits_there_is_no_figure_for_what_lasts() -> None:
    """Searches on gp2 claimed 3,000 IOPS' worth where 300 last."""
    capacity = judge_sustained([step(1, 1000, **gp2(800)), step(4, 4000, **gp2(3000))], ONCE)
    assert capacity.verdict == "BURST"
    assert capacity.max_sustainable_throughput_ops_per_second is None
    assert capacity.bound is None
    assert capacity.burst is not None
    assert capacity.burst.max_throughput_ops_per_second == 4000


def test_credits_that_run_out_under_way_are_no_noise() -> None:
    """The same load passes with credits and fails without: two answers, each with its cause."""
    rules = Rules(limits_us={"update": 300}, confirmation=Confirmation(least=3, most=5))
    numbered = [
        *(step(4, 4000, **gp2(3000)) for _ in range(3)),
        step(4, 2000, p99_us=800, **gp2(1800, 0.0)),
        *(step(4, 400, p99_us=9000, **gp2(300, 0.0)) for _ in range(2)),
        *(step(1, 400, p99_us=250, **gp2(300, 0.0)) for _ in range(3)),
    ]
    steps = [s.model_copy(update={"index": n}) for n, s in enumerate(numbered, 1)]
    capacity = judge_sustained(steps, rules)
    assert (capacity.verdict, capacity.cause) == ("KNEE", "latency:update")
    assert capacity.max_sustainable_throughput_ops_per_second == 400
    assert capacity.burst is not None
    assert capacity.burst.verdict == "LOWER_BOUND"
    assert capacity.burst.max_throughput_ops_per_second == pytest.approx(4000)
    assert "step 4: spent what was left of the volume's burst credits" in capacity.notes
    assert any(
        note.startswith("steps 5, 6") and note.endswith("used up") for note in capacity.notes
    )


def test_an_unrepeated_load_that_lasts_has_its_mean_and_a_note() -> None:
    rules = Rules(limits_us={"update": 300})
    steps = [step(1, 250, **gp2(200)), *(step(4, 4000, **gp2(3000)) for _ in range(5))]
    capacity = judge_sustained(steps, rules)
    assert (capacity.verdict, capacity.figure) == ("LOWER_BOUND", "mean")
    assert any("a mean" in note for note in capacity.notes)


@pytest.mark.parametrize("uses", [{}, gp2(300, 0.0), gp2(308)])
def test_without_spending_the_answer_is_as_ever(uses: dict[str, Any]) -> None:
    capacity = judge_sustained([step(1, 1000, **uses), step(2, 2000, **uses)], ONCE)
    assert capacity.burst is None
    assert capacity.max_sustainable_throughput_ops_per_second == 2000


def test_the_bucket_that_is_empty_first_says_how_long_it_lasts() -> None:
    cpu = CreditUse(bucket="cpu", used_per_s=1 / 60, earned_per_s=0.6 / 60, full=864)
    both: dict[str, Any] = {"credits": (*gp2(3000)["credits"], cpu)}
    capacity = judge_sustained([step(1, 250, **gp2(200)), step(4, 4000, **both)], ONCE)
    assert capacity.burst is not None
    assert capacity.burst.bucket == "volume"
    assert capacity.burst.lasts_s == pytest.approx(2000)


def test_relative_limits_are_those_of_the_lightest_load_with_credits() -> None:
    steps: list[Step] = [
        step(1, 1000, p99_us=100, **gp2(800)),
        step(1, 300, p99_us=3000, **gp2(300, 0.0)),
        step(2, 300, p99_us=6000, **gp2(300, 0.0)),
    ]
    capacity = judge_sustained(steps, Rules(confirmation=None))
    assert capacity.verdict == "BELOW_FIRST_STEP", "3 ms are no baseline of a volume at rest"


def edge_of(capacity: Capacity) -> LoadRange:
    assert capacity.edge is not None
    return capacity.edge


def test_relative_limits_are_as_unsure_where_credits_are_judged_apart() -> None:
    """A heavier load that passed on credits changes nothing below it."""
    seen = {1: (100, 104, 97), 8: (270, 285), 10: (330, 345)}
    steps = [step(n, 900 * n, us) for n, each in seen.items() for us in each]
    bursts = [*steps, step(20, 20_000, **gp2(3000))]
    relative, given = Rules(confirmation=None), Rules(confirmation=None, limits_us={"update": 300})
    apart, alone = judge_sustained(bursts, relative), judge_sustained(steps, relative)
    assert (apart.verdict, apart.edge) == ("KNEE", alone.edge)
    fixed = edge_of(judge_sustained(bursts, given))
    assert edge_of(apart).high / edge_of(apart).low > fixed.high / fixed.low


def test_a_baseline_that_may_not_be_light_is_noted_where_credits_are_judged_apart() -> None:
    slope = [
        step(4, 1000, 100),
        step(6, 1100, 140),
        step(8, 1150, 400),
        step(16, 4000, **gp2(3000)),
    ]
    capacity = judge_sustained(slope, Rules(confirmation=None))
    assert any("nothing shows that this load is light" in note for note in capacity.notes)


def test_the_lightest_load_with_credits_shows_whether_a_baseline_is_light() -> None:
    """Of what lasts, the next heavier load may be the one that fails."""
    flat = [step(4, 1000), step(6, 1500, 105, **gp2(600)), step(8, 1500, 500, **gp2(300, 0.0))]
    capacity = judge_sustained(flat, Rules(confirmation=None))
    assert not any("nothing shows that this load is light" in note for note in capacity.notes)


def test_a_disputed_baseline_leaves_no_answer_of_what_lasts() -> None:
    disputed = {"clients_ran": 0}
    steps = [step(1, 1000, **disputed), step(2, 2000), step(4, 4000, **gp2(3000))]
    assert judge_sustained(steps, Rules(confirmation=None)).verdict == "INCONSISTENT"


@pytest.mark.parametrize("light", [100.0, 800.0], ids=["bounded by credits", "credits alone"])
def test_no_edge_is_told_where_credits_are_what_ends(light: float) -> None:
    steps = [
        *[offered(light, light, us, **gp2(light)) for us in (100, 110, 90)],
        offered(1000, 1000, **gp2(750)),
        *[offered(5000, 4000, p99_us=900, **gp2(3000))] * 2,
    ]
    capacity = judge_sustained(steps, ONCE)
    assert capacity.verdict == ("LOWER_BOUND" if light < 300 else "BURST")
    assert capacity.edge is None
    assert (capacity.question is None) == (capacity.verdict == "BURST")


@pytest.mark.parametrize("light", [100.0, 800.0], ids=["what lasts", "credits alone"])
def test_void_steps_are_named_where_credits_are_judged_apart(light: float) -> None:
    void = step(8, 0).model_copy(update={"void": "its clients came too late", "source": "steps/3"})
    steps = [step(1, 250, **gp2(light)), step(4, 4000, **gp2(3000)), void]
    notes = judge_sustained(steps, ONCE).notes
    assert notes.count("step 3 does not count: its clients came too late") == 1


def test_a_burst_without_a_figure_says_why() -> None:
    rules = Rules(confirmation=None, limits_us={"update": 300})
    steps = [step(1, 250, **gp2(200)), *(step(4, x, **gp2(3000)) for x in (2000, 4000, 6000))]
    capacity = judge_sustained(steps, rules)
    assert capacity.burst is None
    assert any(note.startswith("while credits last: NOISY: no figure") for note in capacity.notes)


def test_cpu_credits_without_which_it_goes_on_as_fast_are_a_note() -> None:
    cpu = CreditUse(
        bucket="cpu", used_per_s=1 / 60, earned_per_s=0.6 / 60, full=864, unlimited=True
    )
    capacity = judge_sustained([step(1, 1000, credits=(cpu,), index=1)], ONCE)
    assert (capacity.verdict, capacity.burst) == ("LOWER_BOUND", None)
    assert capacity.notes[0] == (
        "step 1: spent the instance's CPU credits faster than they come back;"
        " further use is charged"
    )


def test_a_load_that_fails_even_with_credits_fails_without() -> None:
    steps = [offered(300, 300, **gp2(225)), offered(800, 800, p99_us=900, **gp2(600))]
    capacity = judge_sustained(steps, ONCE)
    assert (capacity.verdict, capacity.bracket, capacity.burst) == ("KNEE", (300, 800), None)


def test_loads_that_failed_are_shown_where_nothing_lasts() -> None:
    steps = [step(1, 1000, **gp2(800)), step(4, 4000, p99_us=900, **gp2(3000))]
    capacity = judge_sustained(steps, ONCE)
    assert (capacity.verdict, capacity.burst and capacity.burst.verdict) == ("BURST", "KNEE")
    reasons = [(judged.load, judged.reasons) for judged in capacity.steps]
    assert reasons == [(1, ("credits",)), (4, ("latency:update",))]


def test_a_step_that_the_machine_disturbed_does_not_say_how_long_credits_last() -> None:
    steps = [
        step(1, 250, **gp2(200)),
        step(4, 1500, host_stolen_percent=50, **gp2(1000)),
        step(4, 4000, **gp2(3000)),
    ]
    burst = judge_sustained(steps, ONCE).burst
    assert burst is not None
    assert burst.max_throughput_ops_per_second == 4000
    assert burst.lasts_s == pytest.approx(GP2_FULL / 2700)


def test_room_of_a_log_is_one_thing_and_credits_are_many() -> None:
    told = {bucket: _describe_spending(name) for bucket, name in BUCKETS.items()}
    assert told["log"] == "spent the room in the database's log faster than it comes back"
    assert told["cpu"] == "spent the instance's CPU credits faster than they come back"
