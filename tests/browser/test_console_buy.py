"""What to buy, on the page of the service: a load is moved, and the ranking follows it."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from plimsoll import words
from plimsoll.local.front import Front
from tests.browser import console_documents as documents
from tests.browser.conftest import Console, until
from tests.browser.console_known import SLOW, SLOW_SECONDS
from tests.browser.console_service import LaidDown, problem

HOSTILE = '<img src=x onerror="document.title=1">'
ASKED = "/runs/slow/sizes"


def wanted(page: Page) -> Locator:
    return page.get_by_label("Wanted, ops/s")


def slider(page: Page) -> Locator:
    return page.get_by_role("slider", name="Wanted, operations per second")


def rows(page: Page) -> Locator:
    name = "Targets that carry the load, by price, then those that may"
    return page.get_by_role("region", name=name).locator("tbody tr")


def sentence(page: Page) -> Locator:
    return page.locator(".answer .sentence")


def test_a_run_with_a_figure_leads_to_it(page: Page, service: LaidDown, front: Front) -> None:
    none = documents.ended_run(SLOW, SLOW_SECONDS)
    none["answer"] |= {"figure": None, "decided": False}
    service.tell("bad", "live", none, none["cursor"])
    console = Console(page, front, "runs/slow")
    page.get_by_role("link", name="What to buy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("slow-run")
    expect(sentence(page)).to_contain_text("carries")
    console.go("runs/bad")
    expect(page.locator(".figure .tag")).to_be_visible()
    expect(page.get_by_role("link", name="What to buy")).to_have_count(0)


def test_predicted_is_dim_and_marked_and_measured_is_not(page: Page, front: Front) -> None:
    Console(page, front, "buy/slow?want=500")
    predicted = rows(page).filter(has_text="~").first
    measured = rows(page).filter(has=page.get_by_role("link", name="slow-run"))
    expect(predicted).to_contain_text(re.compile(r"~[\d,]+"))
    expect(measured).to_have_count(1)
    expect(measured).to_contain_text("measured")
    expect(measured).not_to_contain_text("~")
    color = "row => getComputedStyle(row.querySelector('td:nth-child(3) b')).color"
    assert predicted.evaluate(color) != measured.evaluate(color)
    expect(page.locator("main")).to_contain_text("~ means predicted, not measured")
    expect(page.get_by_role("listitem").filter(has_text="burstable classes")).to_be_visible()


def test_the_ranking_is_that_of_the_command_line(page: Page, front: Front) -> None:
    Console(page, front, "buy/slow?want=2000")
    told = documents.sizes(SLOW, want="2000", limit="10")
    expect(sentence(page)).to_have_text(f"{told['sentence']}.")
    first = told["options"][0]
    cheapest = rows(page).first
    expect(cheapest).to_contain_text(first["target_words"])
    expect(cheapest).to_contain_text(words.format_monthly_usd(first["usd_per_month"]))
    expect(cheapest).to_contain_text(f"~{first['ops_per_second']:,.0f}")
    expect(cheapest).to_contain_text(f"{first['low']:,.0f} to {first['high']:,.0f}")
    expect(cheapest).to_contain_text(first["binds_words"])
    expect(cheapest).to_contain_text(first["next_words"])
    expect(page.get_by_label("Command", exact=True)).to_have_text(told["command"])
    assert told["command"].startswith("plimsoll size slow --want 2000 --limit read=50ms")


def test_the_keyboard_moves_the_load_and_the_ranking_follows(page: Page, front: Front) -> None:
    console = Console(page, front, "buy/slow?want=2000")
    expect(sentence(page)).to_contain_text("carries 2,000 ops/s")
    slider(page).focus()
    page.keyboard.press("ArrowRight")
    more = wanted(page).input_value()
    assert 2000 < float(more) < 2600
    expect(sentence(page)).to_contain_text(f"carries {float(more):,.0f} ops/s")
    expect(slider(page)).to_have_attribute("aria-valuetext", f"{more} operations per second")
    expect(slider(page)).to_be_focused()
    page.reload()  # its address keeps what is asked
    expect(wanted(page)).to_have_value(more)
    wanted(page).fill("150")
    expect(sentence(page)).to_contain_text("carries 150 ops/s")
    assert float(slider(page).input_value()) < 10
    assert console.complaints == []


def test_the_runs_limits_are_filled_in_and_asked_with(
    page: Page, service: LaidDown, front: Front
) -> None:
    asked: list[dict[str, str]] = []

    def told(request: Any) -> Any:
        asked.append(request.args.to_dict())
        return documents.sizes(SLOW, **request.args)

    service.answers[ASKED] = told
    Console(page, front, "buy/slow")
    read = page.get_by_label("read, p99 at most, ms")
    expect(read).to_have_value("50")
    read.fill("7.5")
    page.get_by_label("Headroom, % of the load line").fill("10")
    until(lambda: asked[-1].get("headroom") == "0.1")
    assert "limits_us" not in asked[0]
    assert asked[-1]["limits_us"] == "read=7500,update=50000"
    expect(page.locator(".answer")).to_contain_text("within p99 read 7.50 ms, update 50.0 ms")


def test_a_complaint_stands_at_its_field(page: Page, service: LaidDown, front: Front) -> None:
    Console(page, front, "buy/slow?want=2000")
    expect(sentence(page)).to_be_visible()
    wrong = {"field": "want", "detail": "must be a number", "value": "x", "allowed": []}
    service.answers[ASKED] = problem(422, "want: must be a number", wrong)
    wanted(page).fill("x")
    expect(page.locator("#want-bad")).to_have_text("must be a number")
    expect(wanted(page)).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert").filter(has_text="it says why")).to_be_visible()
    del service.answers[ASKED]
    service.answers[ASKED] = documents.sizes(SLOW, want="300")
    wanted(page).fill("300")
    expect(sentence(page)).to_contain_text("carries 300 ops/s")
    expect(wanted(page)).not_to_have_attribute("aria-invalid", "true")


def test_what_nothing_carries_is_said_with_what_binds(page: Page, front: Front) -> None:
    Console(page, front, "buy/slow?want=90000000")
    expect(sentence(page)).to_contain_text("Nothing carries 90,000,000 ops/s")
    expect(rows(page)).to_have_count(0)
    expect(page.get_by_role("listitem").filter(has_text="binds at").first).to_contain_text("~")
    own = page.get_by_role("region", name="Measured, and not known to carry the load")
    expect(own.get_by_role("link", name="slow-run")).to_be_visible()


@pytest.mark.parametrize(
    "why",
    [
        "its target is an existing endpoint, whose volume and class are not known",
        "nothing can be predicted from it: DISTURBED: no figure",
    ],
)
def test_a_run_that_is_refused_says_the_sentence(
    page: Page, service: LaidDown, front: Front, why: str
) -> None:
    service.answers[ASKED] = problem(409, why)
    Console(page, front, "buy/slow")
    expect(page.get_by_role("alert").filter(has_text=why[1:])).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("Loading")


def test_all_targets_are_shown_where_they_are_asked_for(page: Page, front: Front) -> None:
    Console(page, front, "buy/slow?want=500")
    expect(rows(page)).to_have_count(10)
    count = documents.sizes(SLOW, want="500")["options_in_all"]
    page.get_by_role("button", name=f"Show all {count} targets").click()
    expect(rows(page)).to_have_count(count)
    expect(page.get_by_role("button", name="Show all")).to_have_count(0)


def test_a_measured_lower_bound_is_marked_as_one(
    page: Page, service: LaidDown, front: Front
) -> None:
    told = documents.sizes(SLOW, want="90000000")
    told["measured"][0] |= {"sure": False, "ops_per_second": 656.0}
    service.answers[ASKED] = told
    Console(page, front, "buy/slow")
    own = page.get_by_role("region", name="Measured, and not known to carry the load")
    expect(own.get_by_role("row").last).to_contain_text("≥ 656")


def test_a_hostile_name_is_text(page: Page, service: LaidDown, front: Front) -> None:
    told = json.loads(json.dumps(documents.sizes(SLOW, want="500")).replace("db.m6i", "HOST"))
    told = json.loads(json.dumps(told).replace("HOST", json.dumps(HOSTILE)[1:-1]))
    service.answers["/runs/slow"] |= {"name": HOSTILE, "target_words": HOSTILE}
    service.answers[ASKED] = told
    console = Console(page, front, "buy/slow")
    expect(rows(page).first).to_contain_text(HOSTILE)
    assert page.locator("main img").count() == 0
    assert console.complaints == []
