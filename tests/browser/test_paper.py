"""A run's page on paper: A4, dark on white, nothing cut."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from plimsoll.report.page import render_run
from tests.browser.conftest import Watched
from tests.browser.console_documents import size_few
from tests.support.synthetic_run import synthetic_run

RESULT, _ = synthetic_run()
WIDTH_PX = round((210 - 2 * 12) / 25.4 * 96)  # of A4 between its margins
HEIGHT_PX = (297 - 18 - 16) / 25.4 * 96


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_run(*synthetic_run()), "utf-8")
    return path


def test_print_is_dark_on_white_even_for_a_reader_of_dark_pages(page: Page, file: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    Watched(page, file)
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(20, 32, 43)"
    grounds = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert grounds == "rgba(0, 0, 0, 0)"


def test_on_paper_no_chart_is_cut_and_nothing_is_beyond_the_edge(page: Page, file: Path) -> None:
    width_px = round((210 - 2 * 12) / 25.4 * 96)  # of A4 between its margins
    page.set_viewport_size({"width": width_px, "height": 1000})
    page.emulate_media(media="print")
    Watched(page, file)
    assert page.evaluate("document.documentElement.scrollWidth") <= width_px
    broken = page.evaluate(
        """[...document.querySelectorAll('.panel, figure:not(.wide)')]
          .filter(e => getComputedStyle(e).breakInside !== 'avoid').length"""
    )
    assert broken == 0
    tallest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.panel')].map(p => p.offsetHeight))"
    )
    assert tallest < (297 - 2 * 14) / 25.4 * 96


def test_on_paper_each_chart_fits_a_page_with_its_axis_and_details_are_open(
    page: Page, file: Path
) -> None:
    page.set_viewport_size({"width": round((210 - 2 * 12) / 25.4 * 96), "height": 1000})
    page.emulate_media(media="print")
    Watched(page, file)
    heights = page.evaluate(
        "[...document.querySelectorAll('figure')].map(f => f.getBoundingClientRect().height)"
    )
    assert max(heights) < (297 - 18 - 16) / 25.4 * 96
    assert page.locator("details pre").last.is_visible()


def test_a_button_prints_the_page_and_is_not_on_the_paper(page: Page, file: Path) -> None:
    page.add_init_script("window.print = () => { document.title = 'printed'; }")
    Watched(page, file)
    button = page.get_by_role("button", name="Save as PDF")
    button.click()
    assert page.title() == "printed"
    page.emulate_media(media="print")
    assert not button.is_visible()


def test_on_paper_nothing_reaches_the_edge_that_is_not_painted(page: Page, file: Path) -> None:
    """A border at the right edge was cut, and a figure parted from its unit in a table."""
    width_px = round((210 - 2 * 12) / 25.4 * 96)
    page.set_viewport_size({"width": width_px, "height": 1000})
    page.emulate_media(media="print")
    Watched(page, file)
    edges = page.evaluate(
        "[...document.querySelectorAll('.answer, figure, .scroll, pre')]"
        ".map(e => e.getBoundingClientRect().right)"
    )
    assert max(edges) <= width_px - 1
    broken = page.evaluate(
        """[...document.querySelectorAll('table.steps td, table.audits tbody th')]
          .filter(e => e.getBoundingClientRect().height > 24).length"""
    )
    assert broken == 0


def test_what_to_buy_is_on_the_first_page(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render_run(*synthetic_run(), sizing=size_few(RESULT, want=20_000)), "utf-8")
    page.set_viewport_size({"width": WIDTH_PX, "height": 1000})
    page.emulate_media(media="print")
    Watched(page, path)
    box = page.locator(".ranking").bounding_box()
    assert box is not None
    assert page.locator(".ranking tbody tr").count() == 5
    assert box["y"] + box["height"] < HEIGHT_PX
