"""The end of a run, as it truly ended: what was measured before its conclusion stays."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest

from plimsoll.aws.run_files import CONCLUSION, REPORT, REQUEST, RESULT, SECONDS
from plimsoll.aws.run_records import now
from plimsoll.errors import TeardownError
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.request.request import Request
from plimsoll.model.run.dashboards import Dashboards
from plimsoll.model.run.results import RunResult, Seconds
from plimsoll.model.run.run_record import HeldBudget, RunState
from plimsoll.workflow import end, target
from plimsoll.workflow.end import end_run
from plimsoll.workflow.result import Conclusion
from plimsoll.workflow.target import delete_target
from tests.aws.workflow.conftest import RUN, recorded, started
from tests.aws.workflow.test_publish import measured
from tests.support.every_setting import EverySetting
from tests.support.synthetic_run import synthetic_run

STOPPED = {"phase": "step", "error": "RunStoppedError", "cause": "the run was stopped"}


def test_a_stopped_run_shows_what_its_clients_saw(deployment: EverySetting) -> None:
    measured(deployment)
    end_run(deployment, RUN, failure=STOPPED)

    assert deployment.records.get(RUN).state is RunState.STOPPED
    series = deployment.files(RUN).get(SECONDS, Seconds)
    assert sum(second.succeeded for second in series.operations) == 100
    assert series.target == ()
    page = (deployment.files(RUN).find(REPORT) or b"").decode()
    assert re.search(r'<figure class="wide" id="timeline"', page)
    assert not re.search(r'<figure class="[a-z]*" id="curve"', page)


def test_the_series_of_a_conclusion_stay_as_they_are(deployment: EverySetting) -> None:
    measured(deployment)
    sample = TargetSample(epoch_ms=1_790_000_000_000, queue=1.0)
    concluded = Seconds(run_id=RUN, operations=(), target=(sample,))
    deployment.files(RUN).put_model(SECONDS, concluded)
    end_run(deployment, RUN, failure=STOPPED)
    assert deployment.files(RUN).get(SECONDS, Seconds) == concluded


def test_a_run_that_measured_nothing_has_no_series(deployment: EverySetting) -> None:
    recorded(deployment)
    end_run(deployment, RUN, failure={**STOPPED, "phase": "provision"})
    assert deployment.files(RUN).find(SECONDS) is None


def test_the_service_judges_rules_and_opens_no_file_that_one_names(
    deployment: EverySetting, tmp_path: Path
) -> None:
    recorded(deployment)
    files, run = deployment.files(RUN), synthetic_run()[0]
    assert run.capacity is not None
    (tmp_path / "result.json").write_text(run.model_dump_json())  # it would decide the rule
    rules = ("capacity >= 1", "capacity >= 999999999", f"not worse than {tmp_path} by 5 %")
    asked = files.get(REQUEST, Request).model_copy(update={"expect": rules})
    files.put_model(REQUEST, asked)
    files.put_model(CONCLUSION, Conclusion(capacity=run.capacity, limiting=run.limiting))
    end_run(deployment, RUN)
    outcomes = files.get(RESULT, RunResult).expect
    assert [one.answer for one in outcomes] == ["met", "not met", "no answer"]
    assert outcomes[2].because == f"{tmp_path} is not available here"


def test_a_run_that_was_aborted_past_its_budgets_end_is_over_budget(
    deployment: EverySetting,
) -> None:
    budget = HeldBudget(usd="0.6", target_s=1000, fleet_usd="0.1", loading_s=60)
    past = now() - timedelta(seconds=1)
    recorded(deployment, budget=budget, state=RunState.RUNNING, expires_at=past)
    end_run(deployment, RUN, ended="ABORTED")
    record = deployment.records.get(RUN)
    assert record.state is RunState.OVER_BUDGET
    assert record.failure is not None
    assert record.failure.error == "BudgetPassedError"


def test_a_target_left_behind_is_never_a_success(
    deployment: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    started(deployment)

    def refuses(**_: object) -> None:
        raise TeardownError("the target could not be deleted: DependencyViolation")

    monkeypatch.setattr(target, "delete_stack", refuses)
    patience = timedelta(seconds=deployment.teardown_patience_seconds)
    deployment.records.change(RUN, stack_id="its-stack", teardown_asked_at=now() - patience)
    with pytest.raises(TeardownError):
        delete_target(deployment, RUN)
    answer = end_run(deployment, RUN)
    assert "DependencyViolation" in str(answer["failure"])
    assert deployment.records.get(RUN).state is RunState.FAILED


@pytest.mark.parametrize(
    ("failure", "ended", "state", "cause"),
    [
        (None, None, RunState.SUCCEEDED, None),
        (None, "ABORTED", RunState.STOPPED, "the run was stopped from outside"),
        (None, "TIMED_OUT", RunState.TIMED_OUT, "the workflow ran past its own time-out"),
        (("prepare", "DatasetError", '{"errorMessage": "too few rows", "errorType": "D"}'),
         None, RunState.FAILED, "too few rows"),
        (("step", "TimeLimitPassedError", "no time"), None, RunState.TIMED_OUT, "no time"),
        (("step", "BudgetPassedError", "no money"), None, RunState.OVER_BUDGET, "no money"),
        (("step", "RunStoppedError", "stopped"), None, RunState.STOPPED, "stopped"),
    ],
)  # fmt: skip
def test_a_run_ends_as_it_truly_ended(
    deployment: EverySetting,
    failure: tuple[str, str, str] | None,
    ended: str | None,
    state: RunState,
    cause: str | None,
) -> None:
    started(deployment)
    caught = dict(zip(("phase", "error", "cause"), failure, strict=True)) if failure else None
    end_run(deployment, RUN, failure=caught, ended=ended)
    record = deployment.records.get(RUN)
    assert record.state is state
    assert (record.failure.cause if record.failure else None) == cause
    assert deployment.files(RUN).find(RESULT) is not None
    end_run(deployment, RUN, ended="FAILED")  # the event rule comes later: nothing changes
    assert deployment.records.get(RUN) == record


def test_every_end_leaves_a_page(deployment: EverySetting) -> None:
    started(deployment)
    failure = {"phase": "prepare", "error": "DatasetError", "cause": "too few rows"}
    end_run(deployment, RUN, failure=failure)
    page = deployment.files(RUN).find(REPORT)
    assert page is not None
    assert b"in its prepare phase: too few rows." in page


@pytest.mark.parametrize("broken", [b"{}", b"x" * (end.SERIES_MOST_BYTES + 1)])
def test_a_page_that_cannot_be_drawn_changes_no_end(
    deployment: EverySetting, broken: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    started(deployment)
    deployment.files(RUN).put(SECONDS, broken)
    end_run(deployment, RUN)
    assert deployment.records.get(RUN).state is RunState.SUCCEEDED
    assert deployment.files(RUN).find(REPORT) is None
    told = capsys.readouterr()
    assert "report.html is not drawn" in told.out + told.err


def test_a_result_leads_to_the_dashboards_of_its_run(deployment: EverySetting) -> None:
    recorded(deployment)
    pages = Dashboards(grafana="https://grafana.example/d/plimsoll-run-influxdb")
    end_run(deployment.model_copy(update={"dashboards": pages}), RUN, failure=STOPPED)
    result = deployment.files(RUN).get(RESULT, RunResult)
    assert result.moments.ended is not None
    assert result.links == pages.links(
        RUN, since=result.moments.submitted, until=result.moments.ended
    )
    assert f"var-run={RUN}" in result.links["grafana"]


def test_an_end_is_one_line_of_the_log_and_only_once(
    deployment: EverySetting, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(deployment)
    for _ in range(2):
        end_run(deployment, RUN, failure=STOPPED)
    (line,) = [one for one in capsys.readouterr().out.splitlines() if "run_ended" in one]
    told = json.loads(line)
    assert told.pop("ended_at").endswith("Z")
    assert told == {
        "run_ended": RUN, "correlation_id": RUN, "name": "small", "team": "default",
        "state": "STOPPED",
        "verdict": None, "bound": None, "capacity_ops_per_second": None, "usd": None,
    }  # fmt: skip
