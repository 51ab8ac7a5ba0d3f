"""A real browser, without a window: Chromium."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, sync_playwright

from plimsoll.report import chromium

PATIENCE_MS = 120_000  # how long to wait on a busy machine, not a measure


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    # root, as CI is, has no sandbox; what is shown here is our own
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=chromium.program(), args=arguments, timeout=PATIENCE_MS
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

    @property
    def tip(self) -> Locator:
        """What shows what is told."""
        return self.page.locator("#tip")

    def told(self) -> dict[str, str]:
        """What is told now."""
        self.tip.wait_for()
        names = self.tip.locator("dt").all_inner_texts()
        return dict(zip(names, self.tip.locator("dd").all_inner_texts(), strict=True))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    yield context.new_page()
    context.close()
