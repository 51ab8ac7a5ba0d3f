"""What a finished run has cost, worked by hand from its record and its steps."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.fleet.plan import plan_step
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.fleet import StepPlan
from plimsoll.model.run.quote import CostLine, RunCost
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.quoting.costs import add_usd, estimate_run_cost, list_cost_lines
from plimsoll.quoting.prices import override_prices
from tests.support.requested import quote_request
from tests.support.synthetic_run import synthetic_run
from tests.unit.quoting.test_quotes import ENDPOINT, request

START = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
USD_PER_HOUR = 0.171 + (100 * 0.125 + 3000 * 0.10 + 0.40) / 730


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def record(**changes: Any) -> RunRecord:
    """Created at minute 1, loaded from 11 to 13, gone at minute 41."""
    values: dict[str, Any] = {
        "run_id": "run",
        "name": "quoted",
        "team": "default",
        "state": RunState.SUCCEEDED,
        "request_sha256": "0" * 64,
        "submitted_at": START,
        "time_limit_s": 7200,
        "stack_id": "arn:stack",
        "started_at": at(0.5),
        "provision_at": at(1),
        "target_ready_at": at(11),
        "prepare_at": at(11),
        "step_at": at(13),
        "teardown_asked_at": at(35),
        "deleted_at": at(41),
        "ended_at": at(42),
    }
    return RunRecord(**{**values, **changes})


def plans(*clients: int) -> list[StepPlan]:
    asked = request()
    return [
        plan_step(NextStep(index=i, clients=n, connections=n, purpose="climb", why="test"), asked)
        for i, n in enumerate(clients)
    ]


def line(lines: tuple[CostLine, ...], what: str) -> CostLine:
    return next(one for one in lines if what in one.what)


def of(run: RunRecord, *clients: int) -> RunCost:
    asked = request()
    result, _ = synthetic_run()
    return estimate_run_cost(quote_request(asked), asked, run, plans(*clients), result.capacity)


def test_the_target_is_charged_from_its_creation_until_it_was_seen_deleted() -> None:
    found = of(record(), 1, 2)
    assert line(found.items, "db.m5.large").quantity == pytest.approx(40 / 60)
    assert line(found.items, "db.m5.large").usd == pytest.approx(0.171 * 40 / 60)
    assert line(found.items, "3,000 IOPS").usd == pytest.approx(300 / 730 * 40 / 60)


def test_clients_are_charged_for_their_steps_and_the_wait_before_and_loaders_for_loading() -> None:
    found = of(record(), 1, 2)
    steps = 1 * (90 + 20 + 0.01 + 3) + 2 * (90 + 20 + 0.02 + 3)
    gib_s = (steps + 4 * 120) * 1769 / 1024
    charged = line(found.items, "load clients")
    assert charged.quantity == pytest.approx(gib_s)
    assert charged.usd == pytest.approx(gib_s * 0.0000133334)


def test_the_sum_is_that_of_the_items_and_says_its_prices_date() -> None:
    found = of(record(), 1, 2)
    assert found.usd == pytest.approx(sum(one.usd or 0 for one in found.items))
    assert (found.basis, found.region, str(found.as_of)) == ("aws", "us-east-1", "2025-03-05")
    assert found.target_usd_per_hour == pytest.approx(USD_PER_HOUR)


def test_a_million_operations_cost_what_the_target_costs_in_that_time() -> None:
    result, _ = synthetic_run()
    assert result.capacity is not None
    figure = result.capacity.max_sustainable_throughput_ops_per_second
    assert figure is not None
    hours = 1e6 / figure / 3600
    assert of(record()).usd_per_million_operations == pytest.approx(USD_PER_HOUR * hours)


def test_on_one_machine_nothing_was_spent() -> None:
    found = of(record(local=True), 1)
    assert (found.basis, found.usd, found.items) == ("as-if-on-aws", None, ())
    assert found.target_usd_per_hour == pytest.approx(USD_PER_HOUR)


def test_a_target_is_charged_ten_minutes_at_least_and_nothing_if_it_was_never_made() -> None:
    short = of(record(deleted_at=at(3)))
    assert line(short.items, "db.m5.large").quantity == pytest.approx(1 / 6)
    never = of(record(stack_id=None, deleted_at=None))
    assert line(never.items, "db.m5.large").usd == 0


def test_without_a_price_there_is_no_sum() -> None:
    asked = request()
    unpriced = quote_request(asked, override_prices(PriceOverrides(region="eu-west-1")))
    lines = list_cost_lines(unpriced, asked, record(), plans(1))
    assert add_usd(lines) is None
    found = estimate_run_cost(unpriced, asked, record(), plans(1), None)
    assert found.usd is None
    assert "rds-storage io1" in found.missing


def test_an_endpoints_run_costs_its_load() -> None:
    asked = request(target=ENDPOINT)
    run = record(stack_id=None, provision_at=None, deleted_at=None)
    found = estimate_run_cost(quote_request(asked), asked, run, plans(1), None)
    assert found.usd is not None
    assert 0 < found.usd < 0.02
    assert found.target_usd_per_hour is None
