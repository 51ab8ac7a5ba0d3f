"""Starting a run on the service's page: its form, its quote and what is refused."""

import re
import threading
from typing import Any

from playwright.sync_api import Page, expect
from werkzeug.wrappers import Request

from plimsoll import words
from plimsoll.console.config import ConsoleConfig
from plimsoll.console.outlook import BETWEEN_STEPS_S
from plimsoll.local.front import Front
from tests.browser.conftest import Console, until
from tests.browser.console_known import SLOW, TOKEN
from tests.browser.console_service import LaidDown, problem
from tests.support.synthetic_run import request


def open_expert(page: Page) -> None:
    page.get_by_text("Expert: every field of the request").click()


def test_a_newcomer_is_asked_three_questions(page: Page, front: Front) -> None:
    Console(page, front, "start")
    written = page.get_by_label("YAML")
    expect(page.locator("[id='field-target.volume.iops']")).not_to_be_visible()
    page.get_by_label("Which work?").select_option("ycsb-b")
    expect(page.get_by_text("Mostly reads.")).to_be_visible()
    expect(page.get_by_label("update, at most, ms")).to_have_count(0)
    limit = page.get_by_label("read, at most, ms")
    limit.press_sequentially("2.5")
    expect(limit).to_be_focused()
    expect(limit).to_have_value("2.5")
    expect(written).to_contain_text("name: ycsb-b")
    expect(written).to_contain_text("read: 2500")
    page.get_by_label("Product").select_option("postgres")
    expect(written).to_contain_text("engine: postgres")
    page.get_by_label("Which database?").select_option("endpoint")
    expect(written).to_contain_text("kind: endpoint")
    expect(written).not_to_contain_text("volume")


def test_a_database_of_ones_own_is_a_preset_and_its_place_is_asked_for(
    page: Page, front: Front
) -> None:
    Console(page, front, "start")
    host = page.get_by_label("Its host")
    expect(host).not_to_be_visible()
    page.get_by_label("Start from").select_option(label="My PostgreSQL")
    host.fill("")
    host.press_sequentially("db.example")
    expect(host).to_be_focused()
    page.get_by_label("Its database").fill("bench")
    written = page.get_by_label("YAML")
    expect(written).to_contain_text("engine: postgres")
    expect(written).to_contain_text("host: db.example")
    expect(written).to_contain_text("database: bench")
    page.get_by_label("Which database?").select_option("rds")
    expect(host).not_to_be_visible()


def test_a_form_is_made_from_the_schema_and_quoted_beside_it(
    page: Page, service: LaidDown, front: Front
) -> None:
    Console(page, front, "start")
    open_expert(page)
    expect(page.get_by_label("Time and cost")).to_contain_text("3 min 10 son AWS")
    load = request().load
    here = words.format_duration(round(8 * (load.warmup_s + load.duration_s + BETWEEN_STEPS_S)))
    expect(page.get_by_label("Time and cost")).to_contain_text(f"{here}of load here")
    expect(page.get_by_label("Time and cost")).to_contain_text("$0.19")
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


def test_a_late_quote_leaves_the_reason_why_nothing_was_started(
    page: Page, service: LaidDown, front: Front
) -> None:
    told = threading.Event()
    quote = service.answers["POST /quotes"]

    def quoted_late(_: Request) -> Any:
        told.wait(60)
        return quote

    service.answers |= {"POST /quotes": quoted_late, "POST /runs": problem(503, "busy")}
    Console(page, front, "start")
    page.get_by_role("button", name="Start the run").click()
    expect(page.locator(".card .bad").first).to_contain_text("busy")
    told.set()
    expect(page.get_by_label("Time and cost")).to_contain_text("$0.19")
    expect(page.locator(".card .bad").first).to_contain_text("busy")


def test_another_strategy_has_other_fields(page: Page, front: Front) -> None:
    Console(page, front, "start")
    open_expert(page)
    page.locator("[id='field-search.strategy']").select_option("rate")
    expect(page.locator("[id='field-search.rate_first_ops_per_second']")).to_be_visible()
    expect(page.locator("[id='field-search.whole_list']")).to_have_count(0)
    expect(page.get_by_label("YAML")).to_contain_text("strategy: rate")


def test_a_page_of_one_run_starts_none(page: Page, service: LaidDown) -> None:
    config = ConsoleConfig(may_start=False, run_id="slow")
    with Front(service, token=TOKEN, config=config) as front:
        page.goto(front.page_url)
        expect(page.get_by_role("heading", level=1)).to_have_text(SLOW.name)
        expect(page.get_by_role("link", name="Start a run")).to_have_count(0)
        expect(page.get_by_role("link", name="What to buy")).to_have_count(0)
