"""Quotes: sums worked by hand, bounds that hold for every request, and what is not known."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from plimsoll import words
from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import Quote
from plimsoll.quoting.budget import divide_budget
from plimsoll.quoting.prices import override_prices, read_builtin_prices
from plimsoll.quoting.quotes import find_target_usd_per_hour
from plimsoll.quoting.times import (
    count_clients_at_once,
    count_fleet_most,
    describe_search,
    rehearse,
)
from plimsoll.teams.room import compute_ask
from tests.support.requested import REQUESTED, quote_request

VOLUME: dict[str, Any] = {"type": "io1", "size_gib": 100, "iops": 3000}
TARGET: dict[str, Any] = {**REQUESTED["target"], "volume": VOLUME}
MANY = {"strategy": "steps", "clients": list(range(1, 30)), "whole_list": True}
ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "db.example.internal",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
}


def request(**changes: Any) -> Request:
    asked: dict[str, Any] = {
        "name": "quoted",
        "target": TARGET,
        "workload": {"name": "ycsb-b", "records": 200_000},
        "search": {"strategy": "steps", "clients": [1, 2, 4]},
    }
    return Request.model_validate({**asked, **changes})


def phase(found: Quote, name: str) -> Any:
    return next(one for one in found.phases if one.name == name)


def line(found: Quote, what: str) -> Any:
    return next(one for one in found.lines if what in one.what)


@pytest.mark.parametrize(
    ("volume", "usd_per_hour"),
    [
        # 0.171 and, by the month of 730 hours: storage, IOPS, the secret of 0.40
        (VOLUME, 0.171 + (100 * 0.125 + 3000 * 0.10 + 0.40) / 730),
        ({"type": "gp2", "size_gib": 200}, 0.171 + (200 * 0.115 + 0.40) / 730),
        ({"type": "gp3", "size_gib": 200}, 0.171 + (200 * 0.115 + 0.40) / 730),
        (  # 12,000 IOPS and 500 MiB/s come with it
            {"type": "gp3", "size_gib": 400, "iops": 14_000, "throughput_mib_s": 600},
            0.171 + (400 * 0.115 + 2000 * 0.02 + 100 * 0.08 + 0.40) / 730,
        ),
        (
            {"type": "io2", "size_gib": 100, "iops": 2000},
            0.171 + (100 * 0.125 + 2000 * 0.10 + 0.40) / 730,
        ),
    ],
)
def test_a_targets_hour_is_its_instance_and_its_volume(
    volume: dict[str, Any], usd_per_hour: float
) -> None:
    asked = request(target={**TARGET, "volume": volume})
    assert find_target_usd_per_hour(asked, read_builtin_prices()) == pytest.approx(usd_per_hour)


OLD: dict[str, Any] = {
    **TARGET,
    "engine": "mysql",
    "engine_version": "8.0",
    "instance_class": "db.m6i.4xlarge",
    "volume": {"type": "gp3", "size_gib": 100},
}


def test_extended_support_is_charged_by_the_vcpu_hour_where_it_is_asked_for() -> None:
    """16 vCPUs at 0.10; `test_rds_versions.py` has the day from which they cost 0.20."""
    asked = request(target={**OLD, "extended_support": True}, time_limit_s=3600)
    found, without = quote_request(asked), quote_request(request(target=OLD, time_limit_s=3600))
    item = line(found, "Extended Support, 16 vCPUs")
    assert item.price.unit == "vCPU-hour"
    assert item.usd.most == pytest.approx(1.6 * 4500 / 3600)
    assert found.target_usd_per_hour == pytest.approx(1.6 + (without.target_usd_per_hour or 0))
    assert not any("Extended Support" in one.what for one in without.lines)
    newer = request(target={**OLD, "engine_version": "8.4", "extended_support": True})
    assert not any("Extended Support" in one.what for one in quote_request(newer).lines)


def test_a_budget_that_extended_support_would_pass_is_refused() -> None:
    """A minute of the target and 15 of its deletion are 0.80 USD with it, and 0.37 without."""
    enough = request(target=OLD, budget_usd=0.5)
    assert divide_budget(enough, quote_request(enough)) is not None
    asked = request(target={**OLD, "extended_support": True}, budget_usd=0.5)
    with pytest.raises(UsageError, match="does not pay for a run of a single step"):
        quote_request(asked)


def test_extended_support_of_a_class_whose_vcpus_are_not_known_has_no_price() -> None:
    target = {**OLD, "instance_class": "db.x9.large", "extended_support": True}
    assert "rds-extended-support db.x9.large" in quote_request(request(target=target)).missing


def test_mariadb_has_no_extended_support() -> None:
    with pytest.raises(ValidationError, match=r"extended_support: RDS has no Extended Support of"):
        request(target={**TARGET, "extended_support": True})


def test_the_least_is_ten_minutes_of_the_target_and_the_most_its_time_limit_and_deletion() -> None:
    found = quote_request(request(time_limit_s=3600))
    instance = line(found, "db.m5.large")
    assert instance.quantity.least == pytest.approx(600 / 3600)
    assert instance.quantity.most == pytest.approx((3600 + 900) / 3600)
    assert instance.usd.most == pytest.approx(0.171 * 4500 / 3600)


def test_a_cassandra_is_told_as_such_and_costs_no_ten_minutes_at_least() -> None:
    volume = {"type": "gp2", "size_gib": 320}
    asked = {"kind": "cassandra", "instance_type": "r5.large", "volume": volume}
    found = quote_request(request(target=asked))
    assert found.phases[0].assumption.startswith("EC2 starts an instance that installs Cassandra")
    assert line(found, "r5.large").quantity.least == pytest.approx((30 + 60) / 3600)  # one step


def test_the_most_has_every_client_in_every_step_that_fits_the_time_limit() -> None:
    found = quote_request(request(prepare={"warm_s": 0}, time_limit_s=3150))
    # 30 probes of 30 + 60 s and 15 s between them; 4 clients, each charged from its start: 113 s,
    # of which no more than 3,150 s fit
    assert 30 * (30 + 60 + 20 + 4 * 0.01 + 3) > 3150
    client_s = 4 * 3150 + (20 + 0.01 + 3)
    loaders_s = 4 * (200_000 / 3000 + 900)
    charged = line(found, "load clients").quantity.most
    assert charged == pytest.approx((client_s + loaders_s) * 1769 / 1024)


def test_the_sum_is_that_of_the_lines() -> None:
    found = quote_request(request())
    assert found.usd is not None
    for way in ("least", "expected", "most"):
        parts = [getattr(one.usd, way) for one in found.lines]
        assert getattr(found.usd, way) == pytest.approx(sum(parts))
    assert str(found.as_of) == "2025-03-05"


def test_without_a_price_there_is_no_sum_and_it_is_named() -> None:
    found = quote_request(request(target={**TARGET, "instance_class": "db.m8g.large"}))
    assert found.usd is None
    assert found.target_usd_per_hour is None
    assert found.missing == ("rds-mariadb db.m8g.large",)
    assert line(found, "db.m8g.large").usd is None
    assert line(found, "io1 storage").usd is not None


def test_in_another_region_only_its_own_prices_count() -> None:
    found = quote_request(request(), override_prices(PriceOverrides(region="eu-west-1")))
    assert found.region == "eu-west-1"
    assert (found.usd, found.as_of) == (None, None)
    assert "rds-storage io1" in found.missing


def test_an_endpoint_is_charged_for_its_load_alone() -> None:
    found = quote_request(request(target=ENDPOINT))
    assert found.usd is not None
    assert not [one for one in found.lines if "rds" in one.price.item]
    assert found.target_usd_per_hour is None
    assert any("What the endpoint costs is not known" in note for note in found.notes)


def test_a_run_that_will_not_end_in_time_is_told_so() -> None:
    found = quote_request(request(time_limit_s=1200, search=MANY))
    assert found.time_s.expected == found.time_s.most == 1200 + 900
    assert any("more than its time limit of 20 min:" in note for note in found.notes)


def test_a_run_whose_first_step_will_not_end_in_time_is_told_so() -> None:
    """Creation 600 s, rows and count 73, warming 95, the step 155: 923.01 s."""
    asked = request(workload={"name": "ycsb-b", "records": 200_000}, time_limit_s=924)
    assert not [note for note in quote_request(asked).notes if "first step" in note]
    found = quote_request(asked.model_copy(update={"time_limit_s": 923}))
    assert found.notes[0] == (
        "Its first step is expected to end after 15 min 23 s, later than its time limit of"
        " 15 min 23 s: it will probably measure nothing."
    )


@pytest.mark.parametrize(
    ("duration_s", "step_s", "told"),
    [
        # 30 s of warm-up, the window, 15 s and 20 s around them; then what it waits
        (60, 155, ", 30 s of it, 1 min at worst, until its window holds whole minutes"),
        (90, 162.5, ", 7.5 s of it, 30 s at worst, until its window holds whole minutes"),
        (20, 85, "noise; at worst"),
    ],
)
def test_a_quote_has_the_time_until_a_window_holds_whole_minutes(
    duration_s: float, step_s: float, told: str
) -> None:
    found = quote_request(request(load={"duration_s": duration_s}))
    searching, steps = phase(found, "search"), found.steps.expected
    assert searching.expected_s / steps == pytest.approx(step_s, abs=0.1)
    assert told in searching.assumption
    of_endpoint = phase(quote_request(request(target=ENDPOINT)), "search")
    assert "whole minutes" not in of_endpoint.assumption


def test_a_quote_has_the_time_until_the_last_points_have_come() -> None:
    concluding = phase(quote_request(request()), "conclude")
    assert (concluding.expected_s, concluding.most_s) == (120, 180)
    assert "arrive late: 2 minutes, 3 at most" in concluding.assumption
    assert phase(quote_request(request(target=ENDPOINT)), "conclude").most_s == 0


def test_more_rows_on_a_slower_volume_take_longer() -> None:
    def prepare_s(records: int, iops: int) -> float:
        asked = request(
            workload={"name": "ycsb-a", "records": records},
            target={**TARGET, "volume": {**VOLUME, "iops": iops}},
        )
        return next(p.expected_s for p in quote_request(asked).phases if p.name == "prepare")

    assert prepare_s(1_000_000, 1000) == pytest.approx(60 + 1_000_000 / 5000)
    assert prepare_s(1_000_000, 5000) == pytest.approx(60 + 1_000_000 / 20_000)  # the processor's


SEARCHES = st.one_of(
    st.builds(
        lambda first, more: {"strategy": "steps", "clients": sorted({first, *more})},
        st.integers(1, 50),
        st.sets(st.integers(1, 100), max_size=5),
    ),
    st.builds(
        lambda most, clients: {
            "strategy": "ramp",
            "connections_max": most,
            "clients_max": clients,
        },
        st.integers(1, 2000),
        st.integers(1, 200),
    ),
    st.builds(
        lambda most: {
            "strategy": "rate",
            "rate_first_ops_per_second": 10,
            "rate_max_ops_per_second": most,
        },
        st.integers(10, 50_000),
    ),
)


@settings(max_examples=20, deadline=None)
@given(
    search=SEARCHES,
    records=st.integers(1, 10**8),
    time_limit_s=st.integers(150, 86_400),
    limits=st.dictionaries(st.sampled_from(["read", "update"]), st.integers(1, 10**6)),
)
def test_least_expected_and_most_are_in_that_order_for_every_line(
    search: dict[str, Any], records: int, time_limit_s: int, limits: dict[str, int]
) -> None:
    found = quote_request(
        request(
            search=search,
            workload={"name": "ycsb-a", "records": records},
            time_limit_s=time_limit_s,
            limits={"limits_us": limits},
        )
    )
    for amounts in (found.time_s, found.steps, *(one.quantity for one in found.lines)):
        assert 0 <= amounts.least <= amounts.expected <= amounts.most, found


def test_a_soak_takes_its_time_and_its_money() -> None:
    plain, soaked = request(), request(limits={"soak_s": 1800})
    without, with_it = (
        quote_request(plain),
        quote_request(soaked),
    )
    # three windows of 10 minutes, of which only the first has a warm-up, a start and a judging
    more_s = phase(with_it, "search").expected_s - phase(without, "search").expected_s
    assert 1800 + 30 < more_s < 1800 + 150
    assert with_it.steps.expected == without.steps.expected + 3
    assert without.usd is not None
    assert with_it.usd is not None
    assert with_it.usd.expected > without.usd.expected
    assert with_it.time_s.most >= without.time_s.most
    assert "3 of them for a soak of 30 min, whose windows follow each other without a pause" in (
        phase(with_it, "search").assumption
    )


def test_eight_hours_are_quoted_as_eight_hours_of_two_fleets_in_turn() -> None:
    search = {"strategy": "steps", "clients": [1, 2, 4], "probes_max": 100}
    plain = request(search=search, time_limit_s=50_000)
    soaked = request(search=search, time_limit_s=50_000, limits={"soak_s": 8 * 3600})
    assert (count_clients_at_once(plain), count_clients_at_once(soaked)) == (4, 8)
    assert (count_fleet_most(plain), count_fleet_most(soaked)) == (4, 4)
    asks = [compute_ask(one, quote_request(one)).clients for one in (plain, soaked)]
    assert asks == [4, 8], "a team's limit holds for the clients at a time"
    without, with_it = quote_request(plain), quote_request(soaked)
    more_s = phase(with_it, "search").expected_s - phase(without, "search").expected_s
    assert 8 * 3600 < more_s < 8 * 3600 + 150
    steps = with_it.steps.expected - without.steps.expected
    assert steps == 48


def test_a_request_says_how_many_steps_its_search_takes() -> None:
    assert describe_search(request()) == (
        "about 12 steps without noise, 30 at most: 18 min 30 s of load"
    )
    assert describe_search(request(limits={"soak_s": 1800})) == (
        "about 15 steps without noise, 30 at most: 49 min of load, 30 min 30 s of it a soak"
    )


def test_a_soak_is_said_to_take_as_long_as_its_windows_that_are_left_room_for() -> None:
    few = request(
        search={"strategy": "steps", "clients": [1, 2, 4], "probes_max": 10},
        limits={"soak_s": 1800},
    )
    rehearsed = rehearse(few.search, few.limits)
    assert 0 < rehearsed.soak_steps < 3
    held_s = rehearsed.soak_steps * 600 + min(1, rehearsed.soak_steps) * few.load.warmup_s
    assert f", {words.format_duration(round(held_s))} of it a soak" in describe_search(few)


@pytest.mark.parametrize("search", [REQUESTED["search"], {"strategy": "ramp"}])
@pytest.mark.parametrize("limits", [{"read": 5e-324}, {"read": 5000, "update": 1.7e308}])
def test_limits_beyond_every_database_are_quoted_all_the_same(
    search: dict[str, Any], limits: dict[str, float]
) -> None:
    told = quote_request(request(search=search, limits={"limits_us": limits}))
    assert told.time_s.expected > 0


def test_limits_far_apart_are_quoted_too() -> None:
    limits = {"read": 5e-324, "update": 1.7e308}
    assert quote_request(request(limits={"limits_us": limits})).time_s.expected > 0


def test_postgresql_has_its_own_price_by_the_hour_and_rdss_of_storage() -> None:
    asked = {**TARGET, "engine": "postgres", "engine_version": "18"}
    found = quote_request(request(target=asked))
    assert found.missing == ()
    assert found.io is None
    usd = 0.178 + (100 * 0.125 + 3000 * 0.10 + 0.40) / 730
    assert found.target_usd_per_hour == pytest.approx(usd)
    assert line(found, "(PostgreSQL), single-AZ").price.item == "rds-postgres"
