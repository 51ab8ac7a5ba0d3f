"""Every view of the service's page, in a real browser."""

import json
import webbrowser
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from plimsoll.cli.page import Page as Asked
from plimsoll.cli.page import show_page
from plimsoll.local.front import Front
from tests.browser import console_documents as documents
from tests.browser.conftest import Console
from tests.browser.console_known import FAST, SLOW, SLOW_SECONDS, TOKEN
from tests.browser.console_service import LaidDown

HOSTILE = '<img src=x onerror="document.title=1">"\'`\u202e</script><b>'

VIEWS = (
    "runs",
    "runs/slow",
    "buy/slow",
    "compare?run=slow&run=fast",
    "compare",
    "buy",
    "start",
    "experiments",
    "experiments/e1",
    "checks",
    "checks/nightly",
)


AXE = Path(__file__).resolve().parents[2] / "node_modules/axe-core/axe.min.js"
TELEPHONE_PX = 390  # width


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_is_quiet_accessible_in_light_and_dark_and_fits_a_telephone(
    page: Page, front: Front, view: str
) -> None:
    console = Console(page, front, view)
    page.wait_for_load_state("load")
    expect(page.locator("main")).not_to_contain_text("Loading")
    assert console.complaints == []
    assert console.hosts == {front.url}
    page.evaluate(AXE.read_text())
    assert find_serious(page) == []
    page.emulate_media(color_scheme="dark")
    assert find_serious(page) == []
    page.set_viewport_size({"width": TELEPHONE_PX, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE_PX


def find_serious(page: Page) -> list[tuple[str, list[str]]]:
    """Return what axe finds serious or worse, each with the first places."""
    return [
        (one["id"], [node["html"][:200] for node in one["nodes"][:3]])
        for one in page.evaluate("axe.run().then((told) => told.violations)")
        if one["impact"] in {"serious", "critical"}
    ]


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
    with show_page(front, Asked(shown=True, opened=True)):
        page.goto(asked[0])
        expect(page.get_by_role("row")).to_have_count(3)
    assert page.url == f"{front.url}/console/#/runs"


def test_another_tab_asks_those_that_are_open_for_the_token(page: Page, front: Front) -> None:
    Console(page, front)
    second = page.context.new_page()
    second.goto(f"{front.url}/console/#/runs/fast")
    expect(second.get_by_role("heading", level=1)).to_have_text(FAST.name)


def test_a_tab_that_answers_late_is_not_too_late(page: Page, front: Front) -> None:
    Console(page, front)
    page.evaluate(
        """() => {
          const tell = BroadcastChannel.prototype.postMessage;
          BroadcastChannel.prototype.postMessage = function (message) {
            window.answer = () => tell.call(this, message);
          };
        }"""
    )
    second = page.context.new_page()
    second.goto(f"{front.url}/console/#/runs/fast")
    expect(second.get_by_label("Address or token")).to_be_visible()
    page.evaluate("window.answer()")
    expect(second.get_by_role("heading", level=1)).to_have_text(FAST.name)
    expect(second.get_by_label("Address or token")).to_be_hidden()


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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_light_or_dark(page: Page, front: Front, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    Console(page, front, "runs/slow")
    expect(page.locator(".plot text").first).to_be_attached()
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('.plot text')).fill]"
    )
    brightness = [sum(int(v) for v in c[4:-1].split(",")) for c in (ground, ink)]
    assert (brightness[0] > brightness[1]) == (scheme == "light")
