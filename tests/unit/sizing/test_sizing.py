"""From a run and a wish to a ranking: rules, prices, what is measured, what cannot be."""

from collections.abc import Mapping
from datetime import date
from functools import cache
from typing import Any

import pytest

from plimsoll.errors import NoGroundError, UsageError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.request.rds_target import RdsTarget
from plimsoll.model.run.results import RunResult, ServerWaits
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.sizing.answer import Option, Sizing
from plimsoll.sizing.cheapest import choose_option
from plimsoll.sizing.confirmation import write_confirming_request
from plimsoll.sizing.from_run import Measured, prepare_run
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import create_sizer, size
from tests.support.synthetic_run import synthetic_run

LIMITS = {"read": 20_000.0, "update": 50_000.0}
TODAY = date(2026, 11, 23)


def run(
    limits_us: Mapping[str, float] = LIMITS, result: RunResult | None = None, **changes: Any
) -> Measured:
    result = (result or synthetic_run()[0]).model_copy(update=changes)
    waits = [ServerWaits()] * len(result.steps)
    return prepare_run(result, waits, statistic="p99", limits_us=limits_us, processors=2)


def wish(want: float, *, headroom: float = 0.3, least_gib: int = 100) -> Wish:
    return Wish(want, LIMITS, headroom, least_gib)


@cache
def sized(want: float, prices: PriceTable | None = None, **changes: Any) -> Sizing:
    """Answer; a question that several tests ask is answered once."""
    asked = wish(want, **changes)
    return size({"a-run": run()}, asked, prices or few(), statistic="p99", today=TODAY)


@cache
def few() -> PriceTable:
    """The built-in prices, of four classes alone."""
    kept = {f"db.{name}" for name in ("m6i.large", "m6i.xlarge", "t4g.medium", "r6g.2xlarge")}
    groups = []
    for group in read_builtin_prices().groups:
        usd = {n: v for n, v in group.usd.items() if not n.startswith("db.") or n in kept}
        groups.append(group.model_copy(update={"usd": usd}))
    return read_builtin_prices().model_copy(update={"groups": tuple(groups)})


def test_another_run_of_the_same_may_differ_by_a_tenth() -> None:
    """However alike its own repetitions were."""
    factor = run().known.factor
    assert factor.low <= 0.9 * min(1.0, factor.mid)
    assert factor.high >= 1.1 * max(1.0, factor.mid)


def rds(option: Option) -> RdsTarget:
    assert isinstance(option.target, RdsTarget)
    return option.target


def test_three_words_say_by_the_interval_whether_a_target_carries_the_load() -> None:
    """The figure of m6i.large with gp3 is above 11,429 ops/s, and its low end is not."""
    found = sized(8000)
    required = found.required_ops_per_second
    for option in found.options:
        assert option.low is not None
        assert option.high is not None
        if option.status == "predicted":
            assert option.outlook == ("carries" if option.low >= required else "may carry")
            assert option.high >= required
    outlooks = [option.outlook for option in found.options]
    sure = outlooks.count("carries")
    assert outlooks == ["carries"] * sure + ["may carry"] * (len(outlooks) - sure)
    assert 0 < sure < len(outlooks)
    least_usd = found.options[0].usd_per_month or 0
    assert all((option.usd_per_month or 0) < least_usd for option in found.options[sure:])
    assert found.sentence.startswith(
        "db.m6i.large, io1 100 GiB, 1,000 IOPS, carries 8,000 ops/s with 30 % to spare for $238"
    )
    assert found.sentence.endswith("db.m6i.large, gp3 100 GiB, may carry it for $137 a month")


def test_where_nothing_is_sure_the_sentence_does_not_say_that_something_carries_it() -> None:
    found = sized(60_000)
    assert {option.outlook for option in found.options} == {"may carry"}
    assert found.sentence.startswith("nothing surely carries it; ")
    assert " may carry 60,000 ops/s " in found.sentence
    assert not any("no gp3 carries this" in one.sentence for one in found.cannot)


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({"audits_off": {"drift", "steady_state"}}, "switched off: drift and steady_state"),
        ({"machine": True}, "this machine set its limit, not the database"),
    ],
)
def test_a_run_that_is_weak_ground_is_warned_of(changes: dict[str, Any], warning: str) -> None:
    whole = synthetic_run()[0]
    if changes.pop("machine", False):
        assert whole.limiting is not None
        limiting = whole.limiting.model_copy(update={"resource": "machine"})
        whole = whole.model_copy(update={"limiting": limiting})
    else:
        rules = whole.request.limits.model_copy(update=changes)
        request = whole.request.model_copy(update={"limits": rules})
        whole = whole.model_copy(update={"request": request})
    assert whole.capacity is not None
    limits = whole.capacity.steps[0].limit_us
    runs = {"a-run": run(limits, whole)}
    asked = Wish(2000, limits, 0.3, 100)
    found = size(runs, asked, few(), statistic="p99", today=TODAY)
    assert found.warning is not None
    assert warning in found.warning
    assert sized(2000).warning is None


def test_the_ranking_is_by_price_and_each_price_is_the_sum_of_its_items() -> None:
    found = sized(2000)
    assert {option.outlook for option in found.options} == {"carries"}
    prices = [option.usd_per_month for option in found.options]
    known = [usd for usd in prices if usd is not None]
    assert len(known) == len(prices) == 12
    assert known == sorted(known)
    for option in found.options:
        items = [line.usd for line in option.items]
        assert option.usd_per_month == pytest.approx(sum(usd for usd in items if usd is not None))


def test_everything_that_is_listed_carries_the_load_with_its_headroom() -> None:
    found = sized(2000, headroom=0.2)
    assert found.required_ops_per_second == pytest.approx(2500)
    for option in found.options:
        assert option.ops_per_second is not None
        assert option.ops_per_second >= 2500
        assert option.carries


def test_a_class_has_each_type_once_and_the_rules_of_its_volumes_are_kept() -> None:
    options = sized(2000).options
    pairs = [(rds(o).instance_class, rds(o).volume.type) for o in options]
    assert len(pairs) == len(set(pairs))
    assert {kind for _, kind in pairs} == {"gp2", "gp3", "io1", "io2"}
    assert all(RdsTarget.model_validate(o.target.model_dump()) == o.target for o in options)


def test_more_headroom_never_costs_less() -> None:
    prices = [sized(2000, headroom=share).options[0].usd_per_month for share in (0, 0.3, 0.6)]
    assert prices == sorted(prices, key=lambda usd: usd or 0.0)


def test_data_that_are_larger_get_a_larger_volume() -> None:
    assert all(rds(o).volume.size_gib >= 1000 for o in sized(2000, least_gib=1000).options)


def test_what_was_measured_is_told_from_what_is_predicted() -> None:
    found = sized(100)
    (own,) = found.measured
    assert (own.status, own.run, own.latency_us) == ("measured", "a-run", None)
    assert own.ops_per_second == run().capacity.max_sustainable_throughput_ops_per_second
    listed = [option for option in found.options if option.target == own.target]
    assert listed == [own]  # no prediction of what was measured
    assert {option.status for option in found.options if option != own} == {"predicted"}
    assert all(option.run is None for option in found.options if option.status == "predicted")


def test_a_run_that_does_not_carry_it_is_told_and_not_listed() -> None:
    found = sized(100_000_000)
    assert [option.carries for option in found.measured] == [False]
    assert found.options == ()
    assert found.sentence.startswith(
        "nothing carries 100,000,000 ops/s with 30 % to spare: the most is "
    )


def test_what_cannot_be_names_the_resource_and_where_it_binds() -> None:
    """Of m6i.large: 3,600 IOPS of the instance, whatever the volume."""
    found = sized(200_000)
    own_class = [one for one in found.cannot if one.what.endswith("db.m6i.large")]
    assert {one.what.split()[0] for one in own_class} == {"gp2", "gp3", "io1", "io2"}
    for one in own_class:
        assert one.ops_per_second < 200_000 / 0.7
        assert " binds at " in one.sentence
        assert one.sentence.startswith(f"no {one.what.split()[0]} carries this on db.m6i.large: ")


def test_without_a_price_nothing_is_listed_as_if_it_had_one() -> None:
    no_storage = few().model_copy(
        update={"groups": tuple(g for g in few().groups if "rds-storage" not in g.items)}
    )
    found = size({"a-run": run()}, wish(2000), no_storage, statistic="p99", today=TODAY)
    assert found.options
    assert {o.usd_per_month for o in found.options if o.status == "predicted"} == {None}
    assert "at a price that is not known" in found.sentence


def test_growth_says_until_when_the_cheapest_suffices() -> None:
    runs = {"a-run": run()}
    found = size(runs, wish(2000), few(), statistic="p99", today=TODAY, times_per_year=2.0).growth
    assert found is not None
    assert found.years_without_headroom > found.years >= 0
    assert found.until is not None
    assert found.until >= TODAY


def test_a_horizon_says_what_carries_the_load_once_it_has_grown() -> None:
    runs, now = {"a-run": run()}, sized(2000)
    found = size(
        runs, wish(2000), few(), statistic="p99", today=TODAY, times_per_year=2.0, horizon_years=2
    )
    assert (now.horizon, found.options) == (None, now.options)
    assert found.horizon is not None
    assert found.horizon.ops_per_second == pytest.approx(8000)
    assert found.horizon.options == sized(8000).options
    assert found.horizon.sentence == sized(8000).sentence


def test_growth_counts_on_the_low_end_and_names_the_high_one() -> None:
    runs = {"a-run": run()}
    found = size(runs, wish(2000), few(), statistic="p99", today=TODAY, times_per_year=2.0)
    low, growth = found.options[0].low, found.growth
    assert low is not None
    assert growth is not None
    assert 2**growth.years == pytest.approx(low * 0.7 / 2000)
    assert growth.years_at_most is not None
    assert growth.years_at_most > growth.years


def test_an_operation_without_this_statistic_is_refused() -> None:
    with pytest.raises(UsageError, match="scan"):
        run({**LIMITS, "scan": 1.0})


def test_a_run_without_figures_of_its_target_is_refused() -> None:
    whole = synthetic_run()[0]
    bare = tuple(step.model_copy(update={"target": None}) for step in whole.steps)
    with pytest.raises(UsageError, match="no step has figures of both its target"):
        run(steps=bare)


def test_from_doubtful_figures_nothing_is_predicted() -> None:
    whole = synthetic_run()[0]
    busy = {"host_others_percent": 84.0, "host_idle_percent": 0.0, "host_stolen_percent": 0.0}
    steps = tuple(
        step.model_copy(update={"step": step.step.model_copy(update=busy)}) for step in whole.steps
    )
    with pytest.raises(NoGroundError, match="nothing can be predicted from it: LOWER_BOUND: s"):
        run(steps=steps)


def test_the_cheapest_is_measured_next_and_nothing_where_nothing_carries_the_load() -> None:
    runs = {"a-run": run()}
    assert choose_option(runs, create_sizer(runs, wish(2000), few())) == sized(2000).options[0]
    assert choose_option(runs, create_sizer(runs, wish(1e9), few())) is None


def test_the_confirming_run_is_the_runs_own_request_with_another_volume() -> None:
    ground = run()
    sizer = create_sizer({"a-run": ground}, wish(2000), few())
    gp2 = next(o for o in sizer.list_options() if rds(o).volume.type == "gp2")
    request = write_confirming_request(
        ground.result.request,
        gp2.target,
        sizer.predict(gp2.target, processors=2),
        name="size-confirm-1",
        statistic="p99",
        limits_us=LIMITS,
    )
    own = ground.result.request
    assert isinstance(request.target, RdsTarget)
    # what lasts is asked for: a gp2 with burst credits begins without them
    assert request.target.volume.credits_start in {"empty", None}
    assert request.target.volume.size_gib == rds(gp2).volume.size_gib
    assert (request.workload, request.load, request.prepare) == (
        own.workload,
        own.load,
        own.prepare,
    )
    assert (request.limits.limits_us, request.limits.statistic) == (LIMITS, "p99")
