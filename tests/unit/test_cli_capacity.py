"""`plimsoll capacity` as a user runs it: the answer, its JSON, and every refusal in one line."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from plimsoll.cli.capacity import command
from plimsoll.errors import UsageError
from tests.support.synthetic_run import synthetic_run
from tests.unit.capacity.test_peers import SYSBENCH_1_0, YCSB_0_1_4

R1_1000 = """clients,throughput_ops_per_second,latency_us.update,latency_us.read
1,2300,420,400
2,4000,480,470
3,5600,560,510
4,2900,2100,550
8,4900,2500,600
"""
R1_2000 = """clients,throughput_ops_per_second,latency_us.update,latency_us.read
1,2300,420,400
2,4000,490,480
3,5600,530,520
4,7200,540,530
8,12960,930,590
"""


@pytest.fixture
def r1_1000(tmp_path: Path) -> Path:
    path = tmp_path / "r1-1000.csv"
    path.write_text(R1_1000)
    return path


@pytest.fixture
def r1_2000(tmp_path: Path) -> Path:
    path = tmp_path / "r1-2000.csv"
    path.write_text(R1_2000)
    return path


def call(*arguments: object) -> Result:
    return CliRunner().invoke(command, [str(argument) for argument in arguments])


def test_the_answer_for_people(r1_1000: Path) -> None:
    result = call(r1_1000)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert "KNEE  sustains 5,600 ops/s at 3 clients; at 4 it does not: update took 2.10 ms" in (
        result.stdout
    )
    assert any("3" in line and "5,600" in line and "pass <" in line for line in lines)
    assert any("2,900" in line and "fail" in line and "limit 1.26 ms" in line for line in lines)
    assert "bracket    passes at 3 clients, fails at 4 clients" in lines
    assert "edge       not known: too little was repeated" in lines
    assert "cause      latency:update, retrograde" in lines
    assert "interval   none: one repetition" in lines


def test_the_answer_for_programs(r1_1000: Path) -> None:
    found = json.loads(call(r1_1000, "--json").stdout)
    assert found["verdict"] == "KNEE"
    assert found["max_sustainable_throughput_ops_per_second"] == 5600
    assert (found["bound"], found["at"], found["bracket"]) == ("=", 3, [3, 4])
    assert found["cause"] == "latency:update"
    assert [step["passed"] for step in found["steps"]] == [True, True, True, False, False]
    assert found["steps"][3]["reasons"] == ["latency:update", "retrograde"]
    assert {audit["name"] for audit in found["steps"][3]["audits"]} >= {"littles_law"}


@pytest.mark.parametrize(
    ("options", "figure", "at"),
    [
        (("--connections-per-client", 1), 7200, 4),
        (("--connections-per-client", 1, "--without-audit", "littles_law"), 12960, 8),
        ((), 12960, 8),
    ],
)
def test_littles_law_needs_the_connections(
    r1_2000: Path, options: tuple[object, ...], figure: float, at: float
) -> None:
    found = json.loads(call(r1_2000, "--json", *options).stdout)
    assert (found["verdict"], found["bound"]) == ("LOWER_BOUND", ">=")
    assert (found["max_sustainable_throughput_ops_per_second"], found["at"]) == (figure, at)
    unchecked = any("Little's law is not checked" in note for note in found["notes"])
    assert unchecked is (not options)


@pytest.mark.parametrize(
    ("options", "verdict", "at"),
    [
        (("--limit-us", "update=500"), "KNEE", 2),
        (("--limit-us", "update=500", "--limit-us", "read=450"), "KNEE", 1),
        (("--limit-us", "update=100"), "BELOW_FIRST_STEP", None),
        (("--deterioration", "1.2"), "KNEE", 2),
    ],
)
def test_limits(r1_1000: Path, options: tuple[str, ...], verdict: str, at: float | None) -> None:
    found = json.loads(call(r1_1000, "--json", *options).stdout)
    assert (found["verdict"], found["at"]) == (verdict, at)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--limit-us", "upsert=5"), "'upsert': no step has this operation"),
        (("--limit-us", "update"), "must be OPERATION=N"),
        (("--limit-us", "update=-1"), "must be OPERATION=N"),
        (("--limit-us", "update=5", "--limit-us", "update=6"), "update is there twice"),
        (("--connections", "5"), "given 1 time, but 0 files lack it"),
    ],
)
def test_a_wrong_option_is_named(r1_1000: Path, options: tuple[str, ...], message: str) -> None:
    error = call(r1_1000, *options).exception
    assert isinstance(error, UsageError)
    assert message in str(error)


def test_one_file_of_a_peer_is_one_step(tmp_path: Path) -> None:
    three, four = tmp_path / "3.txt", tmp_path / "4.txt"
    three.write_text(YCSB_0_1_4)
    overloaded = YCSB_0_1_4.replace("-threads 3", "-threads 4").replace("560.2", "2100")
    four.write_text(overloaded.replace("5600.0", "2900").replace("168000", "87000"))
    found = json.loads(call(four, three, "--statistic", "mean", "--json").stdout)
    assert (found["verdict"], found["axis"], found["at"]) == ("KNEE", "connections", 3)


def test_a_peer_that_does_not_say_its_connections_is_told_them(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(SYSBENCH_1_0.replace("Number of threads: 64", ""))
    error = call(path).exception
    assert isinstance(error, UsageError)
    assert "a.txt: how many connections" in str(error)
    assert json.loads(call(path, "--connections", 64, "--json").stdout)["at"] == 64


def test_a_run_is_judged_by_its_own_rules(tmp_path: Path) -> None:
    result, _ = synthetic_run()
    (tmp_path / "result.json").write_text(result.model_dump_json())
    found = json.loads(call(tmp_path, "--json").stdout)
    assert result.capacity is not None
    for name in ("verdict", "at", "cause", "figure"):
        assert found[name] == getattr(result.capacity, name)
    assert found["max_sustainable_throughput_ops_per_second"] == pytest.approx(
        result.capacity.max_sustainable_throughput_ops_per_second
    )


def test_a_directory_that_is_no_run(tmp_path: Path) -> None:
    error = call(tmp_path).exception
    assert isinstance(error, UsageError)
    assert "no run: there is no result.json" in str(error)
