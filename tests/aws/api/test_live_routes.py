"""A run as it goes on, runs side by side, and what a form needs, over the API."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plimsoll.aws import clients
from plimsoll.aws.run_files import REQUEST, RESULT, SECONDS, plan_path, step_path
from plimsoll.aws.run_records import now
from plimsoll.fleet.plan import reduce_step
from plimsoll.model.judging.steps import History
from plimsoll.model.request.request import Request
from plimsoll.model.run.run_record import RunFigures, RunState, TargetAddress
from tests.aws.api.conftest import OTHER, Api
from tests.aws.api.test_run_routes import started
from tests.support.live_run import whole_steps
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_phase_plan import JOB


def in_its_fifth_step(api: Api) -> str:
    """A run whose files are those of the made-up one, after four steps."""
    result, seconds = synthetic_run()
    run_id, steps = started(api), whole_steps(result, seconds)
    files = api.deployment.files(run_id)
    for step in steps[:4]:
        files.put_model(step_path(step.plan.index), step)
    files.put_model("steps/history.json", History(steps=tuple(map(reduce_step, steps[:4]))))
    files.put_model(plan_path(5), steps[4].plan)
    api.deployment.records.change(
        run_id, state=RunState.RUNNING, phase="step", step=5, steps_finished=4, step_at=now()
    )
    return run_id


def test_a_run_that_goes_on_is_told_bit_by_bit(api: Api) -> None:
    run_id = in_its_fifth_step(api)
    first = api("GET", f"/runs/{run_id}/live")
    assert first.status == 200, first.text
    assert [step["step"] for step in first.body["steps"]] == [1, 2, 3, 4]
    assert [load["load"] for load in first.body["loads"]] == [1, 2, 3, 4]
    assert first.body["plan"]["step"] == 5
    assert first.body["run"]["state"] == "RUNNING"
    assert first.body["money"]["basis"] == "as-if-on-aws"
    again = api("GET", f"/runs/{run_id}/live", query={"after": first.body["cursor"]})
    assert again.body["steps"] == []
    assert again.body["cursor"] == first.body["cursor"]
    assert len(again.body["loads"]) == 4


def test_the_targets_figures_are_cloudwatchs(api: Api) -> None:
    run_id = in_its_fifth_step(api)
    began = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=10)
    address = TargetAddress(
        host="db", port=3306, database="plimsoll", identifier=f"i-{run_id}", protocol="mysql"
    )
    api.deployment.records.change(run_id, target=address, target_ready_at=began)
    for second, iops in ((2, 400.0), (3, 500.0)):
        clients.cloudwatch().put_metric_data(
            Namespace="AWS/RDS",
            MetricData=[
                {
                    "MetricName": "ReadIOPS",
                    "Dimensions": [{"Name": "DBInstanceIdentifier", "Value": f"i-{run_id}"}],
                    "Timestamp": began + timedelta(seconds=second),
                    "Value": iops,
                }
            ],
        )
    told = api("GET", f"/runs/{run_id}/live").body
    assert sum(told["resources"]["read_iops"]) in (900.0, 450.0)  # in one bin, or in two
    assert set(told["resources"]["write_iops"]) == {None}
    after = told["cursor"]
    again = api("GET", f"/runs/{run_id}/live", query={"after": after}).body["resources"]
    assert again["epoch_s"] == told["resources"]["epoch_s"][-1:]


def test_a_run_that_has_ended_is_told_from_its_results(api: Api) -> None:
    result, seconds = synthetic_run()
    run_id = started(api)
    files = api.deployment.files(run_id)
    files.put_model(RESULT, result)
    files.put_model(SECONDS, seconds)
    api.deployment.records.change(
        run_id, state=RunState.SUCCEEDED, ended_at=now(), step=9, steps_finished=9, verdict="KNEE"
    )
    told = api("GET", f"/runs/{run_id}/live").body
    assert told["answer"]["tag"] == "knee found"
    assert len(told["steps"]) == 9
    assert sum(told["resources"]["write_iops"]) > 0
    assert told["cursor"].startswith("9.")


def test_a_past_run_with_phases_is_told_from_its_results_alone(api: Api) -> None:
    result, seconds = synthetic_run()
    run_id = started(api)
    files = api.deployment.files(run_id)
    files.put_model(REQUEST, Request.model_validate(JOB))
    files.put_model(RESULT, result)
    files.put_model(SECONDS, seconds)
    api.deployment.records.change(
        run_id, state=RunState.SUCCEEDED, ended_at=now(), step=9, steps_finished=9, past=True
    )
    told = api("GET", f"/runs/{run_id}/live").body
    assert len(told["steps"]) == 9
    assert set(told["seconds"]["step"]) == set(range(1, 10))


def test_a_run_without_an_answer_shows_the_loads_that_it_tried(api: Api) -> None:
    result, _ = synthetic_run()
    run_id = in_its_fifth_step(api)
    api.deployment.files(run_id).put_model(RESULT, result.model_copy(update={"capacity": None}))
    api.deployment.records.change(run_id, state=RunState.STOPPED, ended_at=now())
    told = api("GET", f"/runs/{run_id}/live").body
    assert [load["load"] for load in told["loads"]] == [1, 2, 3, 4]


def test_another_teams_run_is_not_there(api: Api) -> None:
    run_id = in_its_fifth_step(api)
    assert api("GET", f"/runs/{run_id}/live", principal=OTHER).status == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [({"after": "x"}, "after"), ({"points": "5"}, "points"), ({"step": "1"}, "step")],
)
def test_what_cannot_be_is_named(api: Api, query: dict[str, str], field: str) -> None:
    told = api("GET", f"/runs/{in_its_fifth_step(api)}/live", query=query)
    assert (told.status, set(told.wrong)) == (422, {field})


def test_the_list_has_what_a_table_of_runs_shows(api: Api) -> None:
    result, _ = synthetic_run()
    assert result.capacity is not None
    run_id = started(api)
    figures = RunFigures.of(result.capacity, final=True)
    api.deployment.records.change(run_id, figures=figures, cost_usd="1.25")
    [row] = api("GET", "/runs").body["runs"]
    sure = result.capacity.interval
    assert sure is not None
    assert row["target_words"] == "MariaDB 11.4.10 on db.m5.large, io1 100 GiB, 1,000 IOPS"
    assert row["axis"] == "clients"
    assert [load for load, _ in row["curve"]] == [1, 2, 3, 4, 6, 8]
    assert row["interval"]["low_ops_per_second"] == pytest.approx(sure.low_ops_per_second, abs=0.05)
    assert (row["bound"], row["past"]) == ("=", False)
    assert (row["expected_usd"], row["cost_usd"]) == (None, None)  # nothing is bought here
    assert api.deployment.records.get(run_id).cost_usd == "1.25"  # which the team's spend is of
    api.deployment.records.change(run_id, local=False)
    assert api("GET", "/runs").body["runs"][0]["cost_usd"] == 1.25


@pytest.mark.parametrize(("text", "found"), [("MariaDB", 1), ("db.m5", 1), ("Cassandra", 0)])
def test_runs_are_listed_by_their_target(api: Api, text: str, found: int) -> None:
    started(api)
    assert len(api("GET", "/runs", query={"target": text}).body["runs"]) == found


def finished_run(api: Api, knee: float) -> str:
    result, _ = synthetic_run(knee=knee, iops=round(400 * knee))
    run_id = started(api)
    api.deployment.files(run_id).put_model(RESULT, result.model_copy(update={"run_id": run_id}))
    return run_id


def test_runs_are_compared_with_the_first_that_asks_the_same(api: Api) -> None:
    slow, fast = finished_run(api, 2.5), finished_run(api, 5)
    told = api("GET", "/comparisons", query={"runs": f"{slow},{fast}"})
    assert told.status == 200, told.text
    [first, second] = told.body["runs"]
    assert (first["run_id"], first["ratio"]) == (slow, None)
    ratio: Any = second["ratio"]
    assert ratio["low"] < ratio["value"] < ratio["high"]
    assert ratio["value"] > 1.2
    assert [(curve["run_id"], curve["axis"]) for curve in told.body["curves"]] == [
        (slow, "clients"),
        (fast, "clients"),
    ]
    for curve in told.body["curves"]:
        assert {1, 2, 3, 4, 6, 8} <= {load["load"] for load in curve["loads"]}


def test_a_run_without_results_is_not_compared(api: Api) -> None:
    one, other = finished_run(api, 3.2), started(api)
    told = api("GET", "/comparisons", query={"runs": f"{one},{other}"})
    assert (told.status, told.wrong["runs"]["detail"]) == (
        422,
        f"{other} has no results: it is PENDING",
    )
    assert api("GET", "/comparisons", query={"runs": one}).status == 422
    assert api("GET", "/comparisons", query={"runs": f"{one},{one}"}).status == 422
    strangers = api("GET", "/comparisons", query={"runs": f"{one},{other}"}, principal=OTHER)
    assert strangers.status == 404


@pytest.mark.parametrize("name", ["request", "experiment", "check", "workload", "result"])
def test_schemas_are_those_of_the_documentation(api: Api, name: str) -> None:
    told = api("GET", f"/schemas/{name}").body
    assert told["title"] == name
    assert told["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert api("GET", "/schemas/nothing").status == 422


def test_scenarios_are_listed(api: Api) -> None:
    told = {one["name"]: one for one in api("GET", "/scenarios").body["scenarios"]}
    assert told["r1-demo"]["kind"] == "runs"
    accepted = api("POST", "/quotes", next(iter(told["r1-demo"]["requests"].values())))
    assert accepted.status == 200
