"""Take the pictures of a report for docs/images/: `screenshots.py DIR`, DIR a finished run."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from plimsoll.report import chromium
from plimsoll.report.folder import read_run
from plimsoll.report.page import render_run

IMAGES = Path(__file__).resolve().parents[1] / "docs/images"
WIDTH_PX, HEIGHT_PX = 1200, 945  # the first screen: the sentence and the curve
LOOKS: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def take(folder: Path) -> None:
    """Take the top of a run's page, in light and in dark."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        page_file = Path(scratch, "report.html")
        page_file.write_text(render_run(*read_run(folder)), "utf-8")
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(
            executable_path=chromium.find_chromium(), args=arguments
        )
        for look in LOOKS:
            page = browser.new_page(
                viewport={"width": WIDTH_PX, "height": HEIGHT_PX}, color_scheme=look
            )
            page.goto(page_file.as_uri())
            page.screenshot(path=IMAGES / f"report-{look}.png")
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]))
