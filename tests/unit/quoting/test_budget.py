"""A budget is held by the target's deadline and the load's part: together never more."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.aws.prices import PriceOverrides
from plimsoll.model.run.run_record import HeldBudget
from plimsoll.quoting.budget import divide_budget
from plimsoll.quoting.prices import override_prices
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import ENDPOINT, TARGET, request

USD_PER_HOUR = 0.171 + (100 * 0.125 + 3000 * 0.10 + 0.40) / 730  # of TARGET


def held(**changes: Any) -> HeldBudget:
    asked = request(**changes)
    found = divide_budget(asked, quote_request(asked))
    assert found is not None
    return found


def test_without_a_budget_nothing_is_held() -> None:
    assert divide_budget(request(), quote_request(request())) is None


def test_a_budget_that_pays_for_everything_leaves_the_time_limit() -> None:
    found = held(budget_usd=50, time_limit_s=7200)
    most = quote_request(request(time_limit_s=7200))
    assert found.target_s == 7200
    fleet = sum(one.usd.most for one in most.lines if one.price.item in {
        "lambda", "step-functions", "dynamodb", "s3", "cloudwatch"
    } and one.usd)  # fmt: skip
    assert float(found.fleet_usd) == pytest.approx(fleet, abs=1e-6)


def test_a_smaller_one_brings_the_deadline_forward_and_keeps_the_deletion() -> None:
    found = held(budget_usd=0.60, time_limit_s=7200)
    target_usd = 0.60 - float(found.fleet_usd)
    assert found.target_s == int(target_usd / USD_PER_HOUR * 3600 - 900)
    assert 900 < found.target_s < 7200


def test_an_endpoints_budget_is_all_for_the_load() -> None:
    found = held(target=ENDPOINT, budget_usd=0.05)
    assert found.target_s == 7200
    assert float(found.fleet_usd) == 0.05


@pytest.mark.parametrize(
    ("budget_usd", "told"),
    [
        # ten minutes of the target are $0.10; a step and 16 minutes of it $0.1643
        (0.01, r"budget_usd: \$0\.01 does not pay for a run of a single step.*allowed: >= 0\.17\)"),
        (0.12, r"budget_usd: \$0\.12 does not pay for a run of a single step.*allowed: >= 0\.17\)"),
    ],
)
def test_a_budget_that_cannot_suffice_is_refused_and_not_even_quoted(
    budget_usd: float, told: str
) -> None:
    asked = request(budget_usd=budget_usd)
    with pytest.raises(UsageError, match=told):
        quote_request(asked)
    with pytest.raises(UsageError, match=told):
        divide_budget(asked, quote_request(request()))


def test_what_a_refusal_allows_is_allowed() -> None:
    assert held(budget_usd=0.17).target_s >= 60
    assert held(target=ENDPOINT, budget_usd=0.01).target_s == 7200


def test_a_budget_that_lacks_a_price_is_refused() -> None:
    asked = request(budget_usd=5)
    with pytest.raises(UsageError, match=r"no price is known for rds-mariadb db\.m5\.large"):
        divide_budget(
            asked,
            quote_request(asked, override_prices(PriceOverrides(region="eu-west-1"))),
        )


@settings(max_examples=30, deadline=None)
@given(
    budget_usd=st.floats(0.001, 40),
    time_limit_s=st.integers(150, 86_400),
    clients=st.integers(1, 100),
    iops=st.integers(1000, 5000),
)
def test_whatever_is_asked_target_deletion_and_load_never_pass_the_budget(
    budget_usd: float, time_limit_s: int, clients: int, iops: int
) -> None:
    volume = {"type": "io1", "size_gib": 100, "iops": iops}
    asked = request(
        budget_usd=budget_usd,
        time_limit_s=time_limit_s,
        search={"strategy": "steps", "clients": [clients]},
        target={**TARGET, "volume": volume},
    )
    try:
        quoted = quote_request(asked)
    except UsageError:
        return
    found = divide_budget(asked, quoted)
    assert found is not None
    assert quoted.target_usd_per_hour is not None
    target_usd = (found.target_s + 900) / 3600 * quoted.target_usd_per_hour
    assert target_usd + float(found.fleet_usd) <= budget_usd + 1e-6
    assert 0 < found.target_s <= time_limit_s
    assert 0 <= found.loading_s <= time_limit_s
