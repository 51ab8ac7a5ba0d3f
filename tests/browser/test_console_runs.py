"""The list of runs and their comparison, on the service's page."""

import re
import threading
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from werkzeug.wrappers import Request

from plimsoll.console.config import ConsoleConfig
from plimsoll.local.front import Front
from tests.browser import console_documents as documents
from tests.browser.conftest import PATIENCE_MS, Console
from tests.browser.console_known import FAST, SLOW, TOKEN
from tests.browser.console_service import LaidDown
from tests.support.synthetic_run import CLIENTS, OPERATIONS, START


def test_the_table_has_what_every_run_came_to(page: Page, front: Front) -> None:
    Console(page, front)
    row = page.get_by_role("row", name="slow-run")
    assert SLOW.capacity is not None
    assert SLOW.capacity.interval is not None
    figure = SLOW.capacity.max_sustainable_throughput_ops_per_second
    for told in (f"{figure:,.0f}", "succeeded", "knee found", "gone 2026-03-02", "MariaDB 11.4.5"):
        expect(row).to_contain_text(told)
    expect(row).to_contain_text(f"{SLOW.capacity.interval.low_ops_per_second:,.0f} to")
    expect(row.locator("svg path")).to_have_count(1)


def test_runs_are_filtered_by_any_word_of_theirs(page: Page, front: Front) -> None:
    Console(page, front)
    expect(page.get_by_role("row")).to_have_count(3)
    page.get_by_label("Filter").fill("fast mariadb succeeded")
    expect(page.get_by_role("row")).to_have_count(2)
    expect(page.locator("tbody")).to_contain_text("fast-run")
    page.get_by_label("Filter").fill("fast slow")
    expect(page.get_by_role("row")).to_have_count(1)


def test_chosen_runs_are_compared(page: Page, front: Front) -> None:
    Console(page, front)
    page.get_by_label("Compare fast-run").check()
    expect(page.get_by_role("link", name="Compare: choose")).to_have_count(1)
    page.get_by_label("Compare slow-run").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.locator(".answer .sentence").first).to_contain_text("times the throughput")
    charts = page.locator("figure .chart")
    expect(charts).to_have_count(len(OPERATIONS))
    points = page.locator("figure").first.locator(".plot svg[data-told]")
    expect(points).to_have_count(2 * len(CLIENTS))
    ratio = page.get_by_role("region", name="Capacities").get_by_role("row").nth(2)
    assert re.search(r"\d\.\d\d to \d\.\d\d", ratio.inner_text())


def test_compare_offers_the_runs_that_have_a_figure_and_swaps_them(
    page: Page, front: Front
) -> None:
    Console(page, front, "compare")
    page.get_by_label("Second run").select_option("slow")
    page.get_by_label("First run").select_option("fast")
    page.get_by_role("button", name="Compare").click()
    expect(page).to_have_url(re.compile("run=fast&run=slow"))
    page.get_by_role("link", name="Swap the two").click()
    expect(page).to_have_url(re.compile("run=slow&run=fast"))
    expect(page.locator("figure .chart")).to_have_count(len(OPERATIONS))


@pytest.mark.parametrize(
    ("view", "told"),
    [
        ("runs", "No run yet."),
        ("experiments", "No experiment yet."),
        ("checks", "No check yet."),
        ("compare", "a comparison needs two"),
        ("buy", "No run with a figure yet."),
    ],
)
def test_an_empty_list_says_what_to_do(
    page: Page, service: LaidDown, front: Front, view: str, told: str
) -> None:
    service.answers["/runs"] = {"runs": [], "next_cursor": None, "unreadable": 0}
    service.answers["/experiments"] = {"experiments": [], "unreadable": 0}
    service.answers["/schedules"] = {"schedules": [], "unreadable": 0}
    service.forget("")
    Console(page, front, view)
    expect(page.locator(".empty:visible")).to_contain_text(told)


def test_rows_are_low_and_success_without_a_figure_is_not_green(
    page: Page, service: LaidDown, front: Front
) -> None:
    none = {"capacity_ops_per_second": None, "interval": None, "bound": None, "verdict": "NOISY"}
    rows = [documents.row(SLOW, name="answered"), documents.row(FAST, name="noisy", **none)]
    service.answers["/runs"] = {"runs": rows, "next_cursor": None, "unreadable": 0}
    service.forget("")
    Console(page, front)
    expect(page.get_by_role("row", name="answered").locator(".tag.decided")).to_have_count(1)
    noisy = page.get_by_role("row", name="noisy")
    expect(noisy.locator(".tag")).to_have_text("succeeded")
    expect(noisy.locator(".tag.decided")).to_have_count(0)
    box = noisy.bounding_box()
    assert box is not None
    assert box["height"] <= 42


def test_curves_of_another_percentile_are_not_drawn_over_each_other(
    page: Page, service: LaidDown, front: Front
) -> None:
    compared = documents.comparison(SLOW, FAST)
    compared["runs"][1]["statistic"] = "p95"
    service.answers["/comparisons"] = compared
    Console(page, front, "compare?run=slow&run=fast")
    first = page.locator("figure").first
    expect(first.locator(".plot svg[data-told]")).to_have_count(len(CLIENTS))
    told = page.get_by_text("Not drawn, since another percentile was judged")
    expect(told).to_contain_text(compared["runs"][1]["label"])


def test_two_hundred_runs_stay_fluid(page: Page, service: LaidDown, front: Front) -> None:
    rows = [
        documents.row(SLOW, run_id=f"run-{i}", submitted_at=START + timedelta(hours=i))
        for i in range(200)
    ]
    rows.reverse()
    pages = {None: (rows[:100], "next"), "next": (rows[100:], None)}

    def listed(asked: Request) -> Any:
        runs, cursor = pages[asked.args.get("cursor")]
        return {"runs": runs, "next_cursor": cursor, "unreadable": 0}

    service.answers["/runs"] = listed
    service.forget("")
    service.tell("", "runs", {"runs": rows[:100]}, "2")
    console = Console(page, front)
    expect(page.locator("tbody tr")).to_have_count(200)
    first = page.locator("tbody tr").first
    page.evaluate("window.kept = document.querySelector('tbody tr:nth-child(2)')")
    service.tell("", "runs", {"runs": [rows[0] | {"state": "RUNNING"}]}, "3")
    expect(first).to_contain_text("running")
    assert page.evaluate("window.kept.isConnected")  # what has not changed is not made anew
    assert console.complaints == []


def test_the_newest_runs_are_there_before_the_others(
    page: Page, service: LaidDown, front: Front
) -> None:
    rows = [documents.row(SLOW, run_id=f"run-{i}") for i in range(40)]
    others = threading.Event()

    def listed(asked: Request) -> Any:
        if asked.args.get("cursor") is None:
            few = int(asked.args["limit"])
            return {"runs": rows[:few], "next_cursor": "next", "unreadable": 0}
        assert others.wait(PATIENCE_MS / 1000)
        return {"runs": rows[25:], "next_cursor": None, "unreadable": 0}

    service.answers["/runs"] = listed
    service.forget("")
    Console(page, front)
    expect(page.locator("tbody tr")).to_have_count(25)
    others.set()
    expect(page.locator("tbody tr")).to_have_count(40)


@pytest.mark.parametrize("one_run", [True, False])
def test_the_list_leads_to_its_run_where_there_will_be_no_other(
    page: Page, service: LaidDown, one_run: bool
) -> None:
    rows = [documents.row(SLOW, name="slow-run")]
    service.answers["/runs"] = {"runs": rows, "next_cursor": None, "unreadable": 0}
    service.forget("")
    config = ConsoleConfig(may_start=False, one_run=one_run)
    with Front(service, token=TOKEN, config=config) as front:
        page.goto(front.page_url)
        heading = page.get_by_role("heading", level=1)
        if one_run:
            expect(heading).to_have_text(SLOW.name)
        else:
            expect(page.get_by_role("row")).to_have_count(2)
            expect(page.locator("main [role=status]")).to_have_text("1 run.")
            expect(heading).to_have_text("Runs")
