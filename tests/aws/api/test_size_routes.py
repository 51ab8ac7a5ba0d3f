"""What to buy, over the API: the ranking of `plimsoll size`, and what is refused."""

import shlex
from typing import Any

import pytest
from click.testing import CliRunner

from plimsoll.aws.run_files import RESULT
from plimsoll.cli import size
from plimsoll.model.request.endpoint_target import EndpointTarget
from plimsoll.model.run.results import RunResult
from tests.aws.api.conftest import OTHER, Api
from tests.aws.api.test_run_routes import started
from tests.support.synthetic_run import synthetic_run

LIMITS = {"limits_us": "read=50000,update=50000"}


def finished(api: Api, **changes: Any) -> str:
    """A run with the results of the made-up one, on two processors."""
    run_id = started(api)
    result, _ = synthetic_run(run_id=run_id)
    changed = result.model_copy(update={"processors": 2, **changes})
    api.deployment.files(run_id).put_model(RESULT, changed)
    return run_id


def test_it_ranks_what_carries_the_load_by_its_price(api: Api) -> None:
    run_id = finished(api)
    told = api("GET", f"/runs/{run_id}/sizes", query={"want": "2000", "limit": "5", **LIMITS})
    assert told.status == 200, told.text
    found = told.body
    assert found["sentence"].startswith(f"{found['options'][0]['target_words']}, carries 2,000 ops")
    assert [option["status"] for option in found["options"]] == ["predicted"] * 5
    prices = [option["usd_per_month"] for option in found["options"]]
    assert prices == sorted(prices)
    assert found["options_in_all"] > 5
    assert found["required_ops_per_second"] == pytest.approx(2000 / 0.7)
    [own] = found["measured"]
    assert (own["run"], own["target_words"]) == (run_id, "db.m6i.large, io1 100 GiB, 1,000 IOPS")
    assert own["next_words"] is None


def test_its_command_asks_the_same(
    api: Api, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = finished(api)
    asked = {"want": "1250.5", "headroom": "0.125", "limits_us": "read=3217.25,update=50000"}
    found = api("GET", f"/runs/{run_id}/sizes", query=asked).body
    folder = tmp_path / "plimsoll-results" / "serve-1" / "renamed"
    folder.mkdir(parents=True)
    made = api.deployment.files(run_id).get(RESULT, RunResult)
    (folder / "result.json").write_text(made.model_dump_json())
    monkeypatch.chdir(tmp_path)
    program, verb, *arguments = shlex.split(found["command"])
    assert (program, verb) == ("plimsoll", "size")
    printed = CliRunner().invoke(size.command, arguments, standalone_mode=False)
    assert printed.output.splitlines()[0] == found["sentence"]


def test_without_limits_those_that_the_run_was_judged_by_hold(api: Api) -> None:
    result, _ = synthetic_run()
    assert result.capacity is not None
    assert not result.request.limits.limits_us  # so: times its lightest load
    found = api("GET", f"/runs/{finished(api)}/sizes", query={"want": "100", "limit": "1"}).body
    assert found["limits_us"] == result.capacity.steps[0].limit_us


def test_where_nothing_carries_it_there_is_a_sentence_and_no_ranking(api: Api) -> None:
    found = api("GET", f"/runs/{finished(api)}/sizes", query={"want": "90000000", **LIMITS}).body
    assert (found["options"], found["options_in_all"]) == ([], 0)
    most = found["cannot"][0]["sentence"].removeprefix("nothing carries this; ")
    assert found["sentence"] == f"nothing carries 90,000,000 ops/s with 30 % to spare: {most}"


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ({}, "want", "is missing"),
        ({"want": "0"}, "want", "greater than 0"),
        ({"want": "nan"}, "want", ""),
        ({"want": "1e10"}, "want", "1000000000"),
        ({"want": "1", "headroom": "1"}, "headroom", "0.99"),
        ({"want": "1", "limits_us": ""}, "limits_us", "none for read, update: write read=20000"),
        ({"want": "1", "limits_us": "read=5"}, "limits_us", "none for update"),
        ({"want": "1", "limits_us": "raed=5"}, "limits_us", "did you mean 'read'?"),
        (
            {"want": "1", "limits_us": "read=5ms"},
            "limits_us",
            "read: '5ms' is not a number of",
        ),
        ({"want": "1", "limits_us": "read=nan"}, "limits_us", "of 0 to 1,000,000,000"),
        ({"want": "1", "limits_us": "read=0"}, "limits_us", "read: '0' is not a number"),
        ({"want": "1", "statistic": "p90"}, "statistic", "p99"),
        ({"want": "1", "limit": "501"}, "limit", "500"),
    ],
)
def test_what_cannot_be_is_named(api: Api, query: dict[str, str], field: str, said: str) -> None:
    told = api("GET", f"/runs/{finished(api)}/sizes", query=query)
    assert (told.status, set(told.wrong)) == (422, {field}), told.text
    assert said in told.wrong[field]["detail"]


def refused(api: Api, run_id: str) -> str:
    told = api("GET", f"/runs/{run_id}/sizes", query={"want": "100"})
    assert (told.status, told.body["title"]) == (409, "No ground"), told.text
    detail: str = told.body["detail"]
    return detail


def test_a_run_that_says_nothing_to_predict_from_is_refused_in_a_sentence(api: Api) -> None:
    running = started(api)
    assert refused(api, running) == f"{running} has no results: it is PENDING"
    result, _ = synthetic_run()
    endpoint = EndpointTarget.model_validate({"kind": "endpoint", "engine": "mysql", "host": "db"})
    request = result.request.model_copy(update={"target": endpoint})
    assert refused(api, finished(api, request=request)).startswith(
        "its target is an existing endpoint, whose volume and class are not known"
    )
    busy = {"host_others_percent": 84.0, "host_idle_percent": 0.0, "host_stolen_percent": 0.0}
    steps = tuple(
        step.model_copy(update={"step": step.step.model_copy(update=busy)}) for step in result.steps
    )
    assert refused(api, finished(api, steps=steps)).startswith(
        "nothing can be predicted from it: LOWER_BOUND: sustains at least"
    )


def test_another_teams_run_is_not_there(api: Api) -> None:
    told = api("GET", f"/runs/{finished(api)}/sizes", query={"want": "1"}, principal=OTHER)
    assert told.status == 404
