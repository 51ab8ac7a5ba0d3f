"""A canary's budget is hard: refused beforehand, and a time under way."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plimsoll.errors import UsageError
from plimsoll.model.request.request import Request
from plimsoll.model.timings import STACK_DELETION
from plimsoll.packaged import find_packaged_folder
from plimsoll.requests.experiment_file import read_file
from plimsoll.trial.trial import (
    DEPLOYMENT_USD_PER_HOUR,
    DESTROYING_MOST_S,
    divide_canary_budget,
    estimate_deployment_usd,
)
from tests.support.requested import quote_request


def canary() -> Request:
    asked = read_file(find_packaged_folder("scenarios") / "canary.yaml")
    assert isinstance(asked, dict)
    return asked["canary"].request


QUOTE = quote_request(canary())
assert QUOTE.usd is not None
MOST = QUOTE.usd.most


def test_a_quote_above_the_budget_is_refused_with_what_suffices() -> None:
    with pytest.raises(UsageError, match=r"--budget-usd: \$1.00 is less than .*allowed: >= "):
        divide_canary_budget(canary(), QUOTE, 1.0)


def test_the_deployment_counts_too() -> None:
    with pytest.raises(UsageError):
        divide_canary_budget(canary(), QUOTE, MOST + 0.001)


def test_without_a_price_no_budget_can_be_held() -> None:
    lacking = QUOTE.model_copy(update={"usd": None, "missing": ("rds-mariadb db.t4g.small",)})
    with pytest.raises(UsageError, match="no price is known for rds-mariadb"):
        divide_canary_budget(canary(), lacking, 100.0)


@given(budget_usd=st.floats(MOST + 0.1, 100))
def test_whatever_is_allowed_is_within_the_budget(budget_usd: float) -> None:
    allowance = divide_canary_budget(canary(), QUOTE, budget_usd)
    assert allowance.expected_usd <= allowance.most_usd <= budget_usd
    target_s = allowance.lasts_s + STACK_DELETION.most_s
    stands_s = target_s + DESTROYING_MOST_S
    per_s = (QUOTE.target_usd_per_hour or 0) / 3600
    by_load = MOST - per_s * QUOTE.time_s.most
    assert by_load + per_s * target_s + estimate_deployment_usd(stands_s) == pytest.approx(
        budget_usd
    )
    run_usd = allowance.request.budget_usd
    assert run_usd is not None
    assert run_usd + estimate_deployment_usd(stands_s) == pytest.approx(budget_usd)
    quote_request(allowance.request)  # the service takes the run with its part of the budget


def test_no_budget_can_be_held_where_ios_are_charged_by_number() -> None:
    aurora = {
        "kind": "aurora",
        "engine": "aurora-mysql",
        "engine_version": "8.0",
        "instance_class": "db.t4g.medium",
    }
    asked = Request.model_validate({**canary().model_dump(), "target": aurora})
    with pytest.raises(UsageError, match="--budget-usd: cannot be enforced: Aurora Standard"):
        divide_canary_budget(asked, quote_request(asked), 100.0)


@given(budget_usd=st.floats(MOST + 0.1, 100))
def test_it_lasts_at_least_until_the_runs_time_limit(budget_usd: float) -> None:
    assert divide_canary_budget(canary(), QUOTE, budget_usd).lasts_s >= canary().time_limit_s


def test_an_hour_of_the_deployment_is_its_interface_endpoint() -> None:
    assert estimate_deployment_usd(3600) == DEPLOYMENT_USD_PER_HOUR
