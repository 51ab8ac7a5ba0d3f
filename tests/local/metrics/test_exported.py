"""`--metrics-file` and `--otlp`, from a real load, read back by what others wrote.

A file by VictoriaMetrics; OTLP by OpenTelemetry's own messages, since no collector is packaged.
"""

import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from plimsoll.cli.main import main
from plimsoll.metrics.measures import list_run_measures
from plimsoll.metrics.otlp import push_metrics
from plimsoll.metrics.prometheus import format_prometheus
from tests.support.synthetic_run import synthetic_run

SHORT = ("--operations", "100", "--duration", "60")  # whatever this machine's speed


def asked(url: str, query: str) -> list[dict[str, Any]]:
    """Ask a question in PromQL; a moment later, since the server rounds its time down."""
    with urllib.request.urlopen(f"{url}/internal/force_flush", timeout=60):
        pass  # the server makes what it has received visible to queries
    parameters = urllib.parse.urlencode({"query": query, "time": time.time() + 10})
    with urllib.request.urlopen(f"{url}/api/v1/query?{parameters}", timeout=60) as answer:
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return found


@pytest.fixture
def collector() -> Iterator[tuple[str, list[ExportMetricsServiceRequest]]]:
    """An HTTP server that reads what it is sent by OpenTelemetry's own definition of OTLP."""
    received: list[ExportMetricsServiceRequest] = []

    class Collecting(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            there = self.path == "/v1/metrics"
            if there:
                received.append(ExportMetricsServiceRequest.FromString(body))
            self.send_response(200 if there else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Collecting) as server:
        serving = Thread(target=server.serve_forever, args=(0.01,))
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}", received
        server.shutdown()
        serving.join()


def points(received: list[ExportMetricsServiceRequest]) -> dict[str, list[Any]]:
    """The points of each metric that one request holds."""
    ((resource,),) = [request.resource_metrics for request in received]
    (scope,) = resource.scope_metrics
    return {
        f"{metric.name} {metric.unit}": list(getattr(metric, metric.WhichOneof("data")).data_points)
        for metric in scope.metrics
    }


def imported(url: str, text: str) -> None:
    request = urllib.request.Request(f"{url}/api/v1/import/prometheus", data=text.encode())
    with urllib.request.urlopen(request, timeout=60):
        pass


@pytest.fixture
def load(fresh_database: str) -> Callable[..., int]:
    """Load a database with some operations, with options."""

    def call(*options: str) -> int:
        rows = ["--dsn", fresh_database, "--workload", "ycsb-c"]
        with pytest.raises(SystemExit):
            main(["prepare", *rows, "--records", "200"])
        with pytest.raises(SystemExit) as ended:
            main(["load", *rows, "--warmup", "0", *SHORT, *options])
        return int(ended.value.code or 0)

    return call


def test_a_file_is_read_by_a_server_and_has_percentiles(
    load: Callable[..., int], victoria_metrics: str, tmp_path: Path
) -> None:
    file = tmp_path / "plimsoll.prom"
    assert load("--metrics-file", str(file)) == 0
    imported(victoria_metrics, file.read_text())
    name = "plimsoll_operation_duration_seconds"
    (count,) = asked(victoria_metrics, f'{name}_count{{workload="ycsb-c"}}')
    (done,) = asked(victoria_metrics, 'plimsoll_operations_total{workload="ycsb-c"}')
    assert float(count["value"][1]) == float(done["value"][1]) > 0
    (half,) = asked(
        victoria_metrics, f'histogram_quantile(0.5, {name}_bucket{{workload="ycsb-c"}})'
    )
    assert 0 < float(half["value"][1]) < 1


@pytest.mark.parametrize("by_variable", [True, False])
def test_a_collector_gets_histograms_with_their_own_times(
    load: Callable[..., int],
    collector: tuple[str, list[ExportMetricsServiceRequest]],
    monkeypatch: pytest.MonkeyPatch,
    by_variable: bool,
) -> None:
    url, received = collector
    began_ns = time.time_ns()
    if by_variable:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    assert load(*([] if by_variable else ["--otlp", url])) == 0
    told = points(received)
    assert set(told) == {
        "plimsoll.load.throughput {operation}/s",
        "plimsoll.load.connections {connection}",
        "plimsoll.operations {operation}",
        "plimsoll.operation.duration s",
    }
    ((histogram,), (done,)) = (
        told["plimsoll.operation.duration s"],
        told["plimsoll.operations {operation}"],
    )
    assert histogram.count == sum(histogram.bucket_counts) == (done.as_int or done.as_double) > 0
    assert len(histogram.bucket_counts) == len(histogram.explicit_bounds) + 1
    assert 0 < histogram.sum / histogram.count <= histogram.max
    assert not histogram.HasField("min")
    ended_ns = time.time_ns()
    assert began_ns < histogram.start_time_unix_nano < histogram.time_unix_nano < ended_ns


def test_both_ways_tell_the_same_of_a_run(
    victoria_metrics: str, collector: tuple[str, list[ExportMetricsServiceRequest]]
) -> None:
    run, _ = synthetic_run(run_id="told-twice")
    imported(victoria_metrics, format_prometheus(list_run_measures(run)))
    url, received = collector
    push_metrics(list_run_measures(run), endpoint=url, version="0")
    (line,) = points(received)["plimsoll.capacity {operation}/s"]
    (same,) = asked(victoria_metrics, 'plimsoll_capacity_operations_per_second{run="told-twice"}')
    assert line.as_double == pytest.approx(float(same["value"][1]))
    steps = points(received)["plimsoll.step.throughput {operation}/s"]
    of_file = asked(
        victoria_metrics, 'plimsoll_step_throughput_operations_per_second{run="told-twice"}'
    )
    assert len(steps) == len(of_file) == len(run.steps)


def test_a_collector_that_is_not_there_is_a_line_and_the_load_stands(
    load: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert load("--otlp", "http://127.0.0.1:9") == 0
    told = capsys.readouterr()
    assert "plimsoll: the OpenTelemetry collector did not take the metrics: " in told.err
    assert "Traceback" not in told.err
    assert "throughput" in told.out or "ops/s" in told.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--otlp", "collector:4318"], "--otlp collector:4318: must be http://... or https://..."),
        (["--metrics-file", "/no/such/folder/a.prom"], "there is no folder /no/such/folder"),
    ],
)
def test_where_nothing_can_go_is_refused_before_the_load(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["load", "--dsn", "mysql://u@127.0.0.1/d", "--workload", "ycsb-c", *options])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
