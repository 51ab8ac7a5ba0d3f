"""A real browser, without a window: Chromium."""

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright

from plimsoll.local.front import Front
from plimsoll.report import chromium
from tests.browser.console_known import TOKEN, known
from tests.browser.console_service import LaidDown

PATIENCE_MS = 120_000  # how long to wait on a busy machine, not a measure
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # root, as CI is, has no sandbox; what is shown here is our own
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=arguments, timeout=PATIENCE_MS
        )
        yield launched
        launched.close()


class Watched:
    """A page on which nothing may go wrong: no message, no error, no request but for itself."""

    def __init__(self, page: Page, path: Path) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        page.goto(path.as_uri())

    def marks(self, chart: str, selector: str) -> int:
        """Count what a chart drew."""
        return self.page.locator(f"#{chart} {selector}").count()

    def told_at(self, mark: Locator) -> dict[str, str]:
        """What the pointer is told in the middle of a mark, and not what it was told before."""
        self.scroll_to(mark)
        self.page.mouse.move(0, 0)
        self.tip.wait_for(state="hidden")
        box = mark.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        return self.told()

    def scroll_to(self, mark: Locator) -> None:
        """Bring a mark into view; what scrolling hides is hidden when this returns."""
        mark.scroll_into_view_if_needed()
        frame = "new Promise(requestAnimationFrame)"
        self.page.evaluate(f"{frame}.then(() => {frame})")

    def focus(self, mark: Locator) -> None:
        """Give the keyboard to a mark that is in view: a later scroll would hide what is told."""
        self.scroll_to(mark)
        mark.focus()

    @property
    def tip(self) -> Locator:
        """What shows what is told."""
        return self.page.locator("#tip")

    def told(self) -> dict[str, str]:
        """What is told now."""
        self.tip.wait_for()
        names = self.tip.locator("dt").all_inner_texts()
        return dict(zip(names, self.tip.locator("dd").all_inner_texts(), strict=True))


class Console:
    """The page, with whatever went wrong on it."""

    def __init__(self, page: Page, front: Front, path: str = "/runs") -> None:
        self.page = page
        self.front = front
        self.complaints: list[str] = []
        self.hosts: set[str] = set()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda asked: self.hosts.add("/".join(asked.url.split("/")[:3])))
        page.goto(front.page_url)
        self.go(path)

    def go(self, path: str) -> None:
        """Open a view, as somebody does who types its address."""
        expect(self.page).not_to_have_url(re.compile("token"))
        self.page.evaluate("path => { location.hash = path; }", f"#/{path.lstrip('/')}")
        expect(self.page.locator("main h1").first).to_be_visible()


def until(true: Callable[[], bool]) -> None:
    """Wait for what happens outside of the browser."""
    deadline = time.monotonic() + PATIENCE_MS / 1000
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def service() -> LaidDown:
    """A service that a test may lay down anew."""
    return known()


@pytest.fixture
def front(service: LaidDown) -> Iterator[Front]:
    """Where it is reached."""
    with Front(service, token=TOKEN) as listening:
        yield listening


@pytest.fixture(scope="session")
def context(browser: Browser) -> Iterator[BrowserContext]:
    """What all pages share: each asks a service of its own port, so nothing else is shared.

    The first page stays, so that the browser keeps the process that draws them: it would start
    another one for each test.
    """
    shared = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    shared.new_page()
    yield shared
    shared.close()


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page; where there is no service, it reaches nothing."""
    context.set_offline("service" not in request.fixturenames)
    yield context.new_page()
    for opened in context.pages[1:]:
        opened.close()
