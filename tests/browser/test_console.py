"""The page of the service in a real browser, before a service that a test lays down."""

import copy
import json
import re
import threading
import time
import webbrowser
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from werkzeug.wrappers import Request

from plimsoll import words
from plimsoll.cli.page import Page as Asked
from plimsoll.cli.page import shown
from plimsoll.console.config import ConsoleConfig
from plimsoll.console.outlook import BETWEEN_STEPS_S
from plimsoll.local.front import Front, listen
from tests.browser import console_documents as documents
from tests.browser.conftest import PATIENCE_MS, Console, until
from tests.browser.console_known import EXPERIMENT, FAST, SLOW, SLOW_SECONDS, TOKEN
from tests.browser.console_service import LaidDown, problem
from tests.support.synthetic_run import CLIENTS, OPERATIONS, START, request

HOSTILE = '<img src=x onerror="document.title=1">"\'`\u202e</script><b>'
VIEWS = (
    "runs",
    "runs/slow",
    "buy/slow",
    "compare?run=slow&run=fast",
    "compare",
    "start",
    "experiments/e1",
    "checks/nightly",
)


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_says_nothing_on_the_console_and_asks_no_other_host(
    page: Page, front: Front, view: str
) -> None:
    console = Console(page, front, view)
    page.wait_for_load_state("load")
    expect(page.locator("main")).not_to_contain_text("Loading")
    assert console.complaints == []
    assert console.hosts == {front.url}


def test_the_token_leaves_the_address_and_goes_with_every_call(page: Page, front: Front) -> None:
    console = Console(page, front)
    expect(page.get_by_role("row")).to_have_count(3)
    assert TOKEN not in page.url
    page.reload()
    expect(page.get_by_role("row")).to_have_count(3)
    assert console.complaints == []


def test_the_file_that_a_browser_is_handed_leads_to_the_page(
    page: Page, front: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(webbrowser, "open", asked.append)
    with shown(front, Asked(shown=True, opened=True)):
        page.goto(asked[0])
        expect(page.get_by_role("row")).to_have_count(3)
    assert page.url == f"{front.url}/console/#/runs"


def test_another_tab_asks_those_that_are_open_for_the_token(page: Page, front: Front) -> None:
    Console(page, front)
    second = page.context.new_page()
    second.goto(f"{front.url}/console/#/runs/fast")
    expect(second.get_by_role("heading", level=1)).to_have_text(FAST.name)


def test_the_table_has_what_every_run_came_to(page: Page, front: Front) -> None:
    Console(page, front)
    row = page.get_by_role("row", name="slow-run")
    assert SLOW.capacity is not None
    assert SLOW.capacity.interval is not None
    figure = SLOW.capacity.max_sustainable_throughput_ops_per_second
    for told in (f"{figure:,.0f}", "succeeded", "knee found", "gone 2026-03-02", "MariaDB 11.4.5"):
        expect(row).to_contain_text(told)
    expect(row).to_contain_text(f"{SLOW.capacity.interval.low_ops_per_second:,.0f} to")
    assert row.locator("svg path").count() == 1


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
    assert page.get_by_role("link", name="Compare: choose").count() == 1
    page.get_by_label("Compare slow-run").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.locator(".answer .sentence").first).to_contain_text("times the throughput")
    charts = page.locator("figure svg.drawing")
    expect(charts).to_have_count(len(OPERATIONS))
    assert page.locator("figure").first.locator("path.mark title").count() == 2 * len(CLIENTS)
    ratio = page.get_by_role("region", name="Capacities").get_by_role("row").nth(2)
    assert re.search(r"\d\.\d\d to \d\.\d\d", ratio.inner_text())


def test_curves_of_another_percentile_are_not_drawn_over_each_other(
    page: Page, service: LaidDown, front: Front
) -> None:
    compared = documents.comparison(SLOW, FAST)
    compared["runs"][1]["statistic"] = "p95"
    service.answers["/comparisons"] = compared
    Console(page, front, "compare?run=slow&run=fast")
    first = page.locator("figure").first
    expect(first.locator("path.mark title")).to_have_count(len(CLIENTS))
    told = page.get_by_text("Not drawn, since another percentile was judged")
    expect(told).to_contain_text(compared["runs"][1]["label"])


def test_a_run_that_has_ended_shows_its_answer_its_curve_and_its_clock(
    page: Page, front: Front
) -> None:
    Console(page, front, "runs/slow")
    assert SLOW.capacity is not None
    figure = SLOW.capacity.max_sustainable_throughput_ops_per_second
    expect(page.locator(".answer .number")).to_have_text(f"{figure:,.0f}")
    expect(page.get_by_role("link", name="Open the report")).to_have_attribute("target", "_blank")
    curve = page.locator("figure").first
    assert curve.locator("path.mark title").count() == len(CLIENTS) * len(OPERATIONS)
    assert curve.locator(".ring").count() == 2 * len(OPERATIONS)
    assert curve.locator(".limit").count() >= len(OPERATIONS)
    assert page.locator(".panel").count() >= 5
    expect(page.locator(".log").last).to_contain_text("seen deleted")
    assert not page.get_by_role("button", name="Stop").is_visible()


def test_every_panel_tells_the_moment_that_is_pointed_at(page: Page, front: Front) -> None:
    Console(page, front, "runs/slow")
    panel = page.locator("#panel-throughput .drawing")
    panel.scroll_into_view_if_needed()
    box = panel.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 60)
    expect(page.locator(".timeline > .note")).to_contain_text("At ")
    lines = page.locator(".panel .cursor")
    assert {lines.nth(i).get_attribute("visibility") for i in range(lines.count())} == {"visible"}
    assert len({lines.nth(i).get_attribute("x1") for i in range(lines.count())}) == 1


def test_the_keyboard_reads_any_moment(page: Page, front: Front) -> None:
    Console(page, front, "runs/slow")
    moment = page.get_by_label("Moment of the run")
    moment.focus()
    moment.press("ArrowLeft")
    told = moment.get_attribute("aria-valuetext")
    assert told is not None
    assert "CPU" in told
    assert "queue" in told


def test_a_run_grows_step_by_step(page: Page, service: LaidDown, front: Front) -> None:
    first = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("growing", "live", first, first["cursor"])
    Console(page, front, "runs/growing")
    expect(page.locator("path.mark title")).to_have_count(len(OPERATIONS))
    expect(page.get_by_label("What is going on")).to_contain_text("Step 2")
    service.tell("growing", "second", provisional(SLOW_SECONDS, step=2))
    expect(page.locator("#panel-throughput .blocks.provisional[d^=M]")).to_have_count(2)
    more = documents.going_run(SLOW, SLOW_SECONDS, steps=3, after=1)
    service.tell("growing", "live", more, more["cursor"])
    expect(page.locator("path.mark title")).to_have_count(3 * len(OPERATIONS))
    expect(page.locator("#panel-throughput .blocks.provisional[d^=M]")).to_have_count(0)
    assert page.locator("#panel-throughput .band").count() == 4
    expect(page.locator("#said")).not_to_be_empty()


def provisional(seconds: Any, step: int) -> dict[str, Any]:
    """The first second of a step, as its clients tell it."""
    first = next(second for second in seconds.operations if second.step == step)
    told = {name: {"succeeded": 300, "errors": 0, "p99_us": 9000} for name in OPERATIONS}
    counts = {"clients_told": 1, "clients": 1}
    return {"step": step, "epoch_s": first.epoch_s, "operations": told, **counts}


def test_a_report_is_asked_for_while_somebody_looks(
    page: Page, service: LaidDown, front: Front
) -> None:
    def asked() -> int:
        return [path for _, path, _ in service.calls].count("/runs/slow/report")

    link = service.answers.pop("/runs/slow/report")  # not drawn yet
    page.add_init_script(
        "window.unseen = false;"
        "Object.defineProperty(document, 'hidden', { get: () => window.unseen });"
    )
    Console(page, front, "runs/slow")
    until(lambda: asked() == 1)
    page.evaluate("window.unseen = true")
    page.wait_for_timeout(2500)
    assert asked() == 1
    service.answers["/runs/slow/report"] = link
    page.evaluate("window.unseen = false; document.dispatchEvent(new Event('visibilitychange'))")
    expect(page.get_by_role("link", name="Open the report")).to_be_visible()


def test_a_report_is_asked_for_ever_later_while_the_service_fails(
    page: Page, service: LaidDown, front: Front
) -> None:
    times: list[float] = []

    def failing(_: Request) -> Any:
        times.append(time.monotonic())
        return problem(503, "later")

    service.answers["/runs/slow/report"] = failing
    Console(page, front, "runs/slow")
    until(lambda: len(times) >= 4)
    assert times[3] - times[2] > 3.5  # seconds: 1, 2, 4


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
    expect(page.get_by_text("Asked to stop.")).to_be_visible()
    assert [call for call in service.calls if call[0] == "DELETE"] == [
        ("DELETE", "/runs/going", None)
    ]


def test_a_lost_connection_is_told_and_caught_up(
    page: Page, service: LaidDown, front: Front
) -> None:
    first = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("going", "live", first, first["cursor"])
    Console(page, front, "runs/going")
    expect(page.locator("path.mark title")).to_have_count(len(OPERATIONS))
    page.context.set_offline(True)
    service.cut()
    expect(page.get_by_role("alert").first).to_contain_text("connection to Plimsoll is lost")
    more = documents.going_run(SLOW, SLOW_SECONDS, steps=2, after=1)
    service.tell("going", "live", more, more["cursor"])
    page.context.set_offline(False)
    expect(page.locator("path.mark title")).to_have_count(2 * len(OPERATIONS))
    expect(page.locator("#link")).to_be_hidden()
    assert service.streams[-1][1] == first["cursor"]


def test_a_service_that_was_started_again_is_told_apart(page: Page, service: LaidDown) -> None:
    going = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("going", "live", going, going["cursor"])
    with Front(service, token="an-earlier-one") as front:
        port = front.port
        Console(page, front, "runs/going")
        expect(page.locator("path.mark title")).to_have_count(len(OPERATIONS))
    with Front(service, token=TOKEN, listener=listen(port)) as front:
        expect(page.get_by_role("alert").first).to_contain_text("started again")
        assert page.locator("path.mark title").count() == len(OPERATIONS)  # what was known stays
        page.get_by_label("Address or token").fill(front.page_url)
        page.get_by_role("button", name="Connect").click()
        expect(page.locator("#link")).to_be_hidden()
        expect(page.locator("path.mark title")).to_have_count(len(OPERATIONS))


def test_a_run_that_is_not_there_is_said_so(page: Page, front: Front, service: LaidDown) -> None:
    service.answers["/runs/gone/live"] = problem(404, "there is no run 'gone'")
    page.goto(front.page_url)
    expect(page).not_to_have_url(re.compile("token"))
    page.evaluate("location.hash = '#/experiments/gone'")
    expect(page.get_by_role("alert").last).to_contain_text("There is nothing at /experiments/gone")


def test_a_form_is_made_from_the_schema_and_quoted_beside_it(
    page: Page, service: LaidDown, front: Front
) -> None:
    Console(page, front, "start")
    expect(page.get_by_label("What it takes")).to_contain_text("3 min 10 son AWS")
    load = request().load
    here = words.duration(round(8 * (load.warmup_s + load.duration_s + BETWEEN_STEPS_S)))
    expect(page.get_by_label("What it takes")).to_contain_text(f"{here}of load here")
    expect(page.get_by_label("What it takes")).to_contain_text("$0.19")
    iops = page.locator("[id='field-target.volume.iops']")
    assert iops.input_value() == "1000"
    iops.fill("2000")
    expect(page.get_by_label("YAML")).to_contain_text("iops: 2000")

    def asked_iops() -> set[int]:
        quoted = [body for _, path, body in service.calls if path == "/quotes"]
        return {body["target"]["volume"]["iops"] for body in quoted}

    until(lambda: 2000 in asked_iops())


def test_a_complaint_stands_at_its_field(page: Page, service: LaidDown, front: Front) -> None:
    wrong = {
        "field": "target.engine",
        "detail": "input should be 'mysql'",
        "value": "x",
        "allowed": [],
    }
    elsewhere: dict[str, Any] = {
        "field": "team",
        "detail": "is not yours",
        "value": None,
        "allowed": [],
    }

    refused = problem(422, "2 fields are wrong", wrong, elsewhere)
    service.answers["POST /quotes"] = refused
    Console(page, front, "start")
    field = page.locator("[id='field-target.engine']")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(page.locator("[id='field-target.engine-bad']")).to_have_text(wrong["detail"])
    expect(page.locator(".card .bad").first).to_contain_text("team: is not yours")


def test_a_run_is_started_once_however_often_it_is_sent(
    page: Page, service: LaidDown, front: Front
) -> None:
    keys = []

    def started(asked: Request) -> Any:
        keys.append(asked.headers["Idempotency-Key"])
        return problem(503, "busy") if len(keys) == 1 else {"run_id": "slow"}

    service.answers["POST /runs"] = started
    Console(page, front, "start")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator(".card .bad").first).to_contain_text("busy")
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile("#/runs/slow$"))
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_another_strategy_has_other_fields(page: Page, front: Front) -> None:
    Console(page, front, "start")
    page.locator("[id='field-search.strategy']").select_option("rate")
    expect(page.locator("[id='field-search.rate_first_ops_per_second']")).to_be_visible()
    expect(page.locator("[id='field-search.whole_list']")).to_have_count(0)
    expect(page.get_by_label("YAML")).to_contain_text("strategy: rate")


def test_an_experiment_is_a_heat_map_that_leads_to_its_runs(page: Page, front: Front) -> None:
    Console(page, front, "experiments/e1")
    table = page.locator("table.heat")
    assert table.locator("tbody tr").count() == 2
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


def test_a_check_shows_where_it_changed_and_its_control(page: Page, front: Front) -> None:
    Console(page, front, "checks/nightly")
    chart = page.locator("figure svg.drawing")
    assert chart.locator("path.mark").count() == 5 + 6
    expect(chart).to_contain_text("regression \N{MINUS SIGN}19.8 %")
    expect(page.get_by_role("region", name="Changes")).to_contain_text("regression")
    expect(page.get_by_role("region", name="Every point")).to_contain_text("the run was NOISY")


def test_a_hostile_name_is_text(page: Page, service: LaidDown, front: Front) -> None:
    bad = documents.row(SLOW, run_id="bad", name=HOSTILE, tags={HOSTILE: HOSTILE})
    service.answers["/runs"] = {"runs": [bad], "next_cursor": None, "unreadable": 0}
    hostile = documents.ended_run(SLOW, SLOW_SECONDS)
    text = json.dumps(hostile).replace("r1-demo", json.dumps(HOSTILE)[1:-1])
    text = text.replace('"update"', json.dumps(HOSTILE))
    hostile = json.loads(text)
    hostile["run"] |= {"run_id": "bad", "tags": {HOSTILE: HOSTILE}, "target_words": HOSTILE}
    service.tell("bad", "live", hostile, hostile["cursor"])
    service.tell("", "runs", {"runs": [bad]}, "2")
    console = Console(page, front)
    expect(page.get_by_role("link", name=HOSTILE)).to_be_visible()
    console.go("runs/bad")
    expect(page.get_by_role("heading", level=1)).to_have_text(HOSTILE)
    expect(page.locator(".panel").first).to_contain_text(HOSTILE)
    assert page.locator("main img, main script, main b:has(img)").count() == 0
    assert HOSTILE in page.title()
    assert console.complaints == []


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
    expect(page.locator("#panel-cpu")).to_contain_text("8:00:00")
    assert page.evaluate("document.querySelectorAll('*').length") < 1500
    assert console.complaints == []


def test_a_run_that_has_grown_is_asked_for_anew_in_wider_bins(
    page: Page, service: LaidDown, front: Front
) -> None:
    document = long_run(1300)
    document["run"] |= {"state": "RUNNING", "ended_at": None}
    service.tell("grown", "live", document, document["cursor"])
    Console(page, front, "runs/grown")
    expect(page.locator("#panel-cpu")).to_be_visible()

    def begun() -> list[str | None]:
        return [after for of, after in service.streams if of.get("run_id") == "grown"]

    until(lambda: len(begun()) >= 2)
    assert begun()[:2] == [None, None]


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_fits_a_telephone(page: Page, front: Front, view: str) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    Console(page, front, view)
    expect(page.locator("main")).not_to_contain_text("Loading")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_light_or_dark(page: Page, front: Front, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    Console(page, front, "runs/slow")
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('.drawing .axis')).fill]"
    )
    brightness = [sum(int(v) for v in c[4:-1].split(",")) for c in (ground, ink)]
    assert (brightness[0] > brightness[1]) == (scheme == "light")


AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing_serious(page: Page, front: Front, view: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    Console(page, front, view)
    expect(page.locator("main")).not_to_contain_text("Loading")
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run().then((told) => told.violations)")
    serious = [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
    assert serious == []


def test_a_page_of_one_run_starts_none(page: Page, service: LaidDown) -> None:
    config = ConsoleConfig(may_start=False, run_id="slow")
    with Front(service, token=TOKEN, config=config) as front:
        page.goto(front.page_url)
        expect(page.get_by_role("heading", level=1)).to_have_text(SLOW.name)
        expect(page.get_by_role("link", name="Start a run")).to_have_count(0)
        expect(page.get_by_role("link", name="What to buy")).to_have_count(0)


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


def test_without_a_stream_it_asks_again(page: Page, service: LaidDown) -> None:
    first = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    more = documents.going_run(SLOW, SLOW_SECONDS, steps=2, after=1)
    asked = []

    def looked(request: Request) -> Any:
        asked.append(request.args.get("after"))
        return first if request.args.get("after") is None else more

    service.answers["/runs/going/live"] = looked
    config = ConsoleConfig(events_path=None, poll_s=0.1)
    with Front(service, token=TOKEN, config=config) as front:
        Console(page, front, "runs/going")
        expect(page.locator("path.mark title")).to_have_count(2 * len(OPERATIONS))
    assert asked[:2] == [None, first["cursor"]]
    assert service.streams == []
