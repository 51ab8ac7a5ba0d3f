"""A run's page in a real browser: it draws what result.json holds, on every screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from plimsoll.model.capacity import Capacity
from plimsoll.report.page import render
from tests.browser.conftest import Watched
from tests.support.synthetic_run import CLIENTS, OPERATIONS, synthetic_run

RESULT, SECONDS = synthetic_run()
assert RESULT.capacity is not None
CAPACITY: Capacity = RESULT.capacity


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(RESULT, SECONDS), "utf-8")
    return path


@pytest.fixture(scope="module")
def shown(browser: Browser, file: Path) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    yield Watched(context.new_page(), file)
    context.close()


def test_it_says_nothing_on_the_console_and_asks_nothing_of_the_network(
    shown: Watched, file: Path
) -> None:
    assert shown.complaints == []
    assert shown.requests == [file.as_uri()]


def test_the_answer_stands_on_top(shown: Watched) -> None:
    figure = CAPACITY.max_sustainable_throughput_ops_per_second
    assert shown.page.locator(".answer .number").inner_text() == f"{figure:,.0f}"


def test_the_curve_has_a_mark_for_each_load_and_operation(shown: Watched) -> None:
    points = '[aria-roledescription="point"]'
    loads = len(CLIENTS) * len(OPERATIONS)
    repetitions = 4 * len(OPERATIONS)  # of the one load that was repeated
    ringed = 2 * len(OPERATIONS)
    assert shown.marks("curve", points) == loads + repetitions + ringed
    assert shown.marks("curve", '.mark-line path[aria-roledescription="line mark"]') == 2
    assert shown.marks("throughput", points) == len(CLIENTS)
    assert shown.marks("latency-update", points) == len(CLIENTS) * 3


def test_every_panel_of_the_time_line_has_the_same_clock(browser: Browser, tmp_path: Path) -> None:
    """A window begins and ends at the same place in each, that of failed operations included."""
    failing = tuple(
        second.model_copy(update={"errors": second.epoch_s % 3}) for second in SECONDS.operations
    )
    path = tmp_path / "report.html"
    path.write_text(render(RESULT, SECONDS.model_copy(update={"operations": failing})), "utf-8")
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    watched = Watched(context.new_page(), path)
    assert watched.complaints == []
    edges = watched.page.evaluate(
        """[...document.querySelectorAll('#timeline path[aria-label^="window: "]')].map(path => {
          const box = path.getBoundingClientRect();
          return [Math.round(box.left), Math.round(box.right)].join();
        })"""
    )
    context.close()
    panels = len(edges) // len(RESULT.steps)
    assert panels >= 6
    assert {edges.count(edge) for edge in edges} == {panels}


def test_the_heat_map_has_a_mark_for_each_cell(shown: Watched) -> None:
    cells = shown.page.evaluate(
        "Object.values(plimsollViews['heat-map'].spec.datasets)"
        ".filter(rows => rows[0]?.class).reduce((n, rows) => n + rows.length, 0)"
    )
    windows = len(RESULT.steps) * len(OPERATIONS)
    assert cells > 1000
    assert shown.marks("heat-map", ".mark-rect path") == cells + windows


def test_the_time_line_has_a_block_for_each_second_and_operation(shown: Watched) -> None:
    blocks = '[aria-label*="throughput, ops/s"][aria-label*="operation:"]'
    assert shown.marks("timeline", blocks) == len(SECONDS.operations)


def test_the_pointer_on_the_curve_shows_the_figures_of_the_result(shown: Watched) -> None:
    judged = next(step for step in CAPACITY.steps if step.load == 4)
    label = f"latency (log scale): {judged.latency_us['update']:.0f}; operation: update"
    point = shown.page.locator(f'#curve path[aria-label*="{label}"][aria-label*="failed"]')
    told = shown.told_at(point)
    assert told["operation"] == "update"
    assert told["p99 latency, µs"] == f"{judged.latency_us['update']:,.0f}"
    assert told["limit, µs"] == f"{judged.limit_us['update']:,.0f}"
    assert told["throughput, ops/s"] == f"{judged.throughput_ops_per_second:,.1f}"
    assert told["judged"] == "failed"
    assert "limit" in told["because"]


def test_the_pointer_on_the_time_line_shows_that_second(shown: Watched) -> None:
    block = '#timeline path[aria-label*="throughput"][aria-label*="operation: update"]'
    told = shown.told_at(shown.page.locator(block).nth(5))
    minutes, seconds = told["at, min:s"].split(":")
    epoch_s = int(RESULT.moments.submitted.timestamp()) + int(minutes) * 60 + int(seconds)
    expected = {
        f"{row.operation} ops/s": f"{row.succeeded:,}"
        for row in SECONDS.operations
        if row.epoch_s == epoch_s
    }
    assert expected
    assert {name: told[name] for name in expected} == expected


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_light_or_dark(page: Page, file: Path, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    watched = Watched(page, file)
    assert watched.complaints == []
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('#curve .role-axis-label text')).fill]"
    )
    brightness = [sum(int(v) for v in c[4:-1].split(",")) for c in (ground, ink)]
    assert (brightness[0] > brightness[1]) == (scheme == "light")


@pytest.mark.parametrize("width", [360, 768])
def test_it_fits_a_narrow_screen(page: Page, file: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    watched = Watched(page, file)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    widths = page.evaluate(
        "[...document.querySelectorAll('.chart')].map(c =>"
        " c.querySelector('svg').getBoundingClientRect().width - c.clientWidth)"
    )
    assert max(widths) <= 1
    assert watched.complaints == []


def test_a_window_made_narrower_draws_the_time_line_anew(page: Page, file: Path) -> None:
    watched = Watched(page, file)
    wide = page.evaluate("document.querySelector('#timeline svg').viewBox.baseVal.width")
    page.evaluate(
        """window.redrawn = new Promise(drawn => new MutationObserver(() => {
          const chart = document.querySelector('#timeline svg');
          if (chart && chart.viewBox.baseVal.width < 500) drawn(chart.viewBox.baseVal.width);
        }).observe(document.getElementById('timeline'), {
          childList: true, subtree: true, attributes: true
        })); undefined"""
    )
    page.set_viewport_size({"width": 500, "height": 740})
    assert page.evaluate("window.redrawn") < 500 < wide
    assert watched.complaints == []


def test_print_is_dark_on_white_even_for_a_reader_of_dark_pages(page: Page, file: Path) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    Watched(page, file)
    ink = page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(20, 32, 43)"
    assert page.pdf(format="A4").startswith(b"%PDF")
