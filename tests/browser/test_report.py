"""A run's page in a real browser: it draws what result.json holds, on every screen."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from plimsoll.model.judging.capacity import Capacity
from plimsoll.report.page import render_run, write_content_security_policy
from tests.browser.conftest import Watched
from tests.support.synthetic_run import CLIENTS, OPERATIONS, synthetic_run

RESULT, SECONDS = synthetic_run()
assert RESULT.capacity is not None
CAPACITY: Capacity = RESULT.capacity
POINT = "svg[data-told]"
PANELS = 7  # of the time line: phases, throughput, latency, IOPS, MiB/s, queue, CPU
HEIGHT_PX = 900


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render_run(RESULT, SECONDS), "utf-8")
    return path


@pytest.fixture(scope="module")
def shown(browser: Browser, file: Path) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1280, "height": HEIGHT_PX}, offline=True)
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


def test_the_first_screen_is_the_answer_and_its_curve(shown: Watched) -> None:
    plot = shown.page.locator("#curve .plot").bounding_box()
    assert plot is not None
    assert plot["y"] + plot["height"] < HEIGHT_PX
    answer = shown.page.locator(".answer").inner_text()
    figure = shown.page.locator(".answer .number").inner_text()
    assert answer.count(figure) == 1
    assert "$" not in answer
    assert "What to do next" in shown.page.locator(".appendix").inner_text()


def test_every_chart_is_there_without_a_script(browser: Browser, file: Path) -> None:
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    plots = page.locator("figure .plot > svg").all()
    sizes = [plot.bounding_box() for plot in plots]
    drawn = [plot.locator("path, line, rect").count() for plot in plots]
    titles = page.locator("#curve title").count()
    context.close()
    assert len(plots) == 4 + PANELS + len(OPERATIONS)
    assert all(size and size["width"] > 200 and size["height"] > 50 for size in sizes)
    assert min(drawn) > len(RESULT.steps)
    assert titles >= len(CLIENTS) * len(OPERATIONS)


def test_the_curve_has_a_mark_for_each_load_and_operation(shown: Watched) -> None:
    loads = len(CLIENTS) * len(OPERATIONS)
    assert shown.marks("curve", f".plot {POINT}") == loads
    rings = ".plot path[fill=none][stroke='var(--ink)']"
    assert shown.marks("curve", rings) == 2 * len(OPERATIONS)
    assert shown.marks("throughput", f".plot {POINT}") == len(CLIENTS)
    assert shown.marks("latency-update", f".plot {POINT}") == len(CLIENTS) * 3


def test_every_panel_of_the_time_line_has_the_same_clock(shown: Watched) -> None:
    """A window begins and ends at the same place in each."""
    edges = shown.page.evaluate(
        """[...document.querySelectorAll('#timeline rect[fill="var(--band)"]')].map(rect => {
          const box = rect.getBoundingClientRect();
          return [Math.round(box.left), Math.round(box.right)].join();
        })"""
    )
    assert len(edges) == PANELS * len(RESULT.steps)
    assert {edges.count(edge) for edge in edges} == {PANELS}


def test_the_heat_map_tells_time_latency_and_how_many(shown: Watched) -> None:
    strips = shown.page.locator("#heat-map [data-panel='heat-update'] path[data-told]")
    assert strips.count() >= 3
    shown.scroll_to(strips.first)
    place = strips.first.evaluate(
        """path => {
          const [, x, y] = path.getAttribute('d').match(/^m(\\d+)[+](\\d+)/).map(Number);
          const box = path.closest('[data-panel]').getBoundingClientRect();
          return [box.left + (x + 10) * box.width / 9000, box.top + y / 10 - 1];
        }"""
    )
    shown.page.mouse.move(*place)
    told = shown.told()
    low, high = (int(told[name].replace(",", "")) for name in ("over, µs", "up to, µs"))
    assert high / low == pytest.approx(2**0.25, rel=0.01)
    assert set(told) == {"at, min:s", "step", "over, µs", "up to, µs", "operations in 1 s"}


def test_the_pointer_on_the_curve_shows_the_figures_of_the_result(shown: Watched) -> None:
    judged = next(step for step in CAPACITY.steps if step.load == 4)
    order = [(step.load, name) for step in CAPACITY.steps for name in step.latency_us]
    point = shown.page.locator(f"#curve .plot {POINT}").nth(order.index((4, "update")))
    told = shown.told_at(point)
    assert told["operation"] == "update"
    assert told["p99 latency, µs"] == f"{judged.latency_us['update']:,.0f}"
    assert told["limit, µs"] == f"{judged.limit_us['update']:,.0f}"
    assert told["throughput, ops/s"] == f"{judged.throughput_ops_per_second:,.1f}"
    assert told["judged"] == "failed"
    assert "limit" in told["because"]


def expected_at(told: dict[str, str]) -> dict[str, str]:
    """The figures of the second that was told."""
    minutes, seconds = told["at, min:s"].split(":")
    epoch_s = int(RESULT.moments.submitted.timestamp()) + int(minutes) * 60 + int(seconds)
    return {
        f"{row.operation} ops/s": f"{row.succeeded:,}"
        for row in SECONDS.operations
        if row.epoch_s == epoch_s
    }


def test_the_pointer_on_the_time_line_shows_that_second_in_every_panel(shown: Watched) -> None:
    plot = shown.page.locator("#timeline [data-panel=rate]")
    shown.scroll_to(plot)
    box = plot.bounding_box()
    assert box is not None
    shown.page.mouse.move(box["x"] + box["width"] * 0.3, box["y"] + 20)
    told = shown.told()
    expected = expected_at(told)
    assert expected
    assert {name: told[name] for name in expected} == expected
    assert shown.marks("timeline", ".hair") == PANELS


def test_arrow_keys_go_from_second_to_second(shown: Watched) -> None:
    plot = shown.page.locator("#timeline [data-panel=rate]")
    shown.focus(plot)
    for _ in range(3):
        plot.press("ArrowRight")
    told = shown.told()
    assert told["at, min:s"] == "0:22"  # the first step begins after 20 s
    assert {name: told[name] for name in expected_at(told)} == expected_at(told)
    plot.press("Escape")
    shown.tip.wait_for(state="hidden")


def test_arrow_keys_go_from_point_to_point(shown: Watched) -> None:
    plot = shown.page.locator("#throughput .plot > svg")
    shown.focus(plot)
    plot.press("ArrowRight")
    assert shown.told()["clients"] == str(CLIENTS[0])
    plot.press("ArrowRight")
    assert shown.told()["clients"] == str(CLIENTS[1])


def test_it_works_under_the_policy_that_a_server_would_send(browser: Browser, file: Path) -> None:
    """The header forbids all that has no hash: what is inline is allowed by it alone."""
    text = file.read_text("utf-8")
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    header = {"Content-Security-Policy": write_content_security_policy(text)}
    page.route(
        "**/*", lambda route: route.fulfill(body=text, content_type="text/html", headers=header)
    )
    page.goto("http://reports.invalid/")
    page.locator("#curve .plot > svg").focus()
    page.keyboard.press("ArrowRight")
    assert "operation" in page.locator("#tip").inner_text()
    assert complaints == []
    context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_follows_the_readers_light_or_dark(page: Page, file: Path, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    watched = Watched(page, file)
    assert watched.complaints == []
    ground, ink = page.evaluate(
        "[getComputedStyle(document.body).backgroundColor,"
        " getComputedStyle(document.querySelector('#curve .plot text')).fill]"
    )
    brightness = [sum(int(v) for v in c[4:-1].split(",")) for c in (ground, ink)]
    assert (brightness[0] > brightness[1]) == (scheme == "light")


@pytest.mark.parametrize("width", [360, 768])
def test_it_fits_a_narrow_screen(page: Page, file: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 740})
    watched = Watched(page, file)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    beyond = page.evaluate(
        """[...document.querySelectorAll('.plot > svg')].map(plot => {
          const figure = plot.closest('figure').getBoundingClientRect().right;
          return Math.max(...[plot, ...plot.querySelectorAll('text')]
            .map(each => each.getBoundingClientRect().right)) - figure;
        })"""
    )
    assert max(beyond) <= 0
    assert watched.complaints == []


def test_texts_of_an_axis_do_not_lie_on_one_another(page: Page, file: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    Watched(page, file)
    overlaps = page.evaluate(
        """[...document.querySelectorAll('.plot > svg')].flatMap(plot => {
          const boxes = [...plot.querySelectorAll(':scope > text')].filter(t => t.checkVisibility())
            .map(t => t.getBoundingClientRect()).sort((a, b) => a.left - b.left);
          return boxes.filter((box, i) => boxes.slice(i + 1).some(other =>
            other.left < box.right && other.top < box.bottom && box.top < other.bottom));
        }).length"""
    )
    assert overlaps == 0
