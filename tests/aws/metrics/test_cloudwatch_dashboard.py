"""CloudWatch: what is printed for it, and each query of its dashboard, asked as Grafana asks it."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest
from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit

from plimsoll.metrics import publish_points
from plimsoll.metrics.cloudwatch import CloudWatchSink, format_embedded
from plimsoll.metrics.panels import PANELS
from tests.support.told_run import RUN, told_points, told_run

NAMESPACE = "Plimsoll"
DASHBOARD = json.loads((Path(__file__).parents[3] / "docs/grafana/cloudwatch.json").read_text())
RESULT, SECONDS = told_run()
PANELS_OF_CLOUDWATCH = [panel.title for panel in PANELS if panel.cloudwatch]
UNITS = {unit.value for unit in MetricUnit} | {"None"}


def test_a_line_is_what_aws_own_writer_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("POWERTOOLS_SERVICE_NAME", raising=False)
    writer = EphemeralMetrics(namespace=NAMESPACE)
    writer.add_dimension("run", "r")
    writer.add_metric("p99_us", MetricUnit.Microseconds, 900)
    writer.add_metric("throughput_ops_per_second", MetricUnit.CountPerSecond, 5600.5)
    writer.add_metadata("step", "2")
    theirs = json.loads(json.dumps(writer.serialize_metric_set()))
    figures = {"p99_us": 900, "throughput_ops_per_second": 5600.5}
    at = theirs["_aws"]["Timestamp"]
    ours = json.loads(format_embedded(NAMESPACE, at, {"run": "r"}, figures, {"step": "2"}))
    assert ours == {**theirs, **figures}  # theirs has a list of one value each


def as_cloudwatch_reads(lines: str) -> Iterator[dict[str, Any]]:
    """Make metrics of printed lines, by the specification of the format."""
    for line in lines.splitlines():
        told = json.loads(line)
        for directive in told["_aws"]["CloudWatchMetrics"]:
            assert directive["Namespace"] == NAMESPACE
            for names in directive["Dimensions"]:
                assert len(names) <= 30
                for metric in directive["Metrics"]:
                    assert metric["Unit"] in UNITS
                    yield {
                        "MetricName": metric["Name"],
                        "Dimensions": [{"Name": n, "Value": told[n]} for n in names],
                        "Timestamp": datetime.fromtimestamp(told["_aws"]["Timestamp"] / 1000, UTC),
                        "Value": float(told[metric["Name"]]),
                        "Unit": metric["Unit"],
                    }


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> str:
    """What a deployment whose sink is CloudWatch prints of a run."""
    report = publish_points(told_points(RESULT, SECONDS), CloudWatchSink(namespace=NAMESPACE))
    assert report.problem is None
    return capsys.readouterr().out


@pytest.fixture
def filled(account: None, printed: str) -> Any:
    """CloudWatch with the run's metrics, and those that RDS sends of its target."""
    del account
    client: Any = boto3.client("cloudwatch")
    metrics = list(as_cloudwatch_reads(printed))
    for first in range(0, len(metrics), 1000):  # the most that a call may carry
        client.put_metric_data(Namespace=NAMESPACE, MetricData=metrics[first : first + 1000])
    names = ("ReadIOPS", "WriteIOPS", "ReadThroughput", "WriteThroughput", "DiskQueueDepth",
             "CPUUtilization", "BurstBalance", "EBSIOBalance%")  # fmt: skip
    of = [{"Name": "DBInstanceIdentifier", "Value": f"plimsoll-{RUN}"}]
    at = datetime.fromtimestamp(SECONDS.operations[0].epoch_s, UTC)
    for name in names:
        point: Any = {"MetricName": name, "Dimensions": of, "Timestamp": at, "Value": 7.5}
        client.put_metric_data(Namespace="AWS/RDS", MetricData=[point])
    return client


def targets(title: str) -> list[dict[str, Any]]:
    (panel,) = [panel for panel in DASHBOARD["panels"] if panel["title"] == title]
    found: list[dict[str, Any]] = panel["targets"]
    return found


def matches(metric: dict[str, Any], wanted: dict[str, str]) -> bool:
    """As Grafana's `matchExact`: these dimensions and no others; `*` is any value."""
    has = {one["Name"]: one["Value"] for one in metric["Dimensions"]}
    return set(has) == set(wanted) and all(
        value in ("*", has[name]) for name, value in wanted.items()
    )


def asked(client: Any, target: dict[str, Any]) -> dict[str, list[float]]:
    """Ask as Grafana does: each metric that is meant, by its dimensions' values."""

    def filled_in(text: str) -> str:
        return text.replace("$run", RUN).replace("$deployment", NAMESPACE)

    namespace = filled_in(target["namespace"])
    wanted = {name: filled_in(value) for name, value in target["dimensions"].items()}
    there = client.list_metrics(Namespace=namespace, MetricName=target["metricName"])["Metrics"]
    first = SECONDS.operations[0].epoch_s // 60 * 60
    start = datetime.fromtimestamp(first, UTC)
    found = {}
    for metric in there:
        if matches(metric, wanted):
            stat = {
                "Metric": metric,
                "Period": int(target["period"]),
                "Stat": target["statistic"],
            }
            (result,) = client.get_metric_data(
                MetricDataQueries=[{"Id": "m", "MetricStat": stat}],
                StartTime=start,
                EndTime=start + timedelta(minutes=30),
            )["MetricDataResults"]
            named = tuple(one["Value"] for one in metric["Dimensions"])
            found[" ".join(named)] = result["Values"]
    return found


@pytest.mark.parametrize("title", PANELS_OF_CLOUDWATCH)
def test_every_query_has_an_answer(filled: Any, title: str) -> None:
    for target in targets(title):
        found = asked(filled, target)
        assert found
        assert all(found.values()), target["metricName"]


def test_a_steps_p99_is_that_of_the_merged_histograms(filled: Any) -> None:
    (latency,) = targets("p99 latency")
    found = asked(filled, latency)
    assert set(found) == {f"{RUN} read", f"{RUN} update"}
    worst = max(step.step.latency_us["update"]["p99"] for step in RESULT.steps)
    assert max(found[f"{RUN} update"]) <= worst


def test_a_load_line_keeps_its_bound(filled: Any) -> None:
    assert RESULT.capacity is not None
    figure, *_ = targets("Load line")
    assert asked(filled, figure) == {
        f"{RUN} {RESULT.capacity.bound}": [
            pytest.approx(RESULT.capacity.max_sustainable_throughput_ops_per_second)
        ]
    }


def test_steps_are_no_dimension_and_seconds_are_not_told(printed: str) -> None:
    kinds = {
        (metric["MetricName"], tuple(one["Name"] for one in metric["Dimensions"]))
        for metric in as_cloudwatch_reads(printed)
    }
    of_steps = {name for name, dimensions in kinds if dimensions == ("run",)}
    assert of_steps == {
        "clients", "connections", "throughput_ops_per_second", "operations", "errors",
        "client_busy",
    }  # fmt: skip
    assert {dimensions for _, dimensions in kinds} == {
        ("run",), ("run", "operation"), ("run", "bound"),
    }  # fmt: skip
    assert "succeeded" not in printed
