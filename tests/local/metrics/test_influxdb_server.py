"""The InfluxDB sink against a real server: what is read back is what was written."""

import json
import urllib.parse
import urllib.request
from collections.abc import Mapping
from typing import Any

import pytest

from plimsoll.metrics import Point, publish_points
from plimsoll.metrics.influxdb import Credentials, InfluxSink
from plimsoll.metrics.points import make_second_points
from plimsoll.model.engine.answered import SecondReport

START_EPOCH_MS = 1_790_000_000_000


def sink(url: str) -> InfluxSink:
    return InfluxSink(url=url, org="plimsoll", bucket="runs", credentials=Credentials("unused"))


def read_back(url: str, **labels: str) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{url}/internal/force_flush", timeout=60):
        pass  # the server makes what it has received visible to queries
    selector = "{" + ",".join(f"{key}={json.dumps(value)}" for key, value in labels.items()) + "}"
    query = urllib.parse.urlencode({"match[]": selector})
    with urllib.request.urlopen(f"{url}/api/v1/export?{query}", timeout=60) as answer:
        return [json.loads(line) for line in answer.read().splitlines()]


def series(rows: list[dict[str, Any]]) -> dict[tuple[str, str], dict[int, float]]:
    return {
        (row["metric"]["__name__"], row["metric"].get("operation", "")): dict(
            zip(row["timestamps"], row["values"], strict=True)
        )
        for row in rows
    }


def second(number: int, operation: str, p99_us: int | None) -> SecondReport:
    return SecondReport.model_validate(
        {
            "second": number,
            "operation": operation,
            "succeeded": 1000 + number,
            "errors": number % 2,
            "p50_us": p99_us and p99_us // 2,
            "p99_us": p99_us,
            "max_us": p99_us and p99_us * 3,
            "buckets": {},
        }
    )


def test_every_second_of_a_client_is_read_back(victoria_metrics: str) -> None:
    reports = [second(n, name, 400 + n) for n in range(60) for name in ("read", "update")]
    points = make_second_points(
        reports, run_id="whole", step=2, client=3, load_start_epoch_ms=START_EPOCH_MS
    )

    outcome = publish_points(points, sink(victoria_metrics))

    assert outcome.model_dump() == {
        "sink": "influxdb",
        "written": 120,
        "failed": 0,
        "problem": None,
    }
    found = series(read_back(victoria_metrics, run="whole", step="2", client="3"))
    for field in ("succeeded", "errors", "p50_us", "p99_us", "max_us"):
        for operation in ("read", "update"):
            expected = {
                START_EPOCH_MS + report.second * 1000: float(getattr(report, field))
                for report in reports
                if report.operation == operation
            }
            assert found[f"plimsoll_second_{field}", operation] == expected


def test_a_second_without_successes_has_no_latency(victoria_metrics: str) -> None:
    points = make_second_points(
        [second(0, "read", None)], run_id="gap", step=1, client=0, load_start_epoch_ms=0
    )
    stamped = [Point(p.measurement, START_EPOCH_MS, p.fields, p.tags) for p in points]

    publish_points(stamped, sink(victoria_metrics))

    names = {name for name, _ in series(read_back(victoria_metrics, run="gap"))}
    assert names == {"plimsoll_second_succeeded", "plimsoll_second_errors"}


@pytest.mark.parametrize("name", ['a "quoted" = b, c', "naïve 数据库"])
def test_awkward_tags_survive(victoria_metrics: str, name: str) -> None:
    tags: Mapping[str, str] = {"run": "awkward", "operation": name}

    publish_points(
        [Point("plimsoll_second", START_EPOCH_MS, {"errors": 7}, tags)], sink(victoria_metrics)
    )

    found = series(read_back(victoria_metrics, run="awkward"))
    assert found["plimsoll_second_errors", name] == {START_EPOCH_MS: 7.0}
