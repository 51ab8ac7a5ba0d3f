"""Every kind of point of a run reaches its store; a store that fails is told of, no more."""

import math
from typing import Any

import boto3
import pytest
from moto.timestreamwrite.models import timestreamwrite_backends

from plimsoll.aws.run_files import CONCLUSION, SECONDS, client_path, plan_path, step_path
from plimsoll.model.judging.steps import TargetSample
from plimsoll.model.run.results import Seconds
from plimsoll.workflow.conclude import conclude
from plimsoll.workflow.metric_points import list_run_points
from plimsoll.workflow.publish import publish_target
from plimsoll.workflow.result import Conclusion
from tests.aws.workflow.conftest import RUN, recorded
from tests.support.aws_resources import ACCOUNT, REGION
from tests.support.every_setting import EverySetting
from tests.support.merged import merge_step
from tests.support.synthetic_run import synthetic_run
from tests.unit.fleet.test_merge import START_MS, after, planned, result

SAMPLE = TargetSample(epoch_ms=START_MS + 2_000, write_iops=812.5, queue=3.0)


@pytest.fixture
def live(deployment: EverySetting, monkeypatch: pytest.MonkeyPatch) -> EverySetting:
    """A deployment whose store is LiveAnalytics."""
    client = boto3.client("timestream-write")
    client.create_database(DatabaseName="plimsoll")
    client.create_table(DatabaseName="plimsoll", TableName="seconds")
    settings = {"SINK": "liveanalytics", "BUCKET": "plimsoll", "TABLE": "seconds"}
    for name, value in settings.items():
        monkeypatch.setenv(f"METRICS_{name}", value)
    return deployment


def measured(deployment: EverySetting) -> None:
    """Write the files of a run with one step of two clients."""
    recorded(deployment)
    files = deployment.files(RUN)
    results = [result(client, [100] * 400).model_copy(update={"run_id": RUN}) for client in (0, 1)]
    plan = planned()
    files.put_model(plan_path(1), plan)
    for one in results:
        files.put_model(client_path(1, one.client), one)
    files.put_model(step_path(1), merge_step(plan, results, [], server_after=after(1100)))


def stored() -> list[dict[str, Any]]:
    backend = timestreamwrite_backends[ACCOUNT][REGION]
    records: list[dict[str, Any]] = backend.databases["plimsoll"].tables["seconds"].records
    return records


def test_liveanalytics_gets_the_whole_run_from_its_files(live: EverySetting) -> None:
    measured(live)
    conclude(live, RUN)
    capacity = live.files(RUN).get(CONCLUSION, Conclusion).capacity
    assert capacity.max_sustainable_throughput_ops_per_second is None  # so there is no answer
    kinds = [record["MeasureName"] for record in stored()]
    # five seconds of one operation of each of two clients, and the step with its one operation
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "plimsoll_second": 10,
        "plimsoll_step": 1,
        "plimsoll_latency": 1,
    }
    (step,) = [record for record in stored() if record["MeasureName"] == "plimsoll_step"]
    values = {one["Name"]: one["Value"] for one in step["MeasureValues"]}
    assert values["throughput_ops_per_second"] == "200.0"
    assert live.files(RUN).get(CONCLUSION, Conclusion).notes == ()


def test_the_points_of_a_run_are_what_its_files_hold(deployment: EverySetting) -> None:
    measured(deployment)
    points = list(list_run_points(deployment.files(RUN), RUN, [SAMPLE]))
    seconds = [one for one in points if one.measurement == "plimsoll_second"]
    assert {one.tags["client"] for one in seconds} == {"0", "1"}
    assert sum(int(one.fields["succeeded"]) for one in seconds) == 100
    assert min(one.epoch_ms for one in seconds) == START_MS
    (sample,) = [one for one in points if one.measurement == "plimsoll_target"]
    assert (sample.epoch_ms, sample.fields) == (
        START_MS + 2_000,
        {"write_iops": 812.5, "queue": 3.0},
    )


def concluded(deployment: EverySetting) -> None:
    """Write what `conclude` leaves."""
    files = deployment.files(RUN)
    files.put_model(SECONDS, Seconds(run_id=RUN, operations=(), target=(SAMPLE,)))
    measured(deployment)
    conclude(deployment, RUN)
    files.put_model(SECONDS, Seconds(run_id=RUN, operations=(), target=(SAMPLE,)))


def test_the_targets_samples_are_sent_after_the_conclusion(
    live: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("METRICS_SINK", "none")
    concluded(live)
    assert stored() == []
    monkeypatch.setenv("METRICS_SINK", "liveanalytics")
    publish_target(live, RUN)
    (record,) = stored()
    assert record["MeasureName"] == "plimsoll_target"
    (iops,) = [one for one in record["MeasureValues"] if one["Name"] == "write_iops"]
    assert math.isclose(float(iops["Value"]), 812.5)


def test_the_answer_is_sent_with_them(live: EverySetting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_SINK", "none")
    concluded(live)
    run, seconds = synthetic_run(run_id=RUN)
    assert run.capacity is not None
    files = live.files(RUN)
    files.put_model(SECONDS, seconds)
    conclusion = files.get(CONCLUSION, Conclusion)
    files.put_model(CONCLUSION, conclusion.model_copy(update={"capacity": run.capacity}))
    monkeypatch.setenv("METRICS_SINK", "liveanalytics")
    publish_target(live, RUN)
    (answer,) = [one for one in stored() if one["MeasureName"] == "plimsoll_run"]
    values = {one["Name"]: float(one["Value"]) for one in answer["MeasureValues"]}
    figure = run.capacity.max_sustainable_throughput_ops_per_second
    assert values["capacity_ops_per_second"] == figure


def test_a_store_that_fails_is_a_note_of_the_run(
    live: EverySetting, monkeypatch: pytest.MonkeyPatch
) -> None:
    concluded(live)
    monkeypatch.setenv("METRICS_TABLE", "absent")
    publish_target(live, RUN)
    (note,) = live.files(RUN).get(CONCLUSION, Conclusion).notes
    assert note.startswith("metrics: LiveAnalytics: ")
    assert "absent" in note
