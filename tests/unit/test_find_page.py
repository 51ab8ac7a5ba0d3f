"""A search in this process, as its page is told of it."""

import json
from threading import Event
from typing import Any

import pytest
from werkzeug.test import EnvironBuilder
from werkzeug.wrappers import Request

from plimsoll.cli.find_shown import FindPage, find_page_config
from plimsoll.load_line.search_loop import Shows
from plimsoll.model.engine.answered import SecondReport
from plimsoll.model.run.results import RunResult, StepResult
from tests.support.live_run import whole_steps
from tests.support.synthetic_run import synthetic_run


@pytest.fixture
def result() -> RunResult:
    return synthetic_run()[0]


@pytest.fixture
def steps() -> list[StepResult]:
    return whole_steps(*synthetic_run())


def asked(path: str, method: str = "GET") -> Request:
    return Request(EnvironBuilder(path, method=method).get_environ())


def answered(page: FindPage, path: str, method: str = "GET") -> tuple[int, Any]:
    request = asked(path, method)
    answer = page.answer(request, request.path)
    return answer.status, json.loads(answer.body)


def test_a_page_of_a_search_starts_nothing() -> None:
    assert (
        find_page_config().may_start,
        find_page_config().may_stop,
        find_page_config().run_id,
    ) == (False, True, "find")


def test_what_is_shown_on_the_terminal_comes_to_the_page_too(
    result: RunResult, steps: list[StepResult]
) -> None:
    said: list[str] = []
    page = FindPage(result.request)
    shows = page.extend_callbacks(
        Shows(
            say=said.append,
            planned=lambda plan: said.append(f"planned {plan.index}"),
            finished=lambda step: said.append(f"finished {step.plan.index}"),
        )
    )
    for step in steps[:2]:
        shows.planned(step.plan)
        shows.finished(step)
    shows.planned(steps[2].plan)
    assert said == ["planned 1", "finished 1", "planned 2", "finished 2", "planned 3"]
    status, told = answered(page, "/runs/find/live")
    assert status == 200
    assert [step["step"] for step in told["steps"]] == [1, 2]
    assert told["plan"]["step"] == 3
    assert told["run"]["state"] == "RUNNING"
    assert told["caps"] is None  # whose volume it is, nobody here knows
    _, again = answered(page, f"/runs/find/live?after={told['cursor']}")
    assert again["steps"] == []


def test_its_end_is_the_report(result: RunResult, steps: list[StepResult]) -> None:
    page = FindPage(result.request)
    shows = page.extend_callbacks(Shows())
    for step in steps:
        shows.planned(step.plan)
        shows.finished(step)
    page.take_result(result)
    _, told = answered(page, "/runs/find/live")
    assert told["answer"]["tag"] == "knee found"
    assert told["run"]["run_id"] == "find"
    _, listed = answered(page, "/runs")
    assert [run["verdict"] for run in listed["runs"]] == ["KNEE"]


def test_it_is_stopped_from_its_page(result: RunResult) -> None:
    page = FindPage(result.request)
    why: list[str] = []
    page.stop = why.append
    assert answered(page, "/runs/find", "DELETE")[0] == 202
    assert why == ["it was stopped from its page"]
    assert answered(page, "/runs")[1]["runs"][0]["state"] == "STOPPING"


def test_its_seconds_are_told_as_they_come(result: RunResult, steps: list[StepResult]) -> None:
    page = FindPage(result.request)
    shows = page.extend_callbacks(Shows())
    shows.planned(steps[0].plan)
    second = SecondReport(
        second=0,
        operation="read",
        succeeded=5,
        errors=0,
        p50_us=1,
        p99_us=1,
        max_us=1,
        buckets={1: 5},
    )
    shows.second(steps[0].plan, [second])
    ended = Event()
    ended.set()
    events = [event.decode() for event in page.events(asked("/events?run_id=find"), ended)]
    assert [event.splitlines()[0] for event in events] == [
        "event: live",
        "event: second",
        "event: bye",
    ]
    assert '"succeeded":5' in events[1]


@pytest.mark.parametrize("path", ["/runs/other/live", "/workloads", "/runs/find/report"])
def test_it_has_nothing_else(result: RunResult, path: str) -> None:
    assert answered(FindPage(result.request), path)[0] == 404


def test_a_cursor_of_nobodys_is_refused(result: RunResult) -> None:
    assert answered(FindPage(result.request), "/runs/find/live?after=x")[0] == 422
