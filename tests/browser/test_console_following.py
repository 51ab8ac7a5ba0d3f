"""How the service's page follows a run that goes on, and a service that is lost."""

import time
from typing import Any

from playwright.sync_api import Page, expect
from werkzeug.wrappers import Request

from plimsoll.console.config import ConsoleConfig
from plimsoll.local.front import Front, listen
from tests.browser import console_documents as documents
from tests.browser.conftest import Console, until
from tests.browser.console_known import SLOW, SLOW_SECONDS, TOKEN
from tests.browser.console_service import LaidDown, problem
from tests.support.synthetic_run import OPERATIONS


def test_a_report_is_asked_for_while_somebody_looks(
    page: Page, service: LaidDown, front: Front
) -> None:
    def asked() -> int:
        return [path for _, path, _ in service.calls].count("/runs/slow/report")

    link = service.answers.pop("/runs/slow/report")  # not drawn yet
    page.add_init_script(
        "window.unseen = false;"
        "Object.defineProperty(document, 'hidden', { get: () => window.unseen });"
        # nobody looks any more once it has asked
        "const ask = window.fetch;"
        "window.fetch = (url, ...rest) => {"
        "  if (String(url).endsWith('/report')) window.unseen = true;"
        "  return ask(url, ...rest);"
        "};"
    )
    Console(page, front, "runs/slow")
    until(lambda: asked() >= 1)
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


def test_a_lost_connection_is_told_and_caught_up(
    page: Page, service: LaidDown, front: Front
) -> None:
    first = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("going", "live", first, first["cursor"])
    Console(page, front, "runs/going")
    expect(page.locator(".plot svg[data-told]")).to_have_count(len(OPERATIONS))
    page.context.set_offline(True)
    service.cut()
    expect(page.get_by_role("alert").first).to_contain_text("connection to Plimsoll is lost")
    more = documents.going_run(SLOW, SLOW_SECONDS, steps=2, after=1)
    service.tell("going", "live", more, more["cursor"])
    page.context.set_offline(False)
    expect(page.locator(".plot svg[data-told]")).to_have_count(2 * len(OPERATIONS))
    expect(page.locator("#link")).to_be_hidden()
    assert service.streams[-1][1] == first["cursor"]


def test_a_service_that_was_started_again_is_told_apart(page: Page, service: LaidDown) -> None:
    going = documents.going_run(SLOW, SLOW_SECONDS, steps=1)
    service.tell("going", "live", going, going["cursor"])
    with Front(service, token="an-earlier-one") as front:
        port = front.port
        Console(page, front, "runs/going")
        expect(page.locator(".plot svg[data-told]")).to_have_count(len(OPERATIONS))
    with Front(service, token=TOKEN, listener=listen(port)) as front:
        expect(page.get_by_role("alert").first).to_contain_text("was restarted")
        expect(page.locator(".plot svg[data-told]")).to_have_count(len(OPERATIONS))  # it stays
        page.get_by_label("Address or token").fill(front.page_url)
        page.get_by_role("button", name="Connect").click()
        expect(page.locator("#link")).to_be_hidden()
        expect(page.locator(".plot svg[data-told]")).to_have_count(len(OPERATIONS))


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
        expect(page.locator(".plot svg[data-told]")).to_have_count(2 * len(OPERATIONS))
    assert asked[:2] == [None, first["cursor"]]
    assert service.streams == []
