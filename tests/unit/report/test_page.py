"""The page: self-contained, safe, small, and empty where nothing was measured."""

import json
import re
from typing import Any

import pytest
import yaml

from plimsoll.model.request import Request
from plimsoll.model.results import Seconds
from plimsoll.model.run_record import Failure, RunState
from plimsoll.report.curve import limit_labels
from plimsoll.report.page import render
from tests.support.synthetic_run import synthetic_run

RESULT, SECONDS = synthetic_run()
EMPTY = Seconds(run_id=RESULT.run_id, operations=(), target=())
MOST_BYTES = 3_000_000


@pytest.fixture(scope="module")
def drawn() -> str:
    return render(RESULT, SECONDS)


def book(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="book">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    read: dict[str, Any] = json.loads(found[1])
    return read


def rows(page: str, name: str) -> list[dict[str, Any]]:
    data = book(page)["data"][name]
    return [dict(zip(data["names"], row, strict=True)) for row in data["rows"]]


def without_scripts(page: str) -> str:
    return re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)


def test_the_page_asks_for_nothing_from_outside(drawn: str) -> None:
    assert not re.findall(r'(?:src|href|action)="(?!data:)', without_scripts(drawn))
    assert "url(" not in without_scripts(drawn)
    assert "default-src 'none'" in drawn


def test_every_chart_has_its_rows(drawn: str) -> None:
    found = book(drawn)
    for chart in found["charts"].values():
        assert set(chart["data"]) <= set(found["data"])
    assert set(found["charts"]) == {
        "curve",
        "throughput",
        "latency-read",
        "latency-update",
        "timeline",
        "heat-map",
    }


def test_the_curve_holds_the_figures_of_the_result(drawn: str) -> None:
    assert RESULT.capacity is not None
    expected = {
        (judged.load, name): (judged.throughput_ops_per_second, latency_us)
        for judged in RESULT.capacity.steps
        for name, latency_us in judged.latency_us.items()
    }
    found = {
        (row["load"], row["operation"]): (row["throughput"], row["latency_us"])
        for row in rows(drawn, "curve")
    }
    assert found.keys() == expected.keys()
    for key, figures in expected.items():
        assert found[key] == pytest.approx(figures, rel=1e-9)


def test_the_request_on_the_page_asks_for_the_same_run(drawn: str) -> None:
    shown = re.findall(r"<pre><code>(.*?)</code></pre>", drawn, re.DOTALL)[-1]
    text = shown.replace("&#39;", "'").replace("&#34;", '"').replace("&amp;", "&")
    assert Request.model_validate_json(json.dumps(yaml.safe_load(text))) == RESULT.request


def test_a_hostile_name_stays_text() -> None:
    hostile = "</script><script>alert(1)</script>"
    notes = RESULT.model_copy(update={"notes": (hostile,)})
    renamed = tuple(
        second.model_copy(update={"operation": hostile}) for second in SECONDS.operations
    )
    page = render(notes, SECONDS.model_copy(update={"operations": renamed}))
    assert hostile not in page
    assert "&lt;/script&gt;" in page


def test_steps_shorter_than_a_bin_are_drawn_all_the_same() -> None:
    """Of a run of a day, a step of 15 s is one bin: no line, so each has a block and a point."""
    apart = tuple(
        second.model_copy(update={"epoch_s": second.epoch_s + second.step * 7200})
        for second in SECONDS.operations
    )
    found = rows(render(RESULT, SECONDS.model_copy(update={"operations": apart})), "ops")
    assert {row["alone"] for row in found} == {True}
    assert all(row["t2"] - row["t"] == 300 and row["to"] > row["from"] for row in found)
    assert len(found) == len(RESULT.steps) * 2


@pytest.mark.parametrize(
    ("update_us", "labels"),
    [
        (5100, [(5100, "limit of update: 5.10 ms, of read: 5.00 ms")]),
        (9000, [(9000, "limit of update: 9.00 ms"), (5000, "limit of read: 5.00 ms")]),
    ],
)
def test_limits_too_close_for_a_label_each_share_one(
    update_us: float, labels: list[tuple[float, str]]
) -> None:
    limits_us = [
        {"operation": "read", "limit_us": 5000},
        {"operation": "update", "limit_us": update_us},
    ]
    found = limit_labels(limits_us, [1000, 10_000])
    assert [(row["limit_us"], row["label"]) for row in found] == labels


def test_the_caption_names_only_what_is_drawn(drawn: str) -> None:
    assert RESULT.capacity is not None
    none = {"max_sustainable_throughput_ops_per_second": None, "bracket": None, "bound": None}
    page = without_scripts(
        render(
            RESULT.model_copy(update={"capacity": RESULT.capacity.model_copy(update=none)}), EMPTY
        )
    )
    for told in ("Ringed", "Upright line", "Level line: the answer", "Shaded: the bracket"):
        assert told not in page
        assert told in without_scripts(drawn)


def test_a_run_without_series_has_no_chart_over_time() -> None:
    page = render(RESULT, EMPTY)
    assert set(book(page)["charts"]) == {"curve", "throughput", "latency-read", "latency-update"}
    assert "second by second" not in page


def test_a_run_that_measured_nothing_draws_nothing() -> None:
    failed = RESULT.model_copy(
        update={
            "state": RunState.FAILED,
            "failure": Failure(phase="provision", error="E", cause="no such engine version"),
            "capacity": None,
            "limiting": None,
            "steps": (),
        }
    )
    page = render(failed, EMPTY)
    assert book(page)["charts"] == {}
    assert "no such engine version" in page
    assert "<figure" not in page


def test_a_volume_without_credits_has_no_panel_of_credits(drawn: str) -> None:
    assert "balance" not in book(drawn)["data"]
    credited = tuple(
        sample.model_copy(update={"burst_balance_percent": 80.0}) for sample in SECONDS.target
    )
    page = render(RESULT, SECONDS.model_copy(update={"target": credited}))
    assert {row["value"] for row in rows(page, "balance")} == {80.0}


def test_a_long_run_of_many_operations_stays_under_three_megabytes() -> None:
    length = SECONDS.operations[-1].epoch_s - SECONDS.operations[0].epoch_s + 1
    operations = tuple(
        second.model_copy(
            update={
                "epoch_s": second.epoch_s + n * length,
                "operation": f"{second.operation}-{kind}",
            }
        )
        for n in range(3600 // length)
        for second in SECONDS.operations
        for kind in range(3)
    )
    page = render(RESULT, SECONDS.model_copy(update={"operations": operations}))
    assert len(page.encode()) < MOST_BYTES


def test_a_page_links_to_dashboards_by_their_own_names() -> None:
    links = {"grafana": "https://grafana.example/d/a?var-run=x&from=1&to=2"}
    page = render(RESULT.model_copy(update={"links": links}), EMPTY)
    shown = (
        'href="https://grafana.example/d/a?var-run=x&amp;from=1&amp;to=2" rel="noopener noreferrer"'
    )
    assert f"<a {shown}>On the dashboard in Grafana</a>" in page
