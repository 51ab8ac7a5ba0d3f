"""From the form to the end of a run, before a real service of this machine, one for each test."""

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest
from playwright.sync_api import Browser, Page, expect

from plimsoll.client.address import read_address
from plimsoll.client.tokens import HOME_VARIABLE
from plimsoll.model.judging.capacity import AuditName
from tests.browser.conftest import PATIENCE_MS
from tests.local.service.conftest import Caller, body
from tests.local.workflow.conftest import ANSWERED
from tests.local.workflow.test_run_verb import plimsoll

pytestmark = pytest.mark.timeout(1800)
RUN_PATIENCE_MS = 480_000  # a run of seconds takes minutes on a busy machine
SHORT = {  # of a scenario: what makes it end in seconds
    "workload.records": "300",
    "search.clients": "1, 2",
    "load.warmup_s": "0.5",
    "load.duration_s": "1",
    "load.recovery_max_s": "1",
    "prepare.warm_s": "0",
    "limits.confirmation": "null",
    "limits.audits_off": ", ".join(sorted(get_args(AuditName))),
    "limits.client_busy_max": "1",
}


class Serving:
    """`plimsoll serve` as a process, and the address of its page."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] = plimsoll(
            folder, "serve", "--port", str(port), "--dir", str(folder / "results")
        )
        assert self.process.stdout is not None
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])
        [file] = (folder / "home").rglob(f"{self.port}.token")
        self.page = f"{self.url}/#token={file.read_text().strip()}"

    def end(self) -> None:
        """Ask it to end, and wait until nothing of it is left."""
        self.process.send_signal(signal.SIGTERM)
        _, stderr = self.process.communicate(timeout=400)
        assert self.process.returncode == 0, stderr


@pytest.fixture
def serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Serving]]:
    """A service without runs, in a list: a test may start it again."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    services = [Serving(tmp_path)]
    yield services
    services[-1].end()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(PATIENCE_MS)
    expect.set_options(timeout=RUN_PATIENCE_MS)
    yield opened
    expect.set_options(timeout=PATIENCE_MS)
    context.close()


def start(page: Page, name: str, **changes: str) -> str:
    """Start a run from the form, as a scenario has it but shorter; gives its id."""
    expect(page).not_to_have_url(re.compile("token"))  # it is read from the address
    page.evaluate("location.hash = '#/start'")
    page.get_by_label("Start from").select_option(index=0)
    # only reads: windows of a second would measure what a log lends, which is no figure
    page.get_by_label("Which work?").select_option("ycsb-c")
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    for field, text in {**SHORT, "name": name, **changes}.items():
        page.locator(f"[id='field-{field}']").fill(text)
    expect(page.get_by_label("Time and cost")).to_contain_text("at most")
    page.get_by_role("button", name="Start the run").click()
    expect(page).to_have_url(re.compile(r"#/runs/\w"))
    return page.url.rpartition("/")[2]


def caller(serving: list[Serving]) -> Caller:
    return Caller(read_address(serving[-1].url, source="serve"), principal=None, profile=None)


def test_a_run_from_the_form_grows_to_its_end_and_is_compared(
    page: Page, serving: list[Serving]
) -> None:
    page.goto(serving[-1].page)
    expect(page.get_by_text("No run yet.")).to_be_visible()
    mine = start(page, "from-the-form")
    other = caller(serving).start(body("beside", **ANSWERED))
    expect(page.get_by_role("region", name="Progress")).to_contain_text("Time so far")
    expect(page.locator(".plot svg[data-told]").first).to_be_attached()  # a load was judged
    expect(page.locator("[data-panel=iops]")).to_be_visible()
    expect(page.locator(".log").last).to_contain_text("seen deleted")
    expect(page.locator(".answer .sentence").first).not_to_be_empty()
    told = caller(serving)("GET", f"/runs/{mine}").body
    figure = f"{told['capacity_ops_per_second']:,.0f}"
    expect(page.locator(".answer .number")).to_contain_text(figure)

    with page.expect_popup() as opened:
        page.get_by_role("link", name="Open the report").click()
    expect(opened.value.locator(".answer .number")).to_contain_text(figure)

    page.evaluate("location.hash = '#/runs'")
    expect(page.locator("tbody tr", has_text="beside")).to_contain_text("gone ")
    for run_id in (mine, other):
        page.locator(f"[id='pick-{run_id}']").check()
    page.get_by_role("link", name="Compare 2 runs").click()
    expect(page.get_by_role("region", name="Capacities").get_by_role("row")).to_have_count(3)
    expect(page.locator("figure .plot svg[data-told]").first).to_be_attached()


@pytest.mark.whole  # test_console_run.py stops one; the service is the same
def test_a_run_is_stopped_and_its_target_seen_to_be_gone(
    page: Page, serving: list[Serving]
) -> None:
    page.goto(serving[-1].page)
    run_id = start(page, "stopped", **{"load.duration_s": "300"})
    second = page.context.new_page()  # of the same page
    second.goto(f"{serving[-1].url}/console/#/runs/{run_id}")
    expect(second.get_by_role("heading", level=1)).to_have_text("stopped")
    expect(page.get_by_role("region", name="Progress")).to_contain_text("Step 1")
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Stop the run").click()
    for tab in (page, second):
        expect(tab.locator(".tag").first).to_have_text("stopped")
        expect(tab.locator(".log").last).to_contain_text("seen deleted")
    assert caller(serving)("GET", f"/runs/{run_id}").body["deleted_at"] is not None
    second.close()


@pytest.mark.whole  # test_console_following.py and test_serve_verb.py
def test_a_restart_is_told_and_runs_of_before_are_still_there(
    page: Page, serving: list[Serving]
) -> None:
    before = serving[-1]
    page.goto(before.page)
    caller(serving).start(body("before"))
    row = page.locator("tbody tr", has_text="before")
    expect(row).to_contain_text("gone ")  # its target, so it has ended
    before.end()
    expect(page.locator("#link")).to_contain_text("connection to Plimsoll is lost")
    serving.append(Serving(before.folder, before.port))
    expect(page.locator("#link")).to_contain_text("was restarted")
    page.get_by_label("Address or token").fill(serving[-1].page)
    page.get_by_role("button", name="Connect").click()
    expect(row).to_contain_text("of an earlier start")
    saved = next(before.folder.glob("results/*/result.json"))
    assert json.loads(saved.read_text())["run_id"]
