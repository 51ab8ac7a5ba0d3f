"""One run on the service's page: its answer, its clock, and what it does now."""

import copy
import re
from typing import Any

from playwright.sync_api import Locator, Page, expect

from plimsoll.local.front import Front
from tests.browser import console_documents as documents
from tests.browser.conftest import Console, until
from tests.browser.console_known import SLOW, SLOW_SECONDS
from tests.browser.console_service import LaidDown, problem
from tests.support.synthetic_run import CLIENTS, OPERATIONS

POINT = ".plot svg[data-told]"
PANELS = 7  # steps, throughput, latency, IOPS, MiB/s, queue, CPU


def bring_into_view(plot: Locator) -> None:
    """Scroll to a plot; what scrolling hides is hidden when this returns."""
    plot.scroll_into_view_if_needed()
    frame = "new Promise(requestAnimationFrame)"
    plot.page.evaluate(f"{frame}.then(() => {frame})")


def test_a_run_that_has_ended_shows_its_answer_its_curve_and_its_clock(
    page: Page, front: Front
) -> None:
    Console(page, front, "runs/slow")
    assert SLOW.capacity is not None
    figure = SLOW.capacity.max_sustainable_throughput_ops_per_second
    expect(page.locator(".answer .number")).to_have_text(f"{figure:,.0f}")
    expect(page.get_by_role("link", name="Open the report")).to_have_attribute("target", "_blank")
    curve = page.locator("figure").first
    expect(curve.locator(POINT)).to_have_count(len(CLIENTS) * len(OPERATIONS))
    expect(curve.locator(".plot path[fill=none][stroke='var(--ink)']")).to_have_count(
        2 * len(OPERATIONS)
    )
    expect(curve.locator("line[data-told]")).to_have_count(len(OPERATIONS))
    expect(page.locator("[data-chart=timeline] .panel")).to_have_count(PANELS)
    expect(page.locator(".log").last).to_contain_text("seen deleted")
    assert not page.get_by_role("button", name="Stop").is_visible()


def test_every_panel_tells_the_moment_that_is_pointed_at(page: Page, front: Front) -> None:
    Console(page, front, "runs/slow")
    expect(page.locator(POINT)).to_have_count(len(CLIENTS) * len(OPERATIONS))
    panel = page.locator("[data-panel=rate]")
    bring_into_view(panel)
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    expect(page.locator("#tip")).to_contain_text("update ops/s")
    lines = page.locator(".panel .hair")
    expect(lines).to_have_count(PANELS)
    assert len({lines.nth(i).get_attribute("x1") for i in range(lines.count())}) == 1


def test_the_keyboard_reads_any_moment(page: Page, front: Front) -> None:
    Console(page, front, "runs/slow")
    expect(page.locator(POINT)).to_have_count(len(CLIENTS) * len(OPERATIONS))  # it lies above
    panel = page.locator("[data-panel=cpu]")
    bring_into_view(panel)
    panel.focus()
    panel.press("ArrowRight")
    first = page.locator("#tip").inner_text()
    assert "CPU" in first
    panel.press("ArrowRight")
    expect(page.locator("#tip")).not_to_have_text(first)
    panel.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()


def test_a_run_grows_step_by_step(page: Page, service: LaidDown, front: Front) -> None:
    first = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("growing", "live", first, first["cursor"])
    Console(page, front, "runs/growing")
    expect(page.locator(POINT)).to_have_count(len(OPERATIONS))
    expect(page.get_by_role("region", name="Progress")).to_contain_text("Step 2")
    service.tell("growing", "second", provisional(SLOW_SECONDS, step=2))
    throughput = page.locator("[data-panel=rate]")
    provisional_blocks = throughput.locator("path[opacity='0.4']")
    expect(provisional_blocks).to_have_count(len(OPERATIONS))
    latest = page.get_by_role("region", name="Latest figures")
    expect(latest).to_contain_text("600")  # of both operations
    expect(latest).to_contain_text("9.00 ms")
    bring_into_view(throughput)
    throughput.focus()
    throughput.press("ArrowRight")
    read = page.locator("#tip").inner_text()
    more = documents.going_run(SLOW, SLOW_SECONDS, steps=3, after=1)
    service.tell("growing", "live", more, more["cursor"])
    expect(page.locator(POINT)).to_have_count(3 * len(OPERATIONS))
    expect(provisional_blocks).to_have_count(0)
    expect(throughput.locator("rect[fill='var(--band)']")).to_have_count(4)
    expect(throughput).to_be_focused()  # who reads there goes on reading
    expect(page.locator("#tip")).to_have_text(read, use_inner_text=True)
    expect(page.locator("#said")).not_to_be_empty()


def provisional(seconds: Any, step: int) -> dict[str, Any]:
    """The first second of a step, as its clients tell it."""
    first = next(second for second in seconds.operations if second.step == step)
    told = {name: {"succeeded": 300, "errors": 0, "p99_us": 9000} for name in OPERATIONS}
    counts = {"clients_told": 1, "clients": 1}
    return {"step": step, "epoch_s": first.epoch_s, "operations": told, **counts}


def test_stop_asks_once(page: Page, service: LaidDown, front: Front) -> None:
    going = documents.going_run(SLOW, SLOW_SECONDS, steps=2)
    service.tell("going", "live", going, going["cursor"])
    service.answers["DELETE /runs/going"] = going["run"]
    Console(page, front, "runs/going")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Go on").click()
    assert [call for call in service.calls if call[0] == "DELETE"] == []
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("dialog").get_by_role("button", name="Stop the run").click()
    expect(page.get_by_text("Stop requested.")).to_be_visible()
    assert [call for call in service.calls if call[0] == "DELETE"] == [
        ("DELETE", "/runs/going", None)
    ]


def test_a_run_that_is_not_there_is_said_so(page: Page, front: Front, service: LaidDown) -> None:
    service.answers["/runs/gone/live"] = problem(404, "there is no run 'gone'")
    page.goto(front.page_url)
    expect(page).not_to_have_url(re.compile("token"))
    page.evaluate("location.hash = '#/experiments/gone'")
    expect(page.get_by_role("alert").last).to_contain_text("There is nothing at /experiments/gone")


def long_run(count: int = 600) -> dict[str, Any]:
    """Ten hours, as the service thins them: a bin for each minute."""
    document = copy.deepcopy(documents.ended_run(SLOW, SLOW_SECONDS))
    begin, bins = document["seconds"]["epoch_s"][0], range(count)
    document["every_s"] = 60
    document["run"]["ended_at"] = "2026-03-02T20:00:00Z"
    times = [begin + 60 * i for i in bins]
    seconds = document["seconds"]
    seconds |= {"epoch_s": times, "step": [1 + i // 60 for i in bins]}
    for columns in (seconds, *seconds["operations"].values(), document["resources"]):
        for name, column in columns.items():
            if isinstance(column, list) and name not in {"epoch_s", "step"}:
                known = next((value for value in column if value is not None), None)
                columns[name] = [known and known * (1 + i % 7 / 10) for i in bins]
    document["resources"] |= {"every_s": 60, "epoch_s": times}
    return document


def test_ten_hours_are_drawn_with_few_elements(page: Page, service: LaidDown, front: Front) -> None:
    document = long_run()
    service.tell("long", "live", document, document["cursor"])
    console = Console(page, front, "runs/long")
    expect(page.locator("[data-panel=cpu]")).to_contain_text("8:00")
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    assert console.complaints == []


def test_a_run_that_has_grown_is_asked_for_anew_in_wider_bins(
    page: Page, service: LaidDown, front: Front
) -> None:
    document = long_run(1300)
    document["run"] |= {"state": "RUNNING", "ended_at": None}
    service.tell("grown", "live", document, document["cursor"])
    Console(page, front, "runs/grown")
    expect(page.locator("[data-panel=cpu]")).to_be_visible()

    def begun() -> list[str | None]:
        return [after for of, after in service.streams if of.get("run_id") == "grown"]

    until(lambda: len(begun()) >= 2)
    assert begun()[:2] == [None, None]
