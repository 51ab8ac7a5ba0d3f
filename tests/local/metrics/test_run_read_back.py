"""A whole run in a real store: what is read back is what the run's own files hold."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from plimsoll.metrics import publish_points
from plimsoll.metrics.points import make_target_points
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.fleet import ClientResult, StepPlan
from plimsoll.model.run.results import StepResult
from plimsoll.workflow.metric_points import list_client_points, list_step_points
from tests.local.metrics.test_influxdb_server import read_back, sink
from tests.support.merged import merge_step
from tests.unit.fleet.test_merge import START_MS, after, planned, result

RUN = "read-back"
SAMPLES = [
    TargetSample(epoch_ms=START_MS + 1000 * n, read_iops=10.0 * n, queue=0.5) for n in range(5)
]
Figures = dict[tuple[str, str, str, str], dict[int, float]]


def written(folder: Path) -> None:
    """The files of a run with one step of two clients."""
    results = [
        result(client, [100 * (client + 1)] * 400).model_copy(update={"run_id": RUN})
        for client in (0, 1)
    ]
    plan = planned()
    step = merge_step(plan, results, [], server_after=after(1100))
    (folder / "clients").mkdir()
    for one in results:
        (folder / "clients" / f"{one.client}.json").write_text(one.model_dump_json())
    (folder / "plan.json").write_text(plan.model_dump_json())
    (folder / "step.json").write_text(step.model_dump_json())


def from_files(folder: Path) -> Figures:
    """{(series, step, client, operation): {time: figure}}, from the JSON as it lies there."""
    found: Figures = {}

    def note(kind: str, tags: tuple[str, str, str], at: int, fields: Mapping[str, Any]) -> None:
        for name, value in fields.items():
            if value is not None:
                found.setdefault((f"{kind}_{name}", *tags), {})[at] = float(value)

    plan = json.loads((folder / "plan.json").read_text())
    for path in (folder / "clients").iterdir():
        one = json.loads(path.read_text())
        for second in one["report"]["seconds"]:
            tags = (str(one["step"]), str(one["client"]), second["operation"])
            at = plan["start_at_epoch_ms"] + 1000 * second["second"]
            names = ("succeeded", "errors", "p50_us", "p99_us", "max_us")
            note("plimsoll_second", tags, at, {name: second[name] for name in names})
    step = json.loads((folder / "step.json").read_text())
    number, end, figures = str(plan["index"]), step["window_end_epoch_ms"], step["step"]
    names = ("clients", "connections", "throughput_ops_per_second", "operations", "errors")
    for name in (*names, "rate_ops_per_second", "client_busy"):
        note("plimsoll_step", (number, "", ""), end, {name: figures[name]})
    for operation, latencies in figures["latency_us"].items():
        tags = (number, "", operation)
        note("plimsoll_latency", tags, end, {f"{k}_us": us for k, us in latencies.items()})
    for sample in SAMPLES:
        fields = sample.model_dump(exclude={"epoch_ms"})
        note("plimsoll_target", ("", "", ""), sample.epoch_ms, fields)
    return found


def from_server(url: str) -> Figures:
    return {
        (
            row["metric"]["__name__"],
            row["metric"].get("step", ""),
            row["metric"].get("client", ""),
            row["metric"].get("operation", ""),
        ): dict(zip(row["timestamps"], row["values"], strict=True))
        for row in read_back(url, run=RUN)
    }


def test_what_is_read_back_is_what_the_files_hold(victoria_metrics: str, tmp_path: Path) -> None:
    written(tmp_path)
    plan = StepPlan.model_validate_json((tmp_path / "plan.json").read_bytes())
    step = StepResult.model_validate_json((tmp_path / "step.json").read_bytes())
    clients = [
        ClientResult.model_validate_json(path.read_bytes())
        for path in (tmp_path / "clients").iterdir()
    ]
    points = [point for one in clients for point in list_client_points(one, plan)]
    points += list_step_points(step, RUN)
    points += make_target_points(SAMPLES, run_id=RUN)

    outcome = publish_points(points, sink(victoria_metrics))

    assert (outcome.written, outcome.failed, outcome.problem) == (len(points), 0, None)
    expected = from_files(tmp_path)
    assert len(expected) > 20
    assert from_server(victoria_metrics) == expected
