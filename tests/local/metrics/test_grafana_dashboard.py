"""The dashboard: by Grafana's schema, and each of its queries answered by a real InfluxDB."""

import json
import re
import urllib.parse
import urllib.request
from collections import defaultdict
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from plimsoll.metrics.influxdb import line
from plimsoll.metrics.points import second_points, step_points, target_points
from plimsoll.model.engine_report import SecondReport
from tests.support.synthetic_run import synthetic_run
from tools.grafana_dashboard import FILE, build

RESULT, SECONDS = synthetic_run(run_id="shown")
WRITTEN = json.loads(FILE.read_text())


def panels() -> dict[str, dict[str, Any]]:
    return {panel["title"]: panel for panel in WRITTEN["panels"]}


def call(url: str, path: str, body: bytes | None = None, **parameters: str) -> dict[str, Any]:
    query = urllib.parse.urlencode(parameters)
    request = urllib.request.Request(f"{url}{path}?{query}", data=body)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else {}


@pytest.fixture(scope="module")
def filled(influxdb: str) -> str:
    """The synthetic run, as its two clients would have written it: each half of it."""
    points = [
        point
        for client in range(2)
        for second in SECONDS.operations
        for point in second_points(
            [
                SecondReport(
                    second=0,
                    operation=second.operation,
                    succeeded=second.succeeded // 2 + client * (second.succeeded % 2),
                    errors=client,
                    p50_us=100,
                    p99_us=1000 * (client + 1),
                    max_us=5000,
                    buckets={},
                )
            ],
            run_id="shown",
            step=second.step,
            client=client,
            load_start_epoch_ms=second.epoch_s * 1000,
        )
    ]
    for done in RESULT.steps:
        assert done.window_end_epoch_ms is not None
        end = done.window_end_epoch_ms
        points += step_points(done.step, run_id="shown", index=done.plan.index, epoch_ms=end)
    points += target_points(SECONDS.target, run_id="shown")
    call(influxdb, "/query", b"", q="CREATE DATABASE runs")
    lines = "\n".join(map(line, points)).encode()
    call(influxdb, "/write", lines, db="runs", precision="ms")
    return influxdb


def ask(url: str, query: str, interval: str = "1s") -> list[dict[str, Any]]:
    first, last = SECONDS.operations[0].epoch_s, SECONDS.operations[-1].epoch_s + 30
    query = query.replace("$timeFilter", f"time >= {first}s AND time <= {last}s")
    query = query.replace("$__interval", interval).replace("$run", "shown")
    assert "$" not in query.replace("$/", "")
    answer = call(url, "/query", db="runs", q=query, epoch="s")
    (result,) = answer["results"]
    assert "error" not in result
    series: list[dict[str, Any]] = result["series"]
    return series


def query_of(title: str) -> str:
    (target,) = panels()[title]["targets"]
    query: str = target["query"]
    return query


def test_the_committed_dashboard_is_the_generated_one() -> None:
    assert FILE.read_text() == build(), "run: .venv/bin/python tools/grafana_dashboard.py"


def test_grafanas_schema_reads_it_without_losing_anything() -> None:
    read = Dashboard.from_json(WRITTEN)
    assert json.loads(json.dumps(read, cls=JSONEncoder)) == WRITTEN


def test_every_query_is_answered(filled: str) -> None:
    empty = {"Credits left, server's CPU"}
    for title in panels():
        series = ask(filled, query_of(title))
        assert series, title
        assert title in empty or all(row[1] is not None for row in series[0]["values"])


def test_throughput_is_the_sum_of_the_clients_second_by_second(filled: str) -> None:
    found = {
        (series["tags"]["operation"], epoch_s): rate
        for series in ask(filled, query_of("Throughput"))
        for epoch_s, rate in series["values"]
    }
    assert found == {(s.operation, s.epoch_s): s.succeeded for s in SECONDS.operations}


def test_a_wide_screen_interval_shows_the_mean_rate_not_the_sum(filled: str) -> None:
    sums: dict[tuple[str, int], list[int]] = defaultdict(list)
    for second in SECONDS.operations:
        sums[second.operation, second.epoch_s // 10 * 10].append(second.succeeded)
    found = {
        (series["tags"]["operation"], epoch_s): rate
        for series in ask(filled, query_of("Throughput"), interval="10s")
        for epoch_s, rate in series["values"]
    }
    assert found == pytest.approx({key: sum(v) / len(v) for key, v in sums.items()})


def test_latency_is_the_worst_clients(filled: str) -> None:
    for series in ask(filled, query_of("p99 latency, worst client")):
        assert {value for _, value in series["values"]} == {2000}


def test_the_table_of_latencies_is_that_of_the_steps(filled: str) -> None:
    for series in ask(filled, query_of("Latency of each step, µs")):
        step = RESULT.steps[int(series["tags"]["step"]) - 1]
        latency = step.step.latency_us[series["tags"]["operation"]]
        ((_, *figures),) = series["values"]
        names = [re.sub("_us$", "", column) for column in series["columns"][1:]]
        assert dict(zip(names, figures, strict=True)) == latency


def test_the_list_of_runs_names_the_run(filled: str) -> None:
    (variable,) = [v for v in WRITTEN["templating"]["list"] if v["name"] == "run"]
    (series,) = ask(filled, variable["query"])
    assert ["run", "shown"] in series["values"]
