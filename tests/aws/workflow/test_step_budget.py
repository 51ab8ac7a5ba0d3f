"""A step is started only where the budget, of which earlier steps have had theirs, pays for it."""

from typing import Any

import pytest

from plimsoll.aws.run_files import QUOTE, RunFiles, plan_path
from plimsoll.aws.run_records import now
from plimsoll.errors import BudgetPassedError
from plimsoll.fleet.plan import plan_step
from plimsoll.fleet.relay import plan_relay
from plimsoll.model.request.request import Request
from plimsoll.model.request.search_request import NextStep
from plimsoll.model.run.run_record import RunRecord, RunState
from plimsoll.quoting.budget import divide_budget
from plimsoll.workflow.barrier import require_step_budget
from tests.support.aws_resources import BUCKET, make_bucket
from tests.support.requested import quote_request
from tests.unit.quoting.test_quotes import request


@pytest.fixture
def files(account: None) -> RunFiles:
    del account
    make_bucket()
    return RunFiles(BUCKET, "run")


def record(asked: Request) -> RunRecord:
    return RunRecord(
        run_id="run",
        name="quoted",
        team="default",
        state=RunState.RUNNING,
        request_sha256="0" * 64,
        submitted_at=now(),
        time_limit_s=asked.time_limit_s,
        budget=divide_budget(asked, quote_request(asked)),
    )


def planned(asked: Request, index: int, clients: int) -> Any:
    following = NextStep(
        index=index, clients=clients, connections=clients, purpose="climb", why="test"
    )
    return plan_step(following, asked)


def test_a_step_starts_only_if_the_budget_pays_for_it_and_those_before_it(files: RunFiles) -> None:
    asked = request(budget_usd=0.40, search={"strategy": "steps", "clients": [1, 2, 100]})
    run = record(asked)
    assert run.budget is not None
    files.put_model(QUOTE, quote_request(asked))
    require_step_budget(files, run, asked, planned(asked, 0, 1))
    # 100 clients for 90 s and 24 s before and after them, 1.73 GiB each
    usd = 100 * (90 + 20 + 1 + 3) * 1769 / 1024 * 0.0000133334
    many = planned(asked, 1, 100)
    count = 0
    while (count + 1) * usd < float(run.budget.fleet_usd) - 0.01:
        files.put_model(plan_path(count + 1), many.model_copy(update={"index": count + 1}))
        count += 1
    following = many.model_copy(update={"index": count + 1})
    with pytest.raises(BudgetPassedError, match=rf"with step {count + 1} \(100 clients\) it would"):
        require_step_budget(files, run, asked, following)


def test_as_many_windows_of_a_relay_are_planned_as_the_budget_pays_for(files: RunFiles) -> None:
    asked = request(budget_usd=5, search={"strategy": "steps", "clients": [1, 2, 100]})
    files.put_model(QUOTE, quote_request(asked))
    first = planned(asked, 0, 100).model_copy(update={"duration_s": 600.0, "warmup_s": 0.0})
    windows = plan_relay(asked, first, ["again"] * 9, lead_ms=21_000)
    each_usd = 100 * (600 + 21 + 3 + 2) * 1769 / 1024 * 0.0000133334
    run = record(asked)
    assert run.budget is not None
    for paid in (1, 4, 10):
        fleet_usd = f"{(paid + 0.5) * each_usd:.6f}"
        budget = run.budget.model_copy(update={"fleet_usd": fleet_usd})
        holds = run.model_copy(update={"budget": budget})
        assert require_step_budget(files, holds, asked, windows[0], windows[1:]) == paid - 1
    nothing = run.model_copy(update={"budget": run.budget.model_copy(update={"fleet_usd": "1"})})
    with pytest.raises(BudgetPassedError, match=r"with step 1 \(100 clients\) it would"):
        require_step_budget(files, nothing, asked, windows[0], windows[1:])


def test_a_run_without_a_budget_reads_nothing(files: RunFiles) -> None:
    asked = request()
    require_step_budget(files, record(asked), asked, planned(asked, 0, 1000))
