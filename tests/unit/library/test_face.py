"""What programs call that needs no database: verdicts, results, data frames, and their refusals."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from click.testing import CliRunner

import plimsoll
from plimsoll.cli.main import cli
from plimsoll.errors import MissingToolError
from plimsoll.library import results
from plimsoll.library.arguments import translate_errors
from plimsoll.load_line.load import Loadable, Loaded
from plimsoll.model.run.results import RunResult
from tests.support.requested import REQUESTED
from tests.support.synthetic_run import synthetic_run

ROWS: list[dict[str, Any]] = [
    {"connections": 1, "throughput_ops_per_second": 980, "latency_us.read.p99": 1100},
    {"connections": 2, "throughput_ops_per_second": 1900, "latency_us.read.p99": 1300},
    {"connections": 4, "throughput_ops_per_second": 3600, "latency_us.read.p99": 9000},
]
NAN = float("nan")
face: Any = plimsoll  # as one calls it who has no type checker


@pytest.fixture
def result() -> plimsoll.Result:
    return plimsoll.Result.of(*synthetic_run())


def test_rows_a_frame_a_file_and_the_command_line_have_one_verdict(tmp_path: Path) -> None:
    file = tmp_path / "steps.json"
    file.write_text(json.dumps(ROWS))
    judged = plimsoll.judge(ROWS, limits={"read": "5ms"})
    assert (judged.verdict, judged.bracket) == ("KNEE", (2.0, 4.0))
    with_gap = [*ROWS[:2], {**ROWS[2], "operations": 36_000, "client_busy": 0.4}]
    assert plimsoll.judge(pd.DataFrame(with_gap)) == plimsoll.judge(with_gap)
    told = CliRunner().invoke(cli, ["capacity", str(file), "--limit-us", "read=5000", "--json"])
    printed = {**json.loads(told.stdout), "steps": (), "expect": None}
    from_file = plimsoll.judge(file, limits=5000)
    assert {**from_file.model_dump(mode="json"), "steps": (), "expect": None} == printed
    for path in (str(file), [file]):
        assert plimsoll.judge(path, limits="5ms") == from_file


@pytest.mark.parametrize(
    ("called", "said"),
    [
        (
            lambda: face.judge(ROWS, limits={"write": "5ms"}),
            "limits: unknown operation 'write'",
        ),
        (lambda: face.judge(ROWS, limits={"read": "5"}), "limits.read: '5' is not a latency"),
        (lambda: face.judge(ROWS, limits=0), "limits: 0 is out of range"),
        (lambda: face.judge(ROWS, limits=NAN), "limits: nan is out of range"),
        (lambda: face.judge(ROWS, limits=True), "limits: True is not a number"),
        (lambda: face.judge(ROWS, statistic="p98"), "unknown statistic 'p98'; did you mean"),
        (lambda: face.judge(ROWS, audits_off=["x"]), "audits_off: unknown audits_off 'x'"),
        (lambda: face.judge(ROWS, deterioration=1), "deterioration: 1 is out of range"),
        (
            lambda: face.judge(ROWS, connections_per_client=1.5),
            "connections_per_client: 1.5 is not a whole number",
        ),
        (lambda: face.judge([]), "steps: no steps"),
        (lambda: face.judge(5), "steps: must be rows, a data frame or paths of files"),
        (lambda: face.judge("nothing.csv"), "nothing.csv"),
        (lambda: face.read_result("nowhere"), "nowhere: there is no such folder"),
        (lambda: face.read_request("nothing.yaml"), "nothing.yaml"),
        (lambda: face.read_request({**REQUESTED, "nmae": 1}), "unknown field 'nmae'"),
        (face.compare, "results: give two or more"),
        (lambda: face.find("mysql://", workload="ycsb-b"), "dsn: not a DSN"),
        (
            lambda: face.find("mysql://u@h/d", workload="ycsb-b", max_connections=0),
            "max_connections: 0 is out of range (allowed: 1 to 20,000)",
        ),
        (
            lambda: face.find("mysql://u@h/d", workload="ycsb-b", strategy="up"),
            "strategy: unknown strategy 'up'",
        ),
        (lambda: face.find("mysql://u@h/d", workload="ycsb-z"), "unknown workload 'ycsb-z'"),
        (lambda: face.load("mysql://u@h/d", workload="ycsb-b", duration_s=0), "duration_s: 0"),
        (lambda: face.load("mysql://u@h/d", workload="ycsb-b", records="x"), "records: 'x' is no"),
        (lambda: face.prepare("mysql://u@h/d", workload="ycsb-b", connections=0), "connection"),
    ],
)
def test_what_cannot_be_is_a_usage_error_that_names_it(
    called: Callable[[], object], said: str
) -> None:
    with pytest.raises(plimsoll.UsageError) as raised:
        called()
    assert said in str(raised.value)
    assert "--" not in str(raised.value)
    assert raised.value.__suppress_context__


def test_errors_of_files_are_errors_of_plimsoll() -> None:
    with pytest.raises(plimsoll.PlimsollError, match=r"a\.csv: No such file"), translate_errors():
        raise FileNotFoundError(2, "No such file", "a.csv")


def test_a_result_says_its_answer_and_keeps_to_rules(result: plimsoll.Result) -> None:
    assert result.capacity is not None
    figure = result.capacity.max_sustainable_throughput_ops_per_second
    assert result.throughput_ops_per_second == figure
    assert str(result) == result.summary
    assert result.run_id in repr(result)
    assert "KNEE" in repr(result)
    assert result.meets("capacity >= 1") is True
    assert result.meets("capacity >= 999999") is False
    assert result.meets("p99.read <= 5ms at 999999") is None
    with pytest.raises(plimsoll.UsageError, match="is not a rule"):
        result.meets("fast")
    with pytest.raises(plimsoll.UsageError, match="unknown operation 'raed'"):
        result.meets("p99.raed <= 5ms at 999999")


def test_a_result_that_is_saved_is_read_again_as_it_was(
    result: plimsoll.Result, tmp_path: Path
) -> None:
    page = result.save(tmp_path / "run")
    assert page.read_text().startswith("<!doctype html>")
    again = plimsoll.read_result(tmp_path / "run")
    assert again == result == plimsoll.read_result(tmp_path / "run/result.json")
    assert again.to_frame("seconds").equals(result.to_frame("seconds"))
    assert result.meets(f"not worse than {tmp_path / 'run'} by 5 %") is True
    with pytest.raises(plimsoll.UsageError, match="run is not empty"):
        result.save(tmp_path / "run")


def test_frames_hold_the_steps_and_the_seconds(result: plimsoll.Result) -> None:
    steps = result.to_frame()
    assert isinstance(steps, pd.DataFrame)
    measured = [step.step.throughput_ops_per_second for step in result.steps]
    assert steps["throughput_ops_per_second"].tolist() == measured
    assert steps["rate_ops_per_second"].isna().all()  # not known: never 0
    seconds = result.to_frame("seconds", library="pandas")
    assert set(seconds["operation"]) == {"read", "update"}
    assert len(seconds) == sum(len(step.operations) * 15 for step in result.steps)
    with pytest.raises(plimsoll.UsageError, match="rows: unknown rows 'days'"):
        face.Result.to_frame(result, "days")


@pytest.mark.parametrize(
    ("library", "said"),
    [(None, "needs pandas or polars: pip install pandas"), ("polars", "pip install polars")],
)
def test_without_the_library_it_says_what_to_install(
    result: plimsoll.Result, monkeypatch: pytest.MonkeyPatch, library: Any, said: str
) -> None:
    monkeypatch.setattr(results, "find_spec", lambda _: None)
    with pytest.raises(MissingToolError, match=said):
        result.to_frame(library=library)


def test_a_file_of_several_runs_or_of_an_experiment_is_not_one_request(tmp_path: Path) -> None:
    several = tmp_path / "several.yaml"
    several.write_text(yaml.safe_dump({**REQUESTED, "runs": {"a": {}, "b": {}}}))
    with pytest.raises(plimsoll.UsageError, match="holds several runs: a, b"):
        plimsoll.read_request(several)
    r1 = Path(__file__).parents[3] / "scenarios/r1.yaml"
    with pytest.raises(plimsoll.UsageError, match="is an experiment"):
        plimsoll.read_request(r1)


def test_a_run_and_a_result_are_compared_alike(result: plimsoll.Result) -> None:
    other, _ = synthetic_run(iops=2000, knee=6.4)
    assert isinstance(other, RunResult)
    assert plimsoll.compare(result, other).sentences
    with pytest.raises(plimsoll.UsageError, match="usd_per_hour: give 2, one for each run"):
        plimsoll.compare(result, other, usd_per_hour=[1.0])


def test_a_load_result_is_what_the_command_line_prints() -> None:
    assert issubclass(plimsoll.LoadResult, Loaded)
    assert Loadable.__dataclass_fields__.keys() == {"server", "compiled", "sent", "notes"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"arrivals": "poisson"}, "arrivals: is for an open loop only: rate makes it one"),
        ({"connections": 0}, "connections: 0 is out of range"),
        ({"threads": 65}, "threads: 65 is out of range"),
        ({"operations_most": 0}, "operations_most: 0 is out of range"),
    ],
)
def test_a_load_that_cannot_be_is_refused_before_the_database_is_reached(
    asked: dict[str, Any], told: str
) -> None:
    with pytest.raises(plimsoll.UsageError, match=told):
        plimsoll.load("mysql://u@127.0.0.1:1/d", workload="ycsb-c", **asked)
