"""A sink may fail, be slow or be set up wrongly: that is reported, never raised."""

from collections.abc import Sequence

import pytest

from plimsoll.errors import PlimsollError, UsageError
from plimsoll.metrics import Point, SinkError, create_sink, publish_points
from plimsoll.metrics.influxdb import require_safe
from plimsoll.metrics.publishing import publish_from_environment


class Recorder:
    name = "recorder"
    batch_points = 3

    def __init__(self, fails_at: int | None = None) -> None:
        self.batches: list[int] = []
        self._fails_at = fails_at

    def write(self, points: Sequence[Point]) -> None:
        if len(self.batches) == self._fails_at:
            raise SinkError("recorder is full")
        self.batches.append(len(points))


POINTS = [Point("m", 1000 * n, {"value": n}) for n in range(8)]


def test_points_go_in_batches_of_the_sinks_size() -> None:
    recorder = Recorder()
    assert publish_points(POINTS, recorder).written == 8
    assert recorder.batches == [3, 3, 2]


def test_a_point_without_figures_is_left_out() -> None:
    assert publish_points([Point("m", 1, {}), *POINTS[:2]], Recorder()).written == 2


def test_after_a_refused_batch_the_rest_is_not_tried_and_all_are_counted() -> None:
    recorder = Recorder(fails_at=1)
    report = publish_points(POINTS, recorder)
    assert (report.written, report.failed, report.problem) == (3, 5, "recorder is full")
    assert recorder.batches == [3]


def test_a_slow_sink_is_given_up() -> None:
    report = publish_points(POINTS, Recorder(), time_limit_s=-1)
    assert (report.written, report.failed) == (0, 8)
    assert report.problem == "recorder was too slow: -1 s passed"


def test_no_sink_writes_nothing_and_is_no_problem() -> None:
    report = publish_points(POINTS, None)
    assert (report.sink, report.written, report.failed, report.problem) == ("none", 0, 0, None)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"METRICS_SINK": "kafka"}, "must be influxdb, liveanalytics, cloudwatch or none"),
        (
            {"METRICS_SINK": "influxdb", "METRICS_ORG": "dba"},
            "missing in the environment: METRICS_URL, METRICS_BUCKET, METRICS_SECRET_ARN",
        ),
        ({"METRICS_SINK": "liveanalytics"}, "METRICS_BUCKET, METRICS_TABLE"),
        (
            {"METRICS_SINK": "liveanalytics", "METRICS_BUCKET": "", "METRICS_TABLE": "t"},
            r"wrong in the environment: METRICS_BUCKET \(",
        ),
    ],
)
def test_a_wrong_setting_is_named(environment: dict[str, str], message: str) -> None:
    with pytest.raises(PlimsollError, match=message):
        create_sink(environment)


@pytest.mark.parametrize("environment", [{}, {"METRICS_SINK": "none"}, {"METRICS_SINK": ""}])
def test_no_sink_is_the_default(environment: dict[str, str]) -> None:
    assert create_sink(environment) is None


def test_a_wrong_setting_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("METRICS_SINK", "kafka")
    report = publish_from_environment(POINTS)
    assert (report.sink, report.failed) == ("kafka", 8)
    assert report.problem is not None


@pytest.mark.parametrize("url", ["https://db.example:8086", "http://127.0.0.1:1", "http://[::1]:1"])
def test_a_token_goes_over_https_or_stays_on_the_machine(url: str) -> None:
    assert require_safe(url) == url


@pytest.mark.parametrize("url", ["http://db.example:8086", "db.example", "https://u:p@db.example"])
def test_a_token_goes_nowhere_else(url: str) -> None:
    with pytest.raises(UsageError):
        require_safe(url)
