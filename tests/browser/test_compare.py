"""The page of a comparison in a real browser: a curve for each run, and no complaint."""

from pathlib import Path

from playwright.sync_api import Page

from plimsoll.report import compare_page
from plimsoll.report.comparing.comparing import compare_runs
from plimsoll.report.page import join_units
from tests.browser.conftest import Watched
from tests.support.synthetic_run import CLIENTS, synthetic_run

RESULTS = [
    synthetic_run(run_id="slow")[0],
    synthetic_run(knee=6.3, iops=2000, run_id="fast", seed=6)[0],
]


def test_curves_of_both_runs_lie_over_each_other(page: Page, tmp_path: Path) -> None:
    comparison = compare_runs(RESULTS)
    path = tmp_path / "compare.html"
    path.write_text(compare_page.render_comparison(RESULTS, comparison, None), "utf-8")

    shown = Watched(page, path)

    assert shown.complaints == []
    assert shown.requests == [path.as_uri()]
    assert page.locator(".answer .sentence").inner_text() == join_units(comparison.sentences[0])
    for chart in ("over-read", "over-update", "over-throughput"):
        assert shown.marks(chart, ".plot [data-told][overflow]") == 2 * len(CLIENTS)
        assert shown.marks(chart, ".plot path[stroke-linejoin]") == 2
    legend = page.locator("#over-update .keys li").all_inner_texts()
    assert legend[:2] == ["1,000 IOPS", "2,000 IOPS"]


def test_a_point_tells_whose_it_is(page: Page, tmp_path: Path) -> None:
    path = tmp_path / "compare.html"
    path.write_text(compare_page.render_comparison(RESULTS, compare_runs(RESULTS), None), "utf-8")
    shown = Watched(page, path)
    capacity = RESULTS[1].capacity
    assert capacity is not None
    judged = next(step for step in capacity.steps if step.load == CLIENTS[-1])
    points = page.locator("#over-update .plot [data-told][overflow]")
    told = shown.told_at(points.nth(2 * len(CLIENTS) - 1))
    assert told["run"] == "2,000 IOPS"
    assert told["throughput, ops/s"] == f"{judged.throughput_ops_per_second:,.1f}"
