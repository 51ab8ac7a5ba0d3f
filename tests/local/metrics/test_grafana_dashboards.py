"""The dashboards: by Grafana's schema, and each query answered by a real store that holds a run.

Those of CloudWatch: tests/aws/metrics/test_cloudwatch_dashboard.py.
"""

import json
import re
import urllib.parse
import urllib.request
from collections import defaultdict
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from plimsoll.metrics.influxdb import format_line
from plimsoll.metrics.measures import list_run_measures
from plimsoll.metrics.panels import PANELS
from plimsoll.metrics.prometheus import format_prometheus
from tests.local.metrics.test_exported import asked, imported
from tests.support.told_run import P99_US, RUN, told_points, told_run
from tools.grafana_dashboards import FOLDER, STORES, Store, build

RESULT, SECONDS = told_run()
WRITTEN = {store: json.loads((FOLDER / f"{store}.json").read_text()) for store in STORES}
INFLUX_PANELS = [panel.title for panel in PANELS if panel.influxdb]
PROMETHEUS_PANELS = [panel.title for panel in PANELS if panel.prometheus]


def targets(store: Store, title: str) -> list[dict[str, Any]]:
    (panel,) = [panel for panel in WRITTEN[store]["panels"] if panel["title"] == title]
    found: list[dict[str, Any]] = panel["targets"]
    return found


@pytest.mark.parametrize("store", STORES)
def test_the_committed_dashboard_is_the_generated_one(store: Store) -> None:
    written = (FOLDER / f"{store}.json").read_text()
    assert written == build(store), "run: .venv/bin/python -m tools.grafana_dashboards"


def test_there_is_no_other_dashboard() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(STORES)


@pytest.mark.parametrize("store", STORES)
def test_grafanas_schema_reads_it_without_losing_anything(store: Store) -> None:
    register_default_plugins()
    read = Dashboard.from_json(WRITTEN[store])
    assert json.loads(json.dumps(read, cls=JSONEncoder)) == WRITTEN[store]


@pytest.mark.parametrize("store", STORES)
def test_queries_of_a_panel_are_told_apart(store: Store) -> None:
    for panel in WRITTEN[store]["panels"]:
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs) > 0


def call(url: str, path: str, body: bytes | None = None, **parameters: str) -> dict[str, Any]:
    query = urllib.parse.urlencode(parameters)
    request = urllib.request.Request(f"{url}{path}?{query}", data=body)
    with urllib.request.urlopen(request, timeout=60) as answer:
        text = answer.read()
    return json.loads(text) if text else {}


@pytest.fixture(scope="module")
def filled(influxdb: str) -> str:
    """InfluxDB with the run's points."""
    call(influxdb, "/query", b"", q="CREATE DATABASE runs")
    lines = "\n".join(map(format_line, told_points(RESULT, SECONDS))).encode()
    call(influxdb, "/write", lines, db="runs", precision="ms")
    return influxdb


def ask(url: str, query: str, interval: str = "1s") -> list[dict[str, Any]]:
    first, last = SECONDS.operations[0].epoch_s, SECONDS.operations[-1].epoch_s + 30
    query = query.replace("$timeFilter", f"time >= {first}s AND time <= {last}s")
    query = query.replace("$__interval", interval).replace("$run", RUN)
    assert "$" not in query.replace("$/", "")
    answer = call(url, "/query", db="runs", q=query, epoch="s")
    (result,) = answer["results"]
    assert "error" not in result
    series: list[dict[str, Any]] = result["series"]
    return series


def query_of(title: str) -> str:
    (target,) = targets("influxdb", title)
    query: str = target["query"]
    return query


@pytest.mark.parametrize("title", INFLUX_PANELS)
def test_influxdb_answers_every_query_with_every_figure(filled: str, title: str) -> None:
    series = ask(filled, query_of(title))
    assert series
    for one in series:
        assert all(value is not None for row in one["values"] for value in row)


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
    for series in ask(filled, query_of("p99 latency")):
        assert {value for _, value in series["values"]} == {P99_US}


def test_the_volumes_throughput_is_in_bytes(filled: str) -> None:
    (series,) = ask(filled, query_of("Volume: throughput"))
    during = [row for row in series["values"] if row[1] > 0]
    assert {tuple(row[1:]) for row in during} == {(4 * 2**20, 9 * 2**20)}


def test_the_load_line_says_whether_it_is_a_bound(filled: str) -> None:
    assert RESULT.capacity is not None
    (series,) = ask(filled, query_of("Load line"))
    assert series["tags"] == {"bound": RESULT.capacity.bound}
    ((_, figure, low, high),) = series["values"]
    assert figure == RESULT.capacity.max_sustainable_throughput_ops_per_second
    assert low <= figure <= high


def test_the_table_of_latencies_is_that_of_the_steps(filled: str) -> None:
    for series in ask(filled, query_of("Latency of each step, µs")):
        step = RESULT.steps[int(series["tags"]["step"]) - 1]
        latency = step.step.latency_us[series["tags"]["operation"]]
        ((_, *figures),) = series["values"]
        names = [re.sub("_us$", "", column) for column in series["columns"][1:]]
        assert dict(zip(names, figures, strict=True)) == latency


def test_the_list_of_runs_names_the_run(filled: str) -> None:
    (variable,) = [v for v in WRITTEN["influxdb"]["templating"]["list"] if v["name"] == "run"]
    (series,) = ask(filled, variable["query"])
    assert ["run", RUN] in series["values"]


@pytest.fixture(scope="module")
def told(victoria_metrics: str) -> str:
    """A server of Prometheus' query language that has read the run's file, beside another's."""
    imported(victoria_metrics, format_prometheus(list_run_measures(RESULT)))
    other = RESULT.model_copy(update={"run_id": "another"})
    imported(victoria_metrics, format_prometheus(list_run_measures(other)))
    return victoria_metrics


def answered(url: str, target: dict[str, Any]) -> dict[str, float]:
    """What a query of a panel finds, by the name that the panel gives each series."""
    legend: str = target["legendFormat"]
    labels = re.findall(r"{{(\w+)}}", legend)
    found = asked(url, target["expr"].replace("$run", RUN))
    named: dict[str, float] = {}
    for series in found:
        metric = series["metric"]
        assert set(labels) <= set(metric), f"{legend} of {metric}"
        name = legend
        for label in labels:
            name = name.replace(f"{{{{{label}}}}}", metric[label])
        assert name not in named, "two series of one name cannot be told apart"
        named[name] = float(series["value"][1])
    return named


@pytest.mark.parametrize("title", PROMETHEUS_PANELS)
def test_prometheus_answers_every_query(told: str, title: str) -> None:
    for target in targets("prometheus", title):
        assert answered(told, target)


def test_prometheus_shows_the_steps_of_the_run_alone(told: str) -> None:
    (throughput,) = targets("prometheus", "Throughput")
    assert answered(told, throughput) == pytest.approx(
        {f"step {s.plan.index}": s.step.throughput_ops_per_second for s in RESULT.steps}
    )
    cpu, balances = targets("prometheus", "Server's CPU, credits left")
    assert answered(told, cpu) == pytest.approx(
        {f"step {s.plan.index} CPU": s.target.cpu_percent for s in RESULT.steps if s.target}
    )
    assert answered(told, balances)["step 1 volume"] == pytest.approx(87.5)


def test_prometheus_finds_percentiles_between_two_bounds(told: str) -> None:
    (latency,) = targets("prometheus", "p99 latency")
    found = answered(told, latency)
    for step in RESULT.steps:
        for operation, figures in step.step.latency_us.items():
            p99 = found[f"step {step.plan.index} {operation}"]
            assert figures["p99"] / 1.7 <= p99 <= figures["p99"] * 1.7


def test_prometheus_counts_failures_by_their_code(told: str) -> None:
    (failed,) = targets("prometheus", "Failed operations")
    assert answered(told, failed)["step 1 read 1205"] == 3
