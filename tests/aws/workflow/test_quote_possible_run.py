"""A run that would be refused at any time is not quoted either, with the same words."""

from types import SimpleNamespace
from typing import Any

import pytest

from plimsoll.errors import LimitReachedError, UsageError
from plimsoll.model.deployment.deployment import Team
from plimsoll.model.request.request import Request
from plimsoll.requests.checked_request import check_request
from plimsoll.workflow.submit import quote_possible_run, record_request
from tests.aws.workflow.conftest import REQUESTED, RUN
from tests.support.every_setting import EverySetting

ENDPOINT = {
    "kind": "endpoint",
    "engine": "mysql",
    "host": "other.example",
    "secret_arn": "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db",
}
SNAPSHOT = {
    **REQUESTED["target"],
    "snapshot": "arn:aws:rds:eu-west-1:123456789012:snapshot:of-somebody",
}
PRICELESS = {**REQUESTED["target"], "instance_class": "db.m99.large"}
STALL = {"step": 1, "volume": {"kind": "stall", "duration_s": 1}}
WIDE = {"strategy": "steps", "clients": [1], "connections_per_client": 2000}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"target": ENDPOINT}, "target.host"),
        ({"target": SNAPSHOT}, "target.snapshot"),
        ({"team": "strangers"}, "team"),
        ({"faults": [STALL]}, "faults"),
        ({"search": WIDE}, "search.connections_per_client"),
        ({"budget_usd": 0.01}, "budget_usd"),
        ({"target": PRICELESS, "budget_usd": 5}, "budget_usd"),
        ({"search": {"strategy": "steps", "clients": [300]}}, "search.clients"),
    ],
)
def test_what_is_refused_when_it_is_submitted_is_not_quoted(
    deployment: EverySetting, changes: dict[str, Any], field: str
) -> None:
    team = Team(concurrent_runs=2, clients=200, usd_per_run=5.0)
    limited = deployment.model_copy(update={"teams": {"default": team}})
    checked = check_request(Request.model_validate(REQUESTED | changes))
    with pytest.raises((UsageError, LimitReachedError)) as quoting:
        quote_possible_run(limited, checked)
    with pytest.raises((UsageError, LimitReachedError)) as submitting:
        record_request(limited, checked, run_id=RUN)
    assert [about.field for about in quoting.value.complaints] == [field]
    assert quoting.value.complaints == submitting.value.complaints


def test_a_quote_names_the_price_without_which_a_limit_in_dollars_cannot_be_held(
    deployment: EverySetting,
) -> None:
    team = Team(concurrent_runs=2, usd_per_run=5.0)
    limited = deployment.model_copy(update={"teams": {"default": team}})
    checked = check_request(Request.model_validate(REQUESTED | {"target": PRICELESS}))
    assert quote_possible_run(limited, checked).missing == ("rds-mariadb db.m99.large",)
    with pytest.raises(LimitReachedError, match=r"is not known: rds-mariadb db\.m99\.large"):
        record_request(limited, checked, run_id=RUN)


def test_a_limit_that_other_runs_reach_is_no_reason_not_to_quote(deployment: EverySetting) -> None:
    team = Team(concurrent_runs=1)
    limited = deployment.model_copy(update={"teams": {"default": team}})
    checked = check_request(Request.model_validate(REQUESTED))
    record_request(limited, checked, run_id=RUN)
    with pytest.raises(LimitReachedError, match="concurrent_runs: 1 in use"):
        record_request(limited, checked, run_id=f"{RUN}-2")
    assert quote_possible_run(limited, checked).usd is not None


@pytest.mark.parametrize("partition", ["aws-cn", "aws-us-gov"])
def test_targets_on_rds_are_refused_where_nobody_could_check_their_certificates(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch, partition: str
) -> None:
    there = SimpleNamespace(meta=SimpleNamespace(partition=partition))
    monkeypatch.setattr("plimsoll.workflow.submit.clients.rds", lambda: there)
    checked = check_request(Request.model_validate(REQUESTED))
    with pytest.raises(UsageError, match=f"certificate authorities of RDS in {partition}"):
        quote_possible_run(deployment, checked)
    with pytest.raises(UsageError, match=f"certificate authorities of RDS in {partition}"):
        record_request(deployment, checked, run_id=RUN)
