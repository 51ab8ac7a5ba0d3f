"""Experiments and checks on the service's page."""

import re

from playwright.sync_api import Page, expect

from plimsoll.local.front import Front
from tests.browser.conftest import Console
from tests.browser.console_known import EXPERIMENT, history
from tests.browser.console_service import LaidDown


def test_an_experiment_is_a_heat_map_that_leads_to_its_runs(page: Page, front: Front) -> None:
    Console(page, front, "experiments/e1")
    table = page.locator("table.heat")
    expect(table.locator("tbody tr")).to_have_count(2)
    expect(table.locator("td.heat-1")).to_contain_text("1,200")
    expect(table.locator("td.heat-7")).to_contain_text("2,400")
    expect(table).to_contain_text("not started")
    table.get_by_role("link", name="2000-iops-ycsb-a").click()
    expect(page).to_have_url(re.compile("#/runs/fast$"))


def test_a_search_for_the_boundary_tells_measured_from_predicted(
    page: Page, service: LaidDown, front: Front
) -> None:
    predicted = {"ops_per_second": 900.0, "low": 800.0, "high": 1100.0, "binds": "storage IOPS"}
    cells = [
        {"name": "1000-iops", "status": "predicted", "measured_ops_per_second": None,
         "bound": None, "predicted": predicted, "why": None},
        {"name": "2000-iops", "status": "measured", "measured_ops_per_second": 2400.0,
         "bound": "=", "predicted": None, "why": None},
    ]  # fmt: skip
    result = {
        "answer": "2000-iops carries 2,000 ops/s.", "boundary": {"cells": cells}, "cells": [],
        "decisions": [], "gains": [], "warnings": [],
    }  # fmt: skip
    record = {**EXPERIMENT["record"], "state": "SUCCEEDED"}
    service.answers["/experiments/e1"] = {**EXPERIMENT, "record": record, "result": result}
    Console(page, front, "experiments/e1")
    rows = page.get_by_role("region", name="Every cell, by price").locator("tbody tr")
    expect(rows.nth(0)).to_contain_text("~900 (800 to 1,100)")
    expect(rows.nth(1)).to_contain_text("2,400")
    expect(rows.nth(1)).not_to_contain_text("~")
    expect(page.get_by_role("heading", name="What to buy")).to_have_count(0)


def test_a_check_with_few_figures_says_that_it_cannot_tell_yet(
    page: Page, service: LaidDown, front: Front
) -> None:
    known = history()
    known |= {"points": known["points"][:3], "changes": []}
    service.answers["/schedules/nightly/history"] = known
    Console(page, front, "checks/nightly")
    expect(page.get_by_text("Not to be told yet: 2 of the 8 runs")).to_be_visible()


def test_a_check_shows_where_it_changed_and_its_control(page: Page, front: Front) -> None:
    Console(page, front, "checks/nightly")
    chart = page.locator("figure .chart")
    expect(chart.locator(".plot svg[data-told]")).to_have_count(5 + 6)
    expect(chart).to_contain_text("regression \N{MINUS SIGN}19.8 %")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("regression")
    expect(page.get_by_role("region", name="Every point")).to_contain_text("the run was NOISY")
