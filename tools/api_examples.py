"""An example of each call's body and of its answer, for docs/openapi.json: one made-up story.

A team looks for the load line of YCSB's workload A on MariaDB with 1,000 IOPS, asks whether 2,000
would gain anything, and has the run repeated each night. Every example is made through the model
that the API itself uses; quotes are reckoned as the API does.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import yaml
from pydantic import BaseModel

import plimsoll
from plimsoll.api.catalog_routes import list_workloads
from plimsoll.checks.schedules import ScheduledCheck, ScheduledChecks
from plimsoll.console.compared import show_comparison
from plimsoll.console.live import Cursor, show_live
from plimsoll.console.scenarios import Scenario, Scenarios
from plimsoll.console.sizes import SizesShown, show_sizes
from plimsoll.model.request.descriptions import describe_target
from plimsoll.model.request.experiment import Experiment
from plimsoll.model.request.request import Request
from plimsoll.model.run.check_history import Figure, History, HistoryPoint, RunOfCheck
from plimsoll.model.run.experiment_record import (
    CellStatus,
    ExperimentDetail,
    ExperimentRecord,
    Experiments,
    ExperimentSubmitted,
)
from plimsoll.model.run.run_record import RunFigures, RunRecord, RunState
from plimsoll.model.service.answers import (
    Health,
    ReportLinks,
    RunDetail,
    Runs,
    Steps,
    Submitted,
    Workloads,
)
from plimsoll.model.service.live import Live
from plimsoll.quoting.experiment_quotes import quote_experiment
from plimsoll.quoting.prices import read_builtin_prices
from plimsoll.quoting.quotes import estimate_quote
from plimsoll.requests.cells import check_experiment
from plimsoll.requests.checked_request import check_request
from plimsoll.sizing.rank import Wish
from plimsoll.sizing.size import size
from plimsoll.workflow.listing import summarize_record
from plimsoll.workflow.past import extract_measured, find_judged_limits_us, find_volume_gib
from tests.support.live_run import running_look
from tests.support.synthetic_run import synthetic_run

TEAM = "default"
RUN_ID, EXPERIMENT_ID = "ycsb-a-1000-iops-7f3a9c21", "iops-40b8e6d5"
MADE_UP, _ = synthetic_run()
CAPACITY: Any = MADE_UP.capacity
FIGURE: float = CAPACITY.max_sustainable_throughput_ops_per_second
SUBMITTED = datetime(2026, 3, 2, 10, 0, tzinfo=UTC)
MEASURED = {
    "target": {
        "kind": "rds",
        "engine": "mariadb",
        "engine_version": "11.4",
        "instance_class": "db.m6i.large",
        "volume": {"type": "io1", "size_gib": 100, "iops": 1000},
    },
    "workload": {"name": "ycsb-a", "records": 100_000},
    "search": {"strategy": "steps", "clients": [1, 2, 3, 4, 6, 8], "connections_per_client": 8},
    "limits": {"limits_us": {"read": 5000, "update": 20_000}},
}
REQUEST: dict[str, Any] = {"name": "ycsb-a-1000-iops", **MEASURED, "tags": {"purpose": "sizing"}}
EXPERIMENT: dict[str, Any] = {
    "name": "iops",
    "request": MEASURED,
    "axes": {
        "iops": {
            "low": {"target": {"volume": {"iops": 1000}}},
            "high": {"target": {"volume": {"iops": 2000}}},
        }
    },
    "at_once": 2,
}
CHECK: dict[str, Any] = {"schedule": "cron(30 2 ? * MON-FRI *)", "request": REQUEST}


def requests() -> dict[str, dict[str, Any]]:
    """Give an example of each call's body, by operation."""
    return {
        "start_run": REQUEST,
        "quote_run": REQUEST,
        "start_experiment": EXPERIMENT,
        "quote_experiment": EXPERIMENT,
        "put_schedule": CHECK,
    }


def answers() -> dict[str, Any]:
    """Give an example of each answer that has a body.

    By operation; by operation and status where one has two answers that differ.
    """
    made: dict[str, Any] = {name: model.model_dump(mode="json") for name, model in _answers()}
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return made | {"get_schema": {"$schema": dialect, "title": "check", "type": "object"}}


def _answers() -> Iterator[tuple[str, BaseModel]]:
    request, experiment = Request.model_validate(REQUEST), Experiment.model_validate(EXPERIMENT)
    known = [one for one in list_workloads().workloads if one.name == "ycsb-a"]
    yield "get_health", Health(status="ok", version=plimsoll.__version__)
    yield "list_workloads", Workloads(workloads=tuple(known))
    yield "quote_run", estimate_quote(check_request(request), read_builtin_prices())
    yield "quote_experiment", quote_experiment(check_experiment(experiment), read_builtin_prices())
    yield "start_run", Submitted(run_id=RUN_ID, name=request.name, team=TEAM)
    yield "list_scenarios", Scenarios(scenarios=(_scenario(),))
    yield from _of_the_run(request)
    yield "get_live", _live()
    yield (
        "compare_runs",
        show_comparison([MADE_UP, synthetic_run(knee=5, iops=2000, run_id="more")[0]]),
    )
    yield "get_sizes", _sizes()
    yield from _of_the_experiment(experiment)
    yield from _of_the_check()


def _scenario() -> Scenario:
    name: str = REQUEST["name"]
    about = "The load line of workload A with 1,000 IOPS"
    text = f"# {about}.\n{yaml.safe_dump(REQUEST, sort_keys=False)}"
    return Scenario(
        name=name, about=about, kind="run", yaml=text, requests={name: REQUEST}, experiment=None
    )


def _live() -> Live:
    """The run in its third step, somebody having seen its first one; two seconds of each series."""
    look = running_look(2, after=1)
    few = running_look(2, after=1, seconds=look.seconds[:4], samples=look.samples[:2])
    return show_live(few, Cursor(1, 0, 1))


def _sizes() -> SizesShown:
    """What carries twice as much as the run sustained: the cheapest."""
    limits, statistic = find_judged_limits_us(MADE_UP), MADE_UP.request.limits.statistic
    wish = Wish(2000, limits, 0.3, find_volume_gib(MADE_UP))
    runs = {RUN_ID: extract_measured(MADE_UP, statistic, limits)}
    answer = size(runs, wish, read_builtin_prices(), statistic=statistic, today=SUBMITTED.date())
    return show_sizes(answer, most=1)


def _of_the_run(request: Request) -> Iterator[tuple[str, BaseModel]]:
    step = MADE_UP.steps[0]
    ended = _record(request, RunState.SUCCEEDED)
    shown = summarize_record(ended)
    times = {name: getattr(ended, name) for name in RunDetail.model_fields if name[-3:] == "_at"}
    yield "list_runs", Runs(runs=(shown,), next_cursor=None)
    yield (
        "get_run",
        RunDetail(
            **{**dict(shown), **times},
            time_limit_s=ended.time_limit_s,
            request_sha256=ended.request_sha256,
            metrics_awaited_until=None,
            teardown_error=None,
            database_version=ended.database_version,
            server_version=ended.server_version,
            rows=ended.rows,
            request=request,
            plan=step.plan,
        ),
    )
    yield "list_steps", Steps(steps=(step,), next_after=1)
    place = f"https://BUCKET.s3.eu-central-1.amazonaws.com/runs/{RUN_ID}"
    yield (
        "get_report",
        ReportLinks(
            url=f"{place}/report.html?X-Amz-Signature=...",
            result_url=f"{place}/result.json?X-Amz-Signature=...",
            expires_at=SUBMITTED + timedelta(hours=2),
        ),
    )
    yield "stop_run 200", summarize_record(ended)
    yield "stop_run 202", summarize_record(_record(request, RunState.STOPPING))


def _record(request: Request, state: RunState) -> RunRecord:
    """The run's record, at its end or while it is being stopped."""
    minute = timedelta(minutes=1)
    begun: dict[str, Any] = {
        "run_id": RUN_ID,
        "name": request.name,
        "team": TEAM,
        "state": state,
        "tags": request.tags,
        "target_words": describe_target(request.target),
        "quoted_usd": "0.41",
        "request_sha256": "5d" * 32,
        "time_limit_s": request.time_limit_s,
        "submitted_at": SUBMITTED,
        "started_at": SUBMITTED,
        "expires_at": SUBMITTED + timedelta(seconds=request.time_limit_s),
        "provision_at": SUBMITTED,
        "target_ready_at": SUBMITTED + 8 * minute,
        "prepare_at": SUBMITTED + 8 * minute,
        "step_at": SUBMITTED + 10 * minute,
        "database_version": "11.4.10",
        "server_version": "11.4.10-MariaDB-log",
        "rows": 100_000,
        "teardown_asked_at": SUBMITTED + 30 * minute,
    }
    if not state.ended:
        return RunRecord(**begun, phase="teardown", step=4, steps_finished=3)
    return RunRecord(
        **begun,
        phase="teardown",
        step=9,
        steps_finished=9,
        conclude_at=SUBMITTED + 28 * minute,
        deleted_at=SUBMITTED + 36 * minute,
        ended_at=SUBMITTED + 36 * minute,
        verdict="KNEE",
        figures=RunFigures.of(CAPACITY, final=True),
        capacity_ops_per_second=f"{FIGURE:.1f}",
        cost_usd="0.38",
    )


def _of_the_experiment(experiment: Experiment) -> Iterator[tuple[str, BaseModel]]:
    submitted = ExperimentSubmitted(experiment_id=EXPERIMENT_ID, name=experiment.name, team=TEAM)
    yield "start_experiment", submitted
    record = ExperimentRecord(
        **dict(submitted),
        state=RunState.RUNNING,
        experiment_sha256="c4" * 32,
        cells=2,
        seed=7,
        submitted_at=SUBMITTED,
        started_at=SUBMITTED,
    )
    yield "list_experiments", Experiments(experiments=(record,))
    cells = tuple(
        CellStatus(
            index=index,
            name=variant,
            variants={"iops": variant},
            run_id=f"{EXPERIMENT_ID}-{index}",
            state=RunState.RUNNING,
            phase="step",
            verdict=None,
            capacity_ops_per_second=None,
        )
        for index, variant in enumerate(experiment.axes["iops"])
    )
    yield "get_experiment", ExperimentDetail(record=record, cells=cells, result=None)
    yield "stop_experiment 202", record.model_copy(update={"state": RunState.STOPPING})
    ended = {"state": RunState.STOPPED, "ended_at": SUBMITTED + timedelta(minutes=20)}
    yield "stop_experiment 200", record.model_copy(update=ended)


def _of_the_check() -> Iterator[tuple[str, BaseModel]]:
    fires = datetime(2026, 3, 3, 2, 30, tzinfo=UTC)
    check = ScheduledCheck(**CHECK, name="nightly", next_at=fires)
    yield "put_schedule", check
    yield "get_schedule", check
    yield "list_schedules", ScheduledChecks(schedules=(check,))
    figure = Figure(
        value=FIGURE,
        low=CAPACITY.interval.low_ops_per_second,
        high=CAPACITY.interval.high_ops_per_second,
        bracket=CAPACITY.bracket,
    )
    run = RunOfCheck(
        run_id="ycsb-a-1000-iops-0c55d1e8",
        comparable="e1" * 32,
        state=RunState.SUCCEEDED,
        verdict="KNEE",
        figures={"capacity": figure},
    )
    yield "get_history", History(points=(HistoryPoint(scheduled_at=fires, target=run),))
