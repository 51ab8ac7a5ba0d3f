"""Aurora's I/Os: what a quote says of them, what a run's cost has, which storage is cheaper."""

from typing import Any

import pytest

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceTable
from plimsoll.model.request.request import Request
from plimsoll.model.run.quote import BilledIo, RunCost
from plimsoll.quoting.budget import divide_budget
from plimsoll.quoting.charges import compute_io_cost, find_io_prices
from plimsoll.quoting.costs import add_usd, estimate_run_cost, list_cost_lines
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import require_stand_in
from plimsoll.report.words import compute_hourly_usd, describe_run_cost, name_price_source
from tests.support.requested import quote_request
from tests.support.synthetic_run import synthetic_run
from tests.unit.quoting.test_costs import record
from tests.unit.quoting.test_quotes import request

AURORA: dict[str, Any] = {
    "kind": "aurora",
    "engine": "aurora-mysql",
    "engine_version": "8.0",
    "instance_class": "db.r6g.large",
}
# db.r6g.large: 0.26 or 0.338 an hour; 10 GiB at 0.10 or 0.225 a month of 730 hours
STANDARD_USD = 0.26 + (10 * 0.10 + 0.40) / 730
OPTIMIZED_USD = 0.338 + (10 * 0.225 + 0.40) / 730
EVEN_IOPS = (OPTIMIZED_USD - STANDARD_USD) / 3600 / 0.2e-6  # 0.20 a million
BILLED = BilledIo(reads=40e6, writes=20e6, beside_operations=50e6, operations=20_000_000)


def on(storage: str = "standard", **changes: Any) -> Request:
    return request(target={**AURORA, "storage": storage}, **changes)


def cost(storage: str, billed: BilledIo | None, capacity: Any = None) -> RunCost:
    asked = on(storage)
    return estimate_run_cost(quote_request(asked), asked, record(), [], capacity, billed=billed)


@pytest.mark.parametrize(
    ("storage", "usd_per_hour"), [("standard", STANDARD_USD), ("io-optimized", OPTIMIZED_USD)]
)
def test_each_storage_has_its_own_prices_by_the_hour(storage: str, usd_per_hour: float) -> None:
    found = quote_request(on(storage))
    assert found.target_usd_per_hour == pytest.approx(usd_per_hour)
    assert found.missing == ()
    assert found.usd is not None


def test_a_quote_says_that_ios_are_in_no_sum_and_from_which_rate_the_other_is_cheaper() -> None:
    found = quote_request(on())
    assert found.io is not None
    assert (found.io.charged, found.io.usd_per_million) == (True, 0.2)
    assert found.io.io_optimized_from_iops == pytest.approx(EVEN_IOPS)
    notes = " ".join(found.notes)
    assert "$0.20 a million (1,000 a second cost $0.72 an hour)" in notes
    assert "so no sum here includes them" in notes
    assert "I/O-Optimized is cheaper from a mean of 111 I/Os a second on" in notes
    optimized = " ".join(quote_request(on("io-optimized")).notes)
    assert "no sum here includes them" not in optimized
    assert "Standard below it" in optimized


def test_where_a_price_is_missing_no_rate_is_named() -> None:
    none = PriceTable(region="eu-west-9", sources={}, groups=())
    io = find_io_prices(on().target, none)
    assert io is not None
    assert (io.usd_per_million, io.io_optimized_from_iops) == (None, None)
    assert "at a price that is not known" in " ".join(quote_request(on(), none).notes)
    assert compute_io_cost(io, BILLED, None).usd is None
    assert find_io_prices(request().target, read_builtin_prices()) is None


def test_the_runs_ios_are_charged_on_standard_alone() -> None:
    standard, optimized = cost("standard", BILLED), cost("io-optimized", BILLED)
    (line,) = [item for item in standard.items if item.what.startswith("I/Os")]
    assert (line.quantity, line.unit) == (60.0, "million")
    assert line.usd == pytest.approx(12.0)
    assert not [item for item in optimized.items if item.what.startswith("I/Os")]
    assert standard.usd is not None
    assert optimized.usd is not None
    hours = 40 / 60
    others = optimized.usd - OPTIMIZED_USD * hours
    assert standard.usd == pytest.approx(STANDARD_USD * hours + others + 12.0)
    assert standard.io is not None
    assert optimized.io is not None
    assert standard.io.usd == pytest.approx(12.0)
    assert optimized.io.usd == 0


def test_ios_by_the_operation_are_of_the_periods_with_load_and_priced_by_the_million() -> None:
    found = cost("standard", BILLED).io
    assert found is not None
    assert found.ios == 60e6
    assert found.ios_per_operation == 2.5  # 50 of 20 million
    assert found.usd_per_million_operations == pytest.approx(0.5)
    assert "2.5 I/Os per operation" in found.sentence
    assert "I/O-Optimized is cheaper from a mean of 111 I/Os a second on" in found.sentence
    assert f"({EVEN_IOPS / 2.5:.1f} ops/s)" in found.sentence


def test_a_million_operations_cost_their_ios_too_where_these_are_charged() -> None:
    capacity = synthetic_run()[0].capacity
    assert capacity is not None
    figure = capacity.max_sustainable_throughput_ops_per_second
    assert figure
    for storage, hourly, of_io in (
        ("standard", STANDARD_USD, 0.5),
        ("io-optimized", OPTIMIZED_USD, 0),
    ):
        found = cost(storage, BILLED, capacity).usd_per_million_operations
        assert found == pytest.approx(hourly / (figure * 3600 / 1e6) + of_io)


def test_a_report_has_the_ios_of_the_answers_load_in_the_price_by_the_hour() -> None:
    result = synthetic_run()[0]
    assert result.capacity is not None
    figure = result.capacity.max_sustainable_throughput_ops_per_second
    assert figure
    for storage, hourly, of_io, said in (
        ("standard", STANDARD_USD, 0.5 * figure * 3600 / 1e6, True),
        ("io-optimized", OPTIMIZED_USD, 0.0, False),
    ):
        found = result.model_copy(update={"cost": cost(storage, BILLED, result.capacity)})
        assert compute_hourly_usd(found) == pytest.approx(hourly + of_io)
        assert ("its I/Os at this load included" in name_price_source(found)) is said
    unknown = result.model_copy(update={"cost": cost("standard", None, result.capacity)})
    assert compute_hourly_usd(unknown) is None
    assert compute_hourly_usd(unknown, 2.0) == 2.0


def test_without_a_count_the_cost_is_not_known_and_says_so() -> None:
    found = cost("standard", None)
    assert (found.usd, found.usd_per_million_operations) == (None, None)
    assert found.io is not None
    assert (found.io.ios, found.io.usd) == (None, None)
    assert "CloudWatch has not counted its I/Os yet" in found.io.sentence
    assert add_usd(list_cost_lines(quote_request(on()), on(), record(), [])) is None
    result = synthetic_run()[0].model_copy(update={"cost": found})
    said = describe_run_cost(result)
    assert said is not None
    assert said.startswith("not known; CloudWatch has not counted its I/Os yet")
    assert cost("io-optimized", None).usd is not None


def test_a_budget_cannot_be_held_where_ios_are_charged() -> None:
    with pytest.raises(UsageError, match=r"budget_usd: cannot be enforced.*storage: io-optimized"):
        quote_request(on(budget_usd=50))
    asked = on("io-optimized", budget_usd=50)
    assert divide_budget(asked, quote_request(asked)) is not None


def test_one_machine_does_not_stand_in_for_aurora() -> None:
    with pytest.raises(UsageError, match=r"target\.kind: one machine cannot stand in for Aurora"):
        require_stand_in(on())
